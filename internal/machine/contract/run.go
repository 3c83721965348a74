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
	info := subject.prepare(t)
	t.Run("host", func(t *testing.T) { checkInfo(t, info) })
	t.Run("while the host answers", func(t *testing.T) {
		for topic, table := range topics() {
			runAll(t, subject, info, topic, table)
		}
	})
	// No other case can use the host while it is away.
	for sentence, run := range departing() {
		t.Run("away/"+sentence, func(t *testing.T) { run(t, newTrial(subject, info)) })
	}
}

// RunTopic tests one topic, for a host on which all of them would take too long.
func RunTopic(t *testing.T, subject Subject, topic string) {
	t.Helper()
	info := subject.prepare(t)
	runAll(t, subject, info, topic, topics()[topic])
}

// runAll runs the cases of a topic in parallel.
func runAll(t *testing.T, subject Subject, info machine.Info, topic string, table cases) {
	t.Helper()
	for sentence, run := range table {
		t.Run(topic+"/"+sentence, func(t *testing.T) {
			t.Parallel()
			run(t, newTrial(subject, info))
		})
	}
}

// prepare sets the defaults, closes the driver when the test ends, and returns what the host says of itself.
func (s *Subject) prepare(t *testing.T) machine.Info {
	t.Helper()
	s.ShortGrace = cmp.Or(s.ShortGrace, time.Second)
	s.Patience = cmp.Or(s.Patience, patience)
	t.Cleanup(func() {
		if err := s.Driver.Close(); err != nil {
			t.Errorf("cannot close the driver: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	info, err := s.Driver.Info(ctx)
	if err != nil {
		t.Fatalf("cannot read the host's info: %v", err)
	}
	return info
}

func topics() map[string]cases {
	return map[string]cases{
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
