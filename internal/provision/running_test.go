// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPublishPauseBoundsWhatIsWritten(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]time.Duration{0: 2 * time.Second, 16 << 10: 2 * time.Second, 32 << 10: 4 * time.Second, MaxLog: 8 * time.Second} {
		if got := PublishPause(strings.Repeat("x", size)); got != want {
			t.Errorf("after %d bytes it waits %s, want %s", size, got, want)
		}
	}
}

func TestRunningRun(t *testing.T) {
	t.Parallel()
	run := Run{ID: "up-1", Action: Up, Phase: Running, Stage: "joining", StartedAt: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Log: "a\nb\n"}
	data, err := EncodeRunning(run)
	if err != nil {
		t.Fatal(err)
	}
	got, underWay := DecodeRunning(data)
	if diff := cmp.Diff(Run{ID: "up-1", Action: Up, Phase: Running, Log: "a\nb\n"}, got); diff != "" || !underWay {
		t.Errorf("a run under way (%t):\n%s", underWay, diff)
	}
	run.Phase = Succeeded
	data, err = EncodeRunning(run)
	if err != nil {
		t.Fatal(err)
	}
	if _, underWay := DecodeRunning(data); underWay || data[keyLog] != "" {
		t.Errorf("a run that has ended is published: %v", data)
	}
}

// TestAttackLinesOfSomebodyElse reads what somebody has written into the ConfigMap.
func TestAttackLinesOfSomebodyElse(t *testing.T) {
	t.Parallel()
	const header = `{"id": "up-1", "action": "Up", "phase": "Running"}`
	for name, data := range map[string]map[string]string{
		"nothing":               nil,
		"no header":             {keyLog: "a\n"},
		"a header that is none": {keyRun: "[", keyLog: "a\n"},
		"no ID":                 {keyRun: `{"phase": "Running"}`, keyLog: "a\n"},
		"no lines":              {keyRun: header},
		"another phase":         {keyRun: `{"id": "up-1", "phase": "Lost"}`, keyLog: "a\n"},
	} {
		if run, underWay := DecodeRunning(data); underWay {
			t.Errorf("%s: %+v", name, run)
		}
	}
	run, _ := DecodeRunning(map[string]string{keyRun: header, keyLog: strings.Repeat("x", 2*MaxLog) + "\npassword: hunter22\n"})
	if len(run.Log) > MaxLog || strings.Contains(run.Log, "hunter22") {
		t.Errorf("%d bytes are read, with the end %q", len(run.Log), run.Log[len(run.Log)-40:])
	}
}
