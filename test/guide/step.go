// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"fmt"
	"strings"
)

// Step is a command and the output that the page shows for it.
type Step struct {
	// Line is where the command begins, counted from 1 in the page.
	Line    int
	Command string
	// Output is empty where the page shows none: it may be anything then.
	Output string
}

// Steps returns the commands of a block in the language console or sh. A command goes on after a backslash at the end of a line,
// and a comment after " # " belongs to the reader.
func (b Block) Steps() ([]Step, error) {
	var steps []Step
	number, goesOn := b.Line, false
	for line := range strings.Lines(b.Text) {
		number++
		line = strings.TrimRight(line, "\n")
		prompt := b.Language == "sh"
		if rest, ok := strings.CutPrefix(line, "$ "); ok && b.Language == "console" {
			line, prompt = rest, true
		}
		switch last := len(steps) - 1; {
		case goesOn:
			steps[last].Command += "\n" + line
			goesOn = strings.HasSuffix(line, "\\")
		case prompt && strings.TrimSpace(line) == "":
		case prompt:
			steps = append(steps, Step{Line: number, Command: line})
			goesOn = strings.HasSuffix(line, "\\")
		case last < 0:
			return nil, fmt.Errorf("line %d: output without a command: a command begins with \"$ \"", number)
		default:
			steps[last].Output += line + "\n"
		}
	}
	return steps, nil
}

// Reads reports whether the command only looks at the cluster. What it looks at may need a moment to be as the page says.
func (s Step) Reads() bool {
	words := strings.Fields(s.Command)
	for len(words) > 2 && words[0] == "kubectl" && strings.HasPrefix(words[1], "-") { // -n NAMESPACE, --kubeconfig FILE
		words = append(words[:1], words[3:]...)
	}
	if len(words) < 2 || words[0] != "kubectl" || strings.Contains(s.Command, "patch") {
		return false
	}
	if words[1] == "windlass" && len(words) > 2 {
		words = words[1:]
	}
	switch words[1] {
	case "get", "describe", "wait", "logs", "auth", "explain", "status", "why":
		return true
	}
	return false
}
