// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package commandline

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggestFlag adds to the error about an unknown flag the flags that are nearly written like it. cobra does that for commands only.
func suggestFlag(command *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	near := Near(unknown.GetSpecifiedName(), names)
	if len(near) == 0 {
		return err
	}
	return fmt.Errorf("%w: did you mean --%s?", err, strings.Join(near, " or --"))
}

// Near returns those of the words that are nearly written like the given one, the nearest first: one or two letters are wrong, and more are right.
func Near(word string, words []string) []string {
	var near []string
	for _, each := range words {
		if wrong := distance(word, each); len(word) > 1 && wrong <= 2 && 2*wrong < max(len(word), len(each)) {
			near = append(near, each)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return distance(word, a) - distance(word, b) })
	return near
}

// distance is how many letters must be added, removed or replaced to get from one word to the other.
func distance(from, to string) int {
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(from) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(to) {
			replaced := diagonal
			if from[i] != to[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(to)]
}

// suggestedCommands is how cobra ends the error about an unknown command: with a paragraph of names.
var suggestedCommands = regexp.MustCompile(`\n\nDid you mean this\?\n((?:\t\S+\n)+)\s*$`)

// InOneLine puts cobra's suggestions into the line of the error.
func InOneLine(text string) string {
	return suggestedCommands.ReplaceAllStringFunc(text, func(paragraph string) string {
		names := strings.Fields(suggestedCommands.FindStringSubmatch(paragraph)[1])
		return ": did you mean " + strings.Join(names, " or ") + "?"
	})
}
