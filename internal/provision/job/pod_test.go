// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/exec"
)

// TestAPodThatIsEvictedTakesTheResultWithIt is about a Pod that is told to end when its tool has ended, and no manager has read what that left: it ended
// at once, and with it the only copy of the state.
func TestAPodThatIsEvictedTakesTheResultWithIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before bool // reported before the Pod is told to end
		after  time.Duration
		want   time.Duration
	}{
		"somebody was told":                   {before: true},
		"somebody asks while it ends":         {after: 5*time.Second - time.Millisecond, want: 5*time.Second + delivery},
		"somebody asks when it is told to":    {after: time.Millisecond, want: pollInterval + delivery},
		"nobody asks before its time is over": {want: handover},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runner, reported := endedRun(t), filepath.Join(t.TempDir(), "reported")
			report := func() {
				var out bytes.Buffer
				if err := tell(&Report{Run: provision.Run{Phase: provision.Running}}, &out, reported); err != nil || exists(reported) {
					t.Errorf("a run that is under way counts as reported (%v)", err)
				}
				if err := tell(&Report{Run: provision.Run{Phase: provision.Succeeded}}, &out, reported); err != nil {
					t.Error(err)
				}
			}
			if test.before {
				report()
			}
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				if test.after > 0 {
					time.AfterFunc(test.after, report)
				}
				if err := stop(t.Context(), runner, "a", reported); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begun); took != test.want {
					t.Errorf("the Pod ended after %s, want %s", took, test.want)
				}
			})
		})
	}
}

// TestAReportThatIsNotWrittenIsNotMarked holds that a Pod goes on waiting for somebody who reads its report.
func TestAReportThatIsNotWrittenIsNotMarked(t *testing.T) {
	t.Parallel()
	reported := filepath.Join(t.TempDir(), "reported")
	err := tell(&Report{Run: provision.Run{Phase: provision.Succeeded}}, broken{}, reported)
	if err == nil || exists(reported) {
		t.Errorf("it counts as reported: %v", err)
	}
}

// broken is a stream whose reader is gone.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// endedRun returns a Runner with a run of cluster a that has succeeded.
func endedRun(t *testing.T) *exec.Runner {
	t.Helper()
	root := t.TempDir()
	runner, err := exec.New(exec.Options{Root: root, Limit: 1, Isolation: exec.IsolationNone, Environment: os.Environ})
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(root, "a", "run")
	err = errors.Join(
		os.MkdirAll(run, 0o700), os.WriteFile(filepath.Join(run, "request.json"), []byte(`{"id":"up-1","action":"Up"}`), 0o600),
		os.WriteFile(filepath.Join(run, "result.json"), []byte(`{"id":"up-1","endedAt":"2026-01-01T00:00:00Z","exitCode":0}`), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	if run, err := runner.Observe(t.Context(), "a"); err != nil || run.Phase != provision.Succeeded {
		t.Fatalf("the run is %+v, %v", run, err)
	}
	return runner
}
