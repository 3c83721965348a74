// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"regexp"
	"testing"
)

// Every check has a title of its own, and no two share one.
func TestEveryCheckHasATitle(t *testing.T) {
	t.Parallel()
	by := map[string]CheckID{}
	for id, title := range titles() {
		if title == "" || by[title] != "" {
			t.Errorf("the checks %q and %q are both called %q", id, by[title], title)
		}
		by[title] = id
	}
}

// Karpenter and OpenYurt have NodePools, and Cluster API has Clusters: of two kinds with one name, kubectl takes the one whose group comes first.
func TestNoCommandMeansAKindOfAnotherProgram(t *testing.T) {
	t.Parallel()
	short := regexp.MustCompile(`kubectl [^|]*\b(nodepools?|clusters?|kubeconfigs?)([ /,]|$)`)
	for kind, rows := range table() {
		for code, of := range rows {
			commands := []string{of.command}
			if of.given != nil {
				commands = append(commands, of.given.command)
			}
			for _, command := range commands {
				if short.MatchString(command) {
					t.Errorf("the command of %s of %q can mean another kind: %s", code, kind, command)
				}
			}
		}
	}
}
