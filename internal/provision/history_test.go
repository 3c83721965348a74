// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHistoryKeepsTheLastRuns(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 5, time.UTC)
	var kept History
	for n := range MaxRuns + 2 {
		for range 2 { // as after a crash between two writes
			kept = kept.With(Run{
				ID: fmt.Sprintf("run-%d", n), Action: Up, Phase: Failed, StartedAt: noon, Log: fmt.Sprintf("log %d\n", n),
				ExitCode: new(int32(1)), Failure: &Failure{Reason: "SSHAuth"},
			})
		}
	}
	data, err := kept.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var want History
	for n := MaxRuns + 1; n > 1; n-- {
		want = append(want, Ended{
			ID: fmt.Sprintf("run-%d", n), Action: Up, Phase: Failed, StartedAt: new(noon.Truncate(time.Second)), ExitCode: new(int32(1)),
			Reason: "SSHAuth", Log: fmt.Sprintf("log %d\n", n),
		})
	}
	if diff := cmp.Diff(want, DecodeHistory(data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(data) != MaxRuns+1 || data["log"] != fmt.Sprintf("log %d\n", MaxRuns+1) {
		t.Errorf("the data is %v, want the last log under its old key", data)
	}
}

// TestAttackHistoryOfSomebodyElse reads what others may have written into the ConfigMap, and what earlier versions did.
func TestAttackHistoryOfSomebodyElse(t *testing.T) {
	t.Parallel()
	many := "[" + strings.TrimSuffix(strings.Repeat(`{"id":"x"},`, 1000), ",") + "]"
	long := strings.Repeat("ä", 1<<20)
	for name, c := range map[string]struct {
		data map[string]string
		want int
	}{
		"nothing":                         {nil, 0},
		"a log of an earlier version":     {map[string]string{"log": "old"}, 0},
		"not JSON":                        {map[string]string{"runs": "{"}, 0},
		"runs without end":                {map[string]string{"runs": many}, MaxRuns},
		"an ID that no key takes":         {map[string]string{"runs": `[{"id":"up:1"},{"id":"` + strings.Repeat("a", 250) + `"},{"id":"good"}]`}, 1},
		"words without end":               {map[string]string{"runs": `[{"id":"a","action":"` + long + `","phase":"` + long + `","reason":"` + long + `"}]`}, 1},
		"an ID that is not one":           {map[string]string{"runs": `[{"id":"a/b"},{"id":""},{"id":"a b"},{"id":"good"}]`}, 1},
		"a log that is longer than a log": {map[string]string{"runs": `[{"id":"a"}]`, "log": strings.Repeat("x", 2*MaxLog)}, 1},
	} {
		got := DecodeHistory(c.data)
		if len(got) != c.want {
			t.Errorf("%s: %d runs, want %d", name, len(got), c.want)
		}
		for _, run := range got {
			if len(run.Log) > MaxLog {
				t.Errorf("%s: a log of %d bytes", name, len(run.Log))
			}
			if size := len(run.Action) + len(run.Phase) + len(run.Reason); size > 3*maxWord {
				t.Errorf("%s: words of %d bytes", name, size)
			}
		}
	}
}
