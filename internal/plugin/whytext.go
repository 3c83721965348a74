// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"io"
	"strings"
	"time"

	"github.com/windlass-operator/windlass/internal/why"
)

// printExplanation prints the checks with their marks, the cause, and what to do.
func (p *plugin) printExplanation(of *why.Explanation, asked *whyAsked) {
	look := p.style()
	if asked.key != "" {
		p.printOrigins(of, look)
		return
	}
	for step := of; step != nil; step = step.Because {
		if step != of {
			p.printf("\n%s\n", look.bold("Because of "+strings.ToLower(step.Subject.Kind)+" "+step.Subject.Name+":"))
		}
		p.printf("%s\n", look.bold(step.Summary))
		p.printChecks(step, look, asked)
	}
	if asked.verbose && len(of.Origins) > 0 {
		p.printf("\n")
		p.printOrigins(of, look)
	}
}

func (p *plugin) printChecks(of *why.Explanation, look style, asked *whyAsked) {
	for i := range of.Checks {
		check := &of.Checks[i]
		p.printf("  %s %s\n", look.mark(moodOf(check.State)), check.Title)
		if check.Message != "" && (check.State == why.Failed || asked.verbose) && check.Message != of.Summary {
			p.printf("      %s\n", folded(check.Message, "      "))
		}
		if check.State != why.Failed {
			continue
		}
		if check.Code != "" && asked.verbose {
			p.printf("      Code: %s\n", check.Code)
		}
		for _, proof := range check.Evidence {
			if asked.verbose {
				p.printf("      %s %s: %s = %s\n", strings.ToLower(proof.Object.Kind), proof.Object.Name, proof.Field, folded(proof.Value, "        "))
			}
		}
	}
	// What heals by itself when the object below does is left to that.
	if failure := of.Failure(); failure != nil && (of.Because == nil || of.Because.Cause() == nil || !failure.Next.Heals) {
		p.writeStep(p.Streams.Out, failure.Next, look)
	}
}

// writeStep writes what to do about the cause.
func (p *plugin) writeStep(out io.Writer, step *why.Step, look style) {
	if step == nil {
		return
	}
	say(out, "\n%s %s\n", look.bold("Next:"), folded(step.Text, "      "))
	switch {
	case step.At != nil && step.At.After(p.Now()):
		say(out, "      Windlass tries again in %s.\n", step.At.Sub(p.Now()).Round(time.Second))
	case step.Heals:
		say(out, "      It heals by itself.\n")
	}
	if step.Command != "" {
		say(out, "\n  %s\n", step.Command)
	}
}

func (p *plugin) printOrigins(of *why.Explanation, look style) {
	if len(of.Origins) == 0 {
		p.printf("Node %s does not have it.\n", of.Subject.Name)
		return
	}
	for i := range of.Origins {
		origin := &of.Origins[i]
		p.printf("%s = %s\n  %s\n", look.bold(oneLine(origin.Key)), folded(origin.Value, "    "), origin.Message)
	}
}

// moodOf returns what a check tells.
func moodOf(state why.State) mood {
	switch state {
	case why.Passed:
		return moodGood
	case why.Failed:
		return moodBad
	default:
		return moodUnknown
	}
}
