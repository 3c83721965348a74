// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// cases are the promises of a driver, by sentence.
type cases map[string]func(t *testing.T, tr *trial)

// Run tests that the driver keeps the contract of package machine. Cases run in parallel. Each has an installation of its own, whose
// machines it removes.
func Run(t *testing.T, subject Subject) {
	t.Helper()
	subject.ShortGrace = cmp.Or(subject.ShortGrace, time.Second)
	subject.Patience = cmp.Or(subject.Patience, patience)
	t.Cleanup(func() {
		if err := subject.Driver.Close(); err != nil {
			t.Errorf("cannot close the driver: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	info, err := subject.Driver.Info(ctx)
	if err != nil {
		t.Fatalf("cannot read the host's info: %v", err)
	}
	t.Run("host", func(t *testing.T) { checkInfo(t, info) })

	topics := map[string]cases{
		"create":  creating(),
		"image":   fetching(),
		"power":   powering(),
		"suspend": suspending(),
		"outside": interfering(),
		"resize":  resizing(),
		"delete":  deleting(),
		"disk":    keeping(),
		"replace": replacing(),
		"list":    listing(),
		"stats":   measuring(),
		"watch":   watching(),
		"output":  printing(),
		"console": typing(),
		"context": cancelling(),
		"crowd":   crowding(),
	}
	t.Run("while the host answers", func(t *testing.T) {
		for topic, table := range topics {
			for sentence, run := range table {
				t.Run(topic+"/"+sentence, func(t *testing.T) {
					t.Parallel()
					run(t, newTrial(subject, info))
				})
			}
		}
	})
	// No other case can use the host while it is away.
	for sentence, run := range departing() {
		t.Run("away/"+sentence, func(t *testing.T) { run(t, newTrial(subject, info)) })
	}
}

func checkInfo(t *testing.T, info machine.Info) {
	t.Helper()
	if info.Driver == "" || info.Version == "" {
		t.Errorf("the host has driver %q and version %q, want both set", info.Driver, info.Version)
	}
	if info.Capacity.MilliCPU <= 0 || info.Capacity.MemoryBytes <= 0 {
		t.Errorf("the host reports no capacity: %+v", info.Capacity)
	}
	if info.Capabilities.Containers == info.Capabilities.Guests {
		t.Errorf("the host must run either containers or guests, and reports %+v", info.Capabilities)
	}
}
