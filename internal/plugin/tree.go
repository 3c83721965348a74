// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"io"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/why"
)

// statusOfObject shows an object, what it owns and uses, and why it is not ready.
func (p *plugin) statusOfObject(ctx context.Context, reached *cluster, of target, asked *statusAsked) error {
	object, err := reached.read(ctx, of)
	if err != nil {
		return err
	}
	root, err := reached.grow(ctx, of.kind, object)
	if err != nil {
		return err
	}
	switch {
	case asked.output.structured():
		err = p.printValue(*asked.output, root)
	case *asked.output == formatName:
		p.printf("%s\n", nameOf(of.kind, object))
	default:
		p.drawTree(p.Streams.Out, root, object)
	}
	if err == nil && asked.exitCode && root.how != moodGood {
		return errNotReady
	}
	return err
}

// drawTree draws the tree, and below it what to do about a root that is not ready.
func (p *plugin) drawTree(out io.Writer, root *branch, object client.Object) {
	p.drawBranch(out, root, "", "")
	if root.how == moodGood {
		return
	}
	explanation := explained(object)
	explanation.RunsIn(p.home)
	if failure := explanation.Failure(); failure != nil {
		p.writeStep(out, failure.Next, p.style())
	} else if _, ours := object.(status.Object); !ours {
		command := "kubectl windlass why " + root.ref()
		if root.Namespace != "" {
			command += " -n " + root.Namespace
		}
		p.writeStep(out, &why.Step{Text: "Ask for the cause.", Command: command}, p.style())
	}
}

// lineOf is the first line of a branch.
func (p *plugin) lineOf(b *branch) painted {
	if b.standing == nil {
		return painted(strings.ReplaceAll(printable(b.Text), "\n", " "))
	}
	look, line := p.style(), painted(oneLine(b.ref()))
	if b.State != "" {
		line += "  " + look.paint(b.how, oneLine(b.State))
	}
	if since := age(b.Since, p.Now()); since != "" && b.how != moodGood {
		line += look.dim(" for " + since)
	}
	return line
}

// drawBranch draws a branch after its own indent, and its children after theirs.
func (p *plugin) drawBranch(out io.Writer, b *branch, own, below string) {
	look, tee, corner, bar := p.style(), "|- ", "`- ", "|  "
	if look.symbols {
		tee, corner, bar = "├─ ", "└─ ", "│  "
	}
	say(out, "%s%s %s\n", own, look.mark(b.how), p.lineOf(b))
	inner := below + " "
	if len(b.Children) > 0 {
		inner = below + strings.TrimRight(bar, " ")
	}
	if b.standing != nil && b.Message != "" && b.how != moodGood {
		message := oneLine(b.Message)
		if width := p.width(); width > 0 {
			message = cut(message, max(minFlexible, width-widthOf(inner)-1))
		}
		say(out, "%s %s\n", inner, message)
	}
	for i, child := range b.Children {
		if i < len(b.Children)-1 {
			p.drawBranch(out, child, below+tee, below+bar)
		} else {
			p.drawBranch(out, child, below+corner, below+"   ")
		}
	}
}
