// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import "testing"

// cases are promises, by sentence.
type cases map[string]func(t *testing.T, tr *trial)

// Run tests that what runs tools keeps the contract of package provision. Cases run in parallel, each with a Subject of its own.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	t.Helper()
	for topic, table := range map[string]cases{
		"run": running(), "once": repeating(), "end": ending(), "secret": hiding(),
	} {
		for sentence, run := range table {
			t.Run(topic+"/"+sentence, func(t *testing.T) {
				t.Parallel()
				run(t, newTrial(t, open(t)))
			})
		}
	}
}
