// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// minInterval is how often --watch asks at most.
const minInterval = time.Second

// topAsked is what a call of the command asks.
type topAsked struct {
	everywhere, watch bool
	interval          time.Duration
	output            *format
}

// ranking is what top shows: rows for people, and values for programs.
type ranking struct {
	table *table
	items any
	names []string
	// unseen are parts of sentences: what is not known.
	unseen []string
}

// write writes it for people.
func (r *ranking) write(out io.Writer, p *plugin, wide bool) error {
	if err := r.table.write(out, p.style(), p.width(), wide); err != nil {
		return err
	}
	if len(r.unseen) > 0 {
		say(out, "\nNot seen: %s.\n", oneLine(strings.Join(r.unseen, "; ")))
	}
	return nil
}

// topKinds are the words after top.
func topKinds() map[string]string {
	return map[string]string{"machines": "virtualmachines", "machine": "virtualmachines", "pools": "nodepools", "pool": "nodepools"}
}

func (p *plugin) newTopCommand() *cobra.Command {
	among := only("virtualmachines", "nodepools", "nodes")
	asked := &topAsked{}
	command := &cobra.Command{
		Use:   "top machines|pools|nodes",
		Short: "Show what uses most: VirtualMachines, NodePools or nodes",
		Long: "Shows VirtualMachines by the CPU that they use, as their status has it: it is written when the usage has changed by ten points, and\n" +
			"every few minutes. NodePools and nodes are shown by what pods request of what is allocatable, and where the cluster serves\n" +
			"metrics.k8s.io by what they really use.",
		Example: "  kubectl windlass top machines -n shop\n" +
			"  kubectl windlass top pools --watch",
		Args:              takes(1, 1),
		ValidArgsFunction: cobra.FixedCompletions([]string{"machines", "pools", "nodes"}, cobra.ShellCompDirectiveNoFileComp),
	}
	asked.output = addOutput(command)
	flags := command.Flags()
	flags.BoolVarP(&asked.everywhere, "all-namespaces", "A", false, "of machines: those of all namespaces")
	flags.BoolVarP(&asked.watch, "watch", "w", false, "show it again and again")
	flags.DurationVar(&asked.interval, "interval", 5*time.Second, "with --watch: the `pause`, from 1s")
	command.RunE = func(cmd *cobra.Command, args []string) error {
		word := args[0]
		if plural, known := topKinds()[strings.ToLower(word)]; known {
			word = plural
		}
		of, err := kindOf(word, among)
		switch {
		case err != nil:
			return err
		case asked.interval < minInterval:
			return misused("--interval must be at least %s", minInterval)
		case asked.watch && (asked.output.structured() || *asked.output == formatName):
			return misused("--watch is for people: leave it out with -o %s", *asked.output)
		}
		return p.top(cmd.Context(), of, asked)
	}
	return command
}

func (p *plugin) top(ctx context.Context, of *kind, asked *topAsked) error {
	reached, err := p.cluster()
	if err != nil {
		return err
	}
	if asked.watch {
		ctx = tellingCuts(ctx)
	}
	look := func() (*ranking, error) {
		switch of.plural {
		case "virtualmachines":
			return p.topMachines(ctx, reached, asked.everywhere)
		case "nodepools":
			return p.topPools(ctx, reached)
		default:
			return p.topNodes(ctx, reached)
		}
	}
	if asked.output.structured() || *asked.output == formatName {
		found, err := look()
		if err != nil {
			return err
		}
		return p.printRanking(of, found, *asked.output)
	}
	if asked.watch {
		return p.watchTop(ctx, look, asked)
	}
	found, err := look()
	if err != nil {
		return err
	}
	return found.write(p.Streams.Out, p, *asked.output == formatWide)
}

// printRanking prints a ranking for programs.
func (p *plugin) printRanking(of *kind, found *ranking, as format) error {
	for _, because := range found.unseen {
		p.note("not seen: %s", because)
	}
	if as != formatName {
		return p.printValue(as, found.items)
	}
	for _, name := range found.names {
		p.printf("%s\n", of.name(name))
	}
	return nil
}

// watchTop shows a ranking again and again, each time whole, until the context ends.
func (p *plugin) watchTop(ctx context.Context, look func() (*ranking, error), asked *topAsked) error {
	view := &screen{streams: &p.Streams}
	defer view.leave()
	return unlessLeft(ctx, repeat(ctx, asked.interval, func() (done bool, err error) {
		found, err := look()
		switch {
		case err != nil && view.began() && ctx.Err() == nil:
			view.lose(p.explain(err))
			return false, nil
		case err != nil:
			return false, err
		}
		var text bytes.Buffer
		if err := found.write(&text, p, *asked.output == formatWide); err != nil {
			return false, err
		}
		if !p.Streams.terminal() {
			view.lines = nil // so that every table in a pipe is whole
		}
		view.show(text.String())
		return false, nil
	}))
}
