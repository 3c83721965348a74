// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// whyAsked is what a call of the command asks.
type whyAsked struct {
	// pool is the pool that a node is looked at together with, and key what is asked about its origin.
	pool, key string
	// verbose shows the evidence.
	verbose bool
	output  *format
}

func (p *plugin) newWhyCommand() *cobra.Command {
	among := kinds()
	asked := &whyAsked{}
	command := &cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Explain why an object is as it is, and what to do",
		Long: "Explains an object by a list of checks. At most one has failed: it names the cause and says what to do. Whatever you may not\n" +
			"read is not looked at.",
		Example: "  kubectl windlass why nodepool/gpu\n" +
			"  kubectl windlass why pod/web-0 -n shop -v\n" +
			"  kubectl windlass why node/worker-1 --pool gpu\n" +
			"  kubectl windlass why node/worker-1 --label example.com/gpu",
		Args: takes(1, 2),
	}
	asked.output = addOutput(command)
	addHome(command, &p.home)
	flags := command.Flags()
	flags.BoolVarP(&asked.verbose, "verbose", "v", false, "show the fields that prove the cause")
	flags.StringVar(&asked.pool, "pool", "", "of a node: why it is a member of the pool of this `name`, or not")
	var bare []string
	for _, what := range []string{"label", "annotation", "taint"} {
		bare = append(bare, what)
		flags.String(what, "", "of a node: who has set the "+what+" with this `key`")
	}
	command.RunE = func(cmd *cobra.Command, args []string) error {
		for _, what := range bare {
			if flag := flags.Lookup(what); flag.Changed {
				if asked.key != "" {
					return misused("ask for one of --%s at a time", strings.Join(bare, ", --"))
				}
				asked.key = flag.Value.String()
				if what != "taint" || strings.Contains(asked.key, ":") {
					asked.key = what + " " + asked.key
				}
			}
		}
		return p.why(cmd.Context(), args, among, asked)
	}
	p.takesObject(command, among)
	return command
}

func (p *plugin) why(ctx context.Context, args []string, among []*kind, asked *whyAsked) error {
	of, err := objectOf(args, among)
	if err != nil {
		return err
	}
	if (asked.pool != "" || asked.key != "") && of.plural != nodesPlural {
		return misused("--pool, --label, --annotation and --taint are for nodes, not for %s", of.plural)
	}
	reached, err := p.cluster()
	if err != nil {
		return err
	}
	object, err := reached.read(ctx, of)
	if err != nil {
		return err
	}
	explanation, err := reached.explain(ctx, object, asked)
	if err != nil {
		return err
	}
	explanation.RunsIn(p.home)
	switch {
	case asked.output.structured():
		return p.printValue(*asked.output, explanation)
	case *asked.output == formatName:
		p.printf("%s\n", nameOf(of.kind, object))
	default:
		p.printExplanation(explanation, asked)
	}
	return nil
}
