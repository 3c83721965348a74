// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// statusAsked is what a call of the command asks.
type statusAsked struct {
	watch, exitCode, everywhere bool
	output                      *format
}

func (p *plugin) newStatusCommand() *cobra.Command {
	among := kinds()
	asked := &statusAsked{}
	command := &cobra.Command{
		Use:   "status [KIND[/NAME]]",
		Short: "Show how everything stands, or one object with what it owns and uses",
		Long: "Shows how everything stands that Windlass works on, worst first; of all namespaces, or of that of -n. For one object it\n" +
			"shows what it owns and uses, and why it is not ready. Whatever you may not list is named at the end.",
		Example: "  kubectl windlass status\n" +
			"  kubectl windlass status virtualmachines -n shop\n" +
			"  kubectl windlass status nodepool/gpu --watch",
		Args: takes(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return p.status(cmd.Context(), args, among, asked) },
	}
	asked.output = addOutput(command)
	addHome(command, &p.home)
	command.Flags().BoolVarP(&asked.watch, "watch", "w", false, "redraw when something changes; in a pipe, print what changes")
	command.Flags().BoolVarP(&asked.everywhere, "all-namespaces", "A", false, "look into all namespaces, which is the default without -n")
	command.Flags().BoolVar(&asked.exitCode, "exit-code", false, "exit with 3 if something is not ready, and with 1 if you may list none of it")
	p.takesObject(command, among)
	return command
}

// surveyedKinds are those of the screen that shows everything: what Windlass works on. What else owns pods is shown on request.
func surveyedKinds() []*kind {
	return slices.DeleteFunc(kinds(), func(k *kind) bool { return !k.ours && k.plural != nodesPlural })
}

func (p *plugin) status(ctx context.Context, args []string, among []*kind, asked *statusAsked) error {
	of := target{}
	if len(args) > 0 {
		var err error
		if of, err = targetOf(args, among); err != nil {
			return err
		}
		among = []*kind{of.kind}
	} else {
		among = surveyedKinds()
	}
	if asked.watch && (*asked.output == formatName || asked.output.structured()) {
		return misused("--watch does not go together with -o %s", *asked.output)
	}
	if asked.everywhere && of.name != "" {
		return misused("-A is for lists: give the namespace of %s with -n", of.name)
	}
	reached, err := p.cluster()
	if err != nil {
		return err
	}
	reached.chosen = reached.chosen && !asked.everywhere
	switch {
	case of.name != "" && asked.watch:
		return p.watchTree(tellingCuts(ctx), reached, of)
	case of.name != "":
		return p.statusOfObject(ctx, reached, of, asked)
	case asked.watch:
		return p.watchStatus(tellingCuts(ctx), reached, among, asked)
	}
	read, err := reached.readAll(ctx, among)
	if err != nil {
		return err
	}
	sum := read.sum(among)
	if err := p.showSurvey(sum, len(args) > 0, asked); err != nil {
		return err
	}
	switch {
	case !asked.exitCode:
		return nil
	case sum.unready() > 0:
		return errNotReady
	case read.blind():
		return fmt.Errorf("cannot tell whether something is not ready: %s", strings.Join(sum.Unseen, "; "))
	}
	return nil
}

// showSurvey prints how everything stands. With all, the objects that are ready have a row as well.
func (p *plugin) showSurvey(sum *survey, all bool, asked *statusAsked) error {
	switch {
	case asked.output.structured():
		return p.printValue(*asked.output, sum)
	case *asked.output == formatName:
		for _, each := range sum.Objects {
			p.printf("%s\n", each.of.name(each.Name))
		}
		return nil
	}
	return p.drawSurvey(p.Streams.Out, sum, all, *asked.output == formatWide, 0)
}
