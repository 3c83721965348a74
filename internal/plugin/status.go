// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// statusAsked is what a call of the command asks.
type statusAsked struct {
	watch, exitCode bool
	output          *format
}

func (p *plugin) newStatusCommand() *cobra.Command {
	among := only("nodepools", "podsets", "virtualmachines", "clusters", "kubeconfigs", "podbuggertools", "nodes")
	asked := &statusAsked{}
	command := &cobra.Command{
		Use:   "status [KIND[/NAME]]",
		Short: "Show how everything stands, or one object with what it owns and uses",
		Long: "Shows how everything stands that Windlass works on, worst first; of all namespaces, or of that of -n. For one object it\n" +
			"shows what it owns and uses, and why it is not ready. Whatever you may not list is named at the end.",
		Example: "  kubectl windlass status\n" +
			"  kubectl windlass status virtualmachines -n shop\n" +
			"  kubectl windlass status nodepool/gpu --watch",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return p.status(cmd.Context(), args, among, asked) },
	}
	asked.output = addOutput(command)
	command.Flags().BoolVarP(&asked.watch, "watch", "w", false, "redraw when something changes; in a pipe, print what changes")
	command.Flags().BoolVar(&asked.exitCode, "exit-code", false, "exit with 3 if something is not ready")
	p.takesObject(command, among)
	return command
}

func (p *plugin) status(ctx context.Context, args []string, among []*kind, asked *statusAsked) error {
	of := target{}
	if len(args) > 0 {
		var err error
		if of, err = targetOf(args, among); err != nil {
			return err
		}
		among = []*kind{of.kind}
	}
	if asked.watch && (*asked.output == formatName || asked.output.structured()) {
		return misused("--watch does not go together with -o %s", *asked.output)
	}
	reached, err := p.cluster()
	if err != nil {
		return err
	}
	switch {
	case of.name != "" && asked.watch:
		return p.watchTree(ctx, reached, of)
	case of.name != "":
		return p.statusOfObject(ctx, reached, of, asked)
	case asked.watch:
		return p.watchStatus(ctx, reached, among, asked)
	}
	read, err := reached.readAll(ctx, among)
	if err != nil {
		return err
	}
	sum := read.sum(among)
	if err := p.showSurvey(sum, len(args) > 0, asked); err != nil {
		return err
	}
	if asked.exitCode && sum.unready() > 0 {
		return errNotReady
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

// drawSurvey draws the counts and the rows. Height bounds the rows, 0 for no bound.
func (p *plugin) drawSurvey(out io.Writer, sum *survey, all, wide bool, height int) error {
	look := p.style()
	counts := make([]string, 0, len(sum.Kinds))
	for _, count := range sum.Kinds {
		how := moodGood
		if count.Ready < count.All {
			how = moodBusy
		}
		counts = append(counts, look.paint(how, fmt.Sprintf("%d/%d", count.Ready, count.All))+" "+count.of.plural)
	}
	if len(counts) > 0 {
		_, _ = fmt.Fprintf(out, "Ready: %s\n", strings.Join(counts, ", "))
	} else {
		_, _ = fmt.Fprintln(out, "There is nothing to show.")
	}
	if err := p.drawRows(out, sum, all, wide, height); err != nil {
		return err
	}
	if len(sum.Unseen) > 0 {
		_, _ = fmt.Fprintf(out, "\nNot seen: %s.\n", strings.Join(sum.Unseen, "; "))
	}
	return nil
}

// drawRows draws the objects. Nodes that are ready are only counted: there are thousands of them.
func (p *plugin) drawRows(out io.Writer, sum *survey, all, wide bool, height int) error {
	rows := &table{columns: []column{
		{title: "  OBJECT"}, {title: "NAMESPACE", wide: !sum.namespaced()}, {title: "STATE"}, {title: "SINCE"}, {title: "WHY", flexible: true},
	}}
	look, hidden := p.style(), 0
	for _, each := range sum.Objects {
		if each.how == moodGood && each.of.plural == nodesPlural && !all {
			continue
		}
		if height > 0 && len(rows.rows) >= height {
			hidden++
			continue
		}
		message := ""
		if each.how != moodGood || wide {
			message = oneLine(each.Message)
		}
		rows.add(cell{text: each.ref(), mark: each.how}, cell{text: each.Namespace}, cell{text: each.State, how: each.how},
			cell{text: age(each.Since, p.Now())}, cell{text: message})
	}
	if len(rows.rows) == 0 {
		return nil
	}
	_, _ = fmt.Fprintln(out)
	if err := rows.write(out, look, p.width(), wide); err != nil {
		return err
	}
	if hidden > 0 {
		_, _ = fmt.Fprintf(out, "… and %d more\n", hidden)
	}
	return nil
}

func (s *survey) namespaced() bool {
	for _, each := range s.Objects {
		if each.Namespace != "" {
			return true
		}
	}
	return false
}
