// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"cmp"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/provision"
)

// patience is how long a case waits: a busy machine takes its time, and an idle one does not wait.
const patience = 5 * time.Minute

// trial is what a case works with.
type trial struct {
	provision.Provisioner

	subject Subject
	// own is the UID of the case's cluster.
	own   string
	place provision.Place
}

func newTrial(t *testing.T, subject Subject) *trial {
	t.Helper()
	subject.Patience = cmp.Or(subject.Patience, patience)
	if subject.Place == nil {
		subject.Place = func(t *testing.T) provision.Place {
			t.Helper()
			return provision.Place{Cluster: rand.Text(), Name: "one"}
		}
	}
	place := subject.Place(t)
	return &trial{Provisioner: subject.Again(t), subject: subject, own: place.Cluster, place: place}
}

// part returns a request for a run in which the tool plays a part.
func (tr *trial) part(part, id string, change ...func(*provision.Request)) provision.Request {
	call := append(append([]string{}, tr.subject.Command...), part, "{config}")
	wanted := provision.Request{
		Place: tr.place, ID: id, Action: provision.Up, Config: []byte("nodes: []\n"),
		Tool: provision.Tool{
			Name: "exec", ConfigName: "config.yaml", Up: call, Remove: call, StateFiles: []string{"*.state"}, KubeconfigFile: "kube_config_{configname}",
		},
		Timeout: subjectTimeout, Grace: subjectTimeout,
	}
	for _, c := range change {
		c(&wanted)
	}
	return wanted
}

// subjectTimeout limits runs that are not about their limits.
const subjectTimeout = 10 * time.Minute

func (tr *trial) start(t *testing.T, wanted provision.Request) {
	t.Helper()
	// What was just started or ended can still hold its place.
	tr.until(t, "the run "+wanted.ID+" starts", func() bool {
		err := tr.Start(t.Context(), wanted)
		if err != nil && !errors.Is(err, provision.ErrBusy) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// ended waits until a run has ended, and returns it.
func (tr *trial) ended(t *testing.T, id string) provision.Run {
	t.Helper()
	var run provision.Run
	tr.until(t, "the run "+id+" has ended", func() bool {
		var err error
		if run, err = tr.Observe(t.Context(), tr.own); err != nil {
			t.Fatal(err)
		}
		return run.ID == id && run.Phase != provision.Running
	})
	return run
}

// waits returns once the tool says that it has nothing to do.
func (tr *trial) waits(t *testing.T) {
	t.Helper()
	tr.until(t, "the tool waits", func() bool {
		run, err := tr.Observe(t.Context(), tr.own)
		if err != nil || run.Phase != provision.Running {
			t.Fatalf("the run is %+v, %v", run, err)
		}
		return run.Stage == waiting
	})
}

// left returns what the tool of a request left behind.
func (tr *trial) left(t *testing.T, wanted provision.Request) provision.Artifacts {
	t.Helper()
	left, err := tr.Collect(t.Context(), wanted.Place, wanted.Tool)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// cancel tells the cluster's run to end, again while it is just starting.
func (tr *trial) cancel(t *testing.T) {
	t.Helper()
	tr.until(t, "the run is told to end", func() bool { return tr.Cancel(t.Context(), tr.own) == nil })
}

// told waits until the cluster is sent to Changed.
func (tr *trial) told(t *testing.T, cluster string) {
	t.Helper()
	deadline := time.NewTimer(tr.subject.Patience)
	defer deadline.Stop()
	for {
		select {
		case changed := <-tr.Changed():
			if changed == cluster {
				return
			}
		case <-deadline.C:
			t.Fatalf("nobody was told of cluster %q", cluster)
		}
	}
}

// end ends the runs of clusters.
func (tr *trial) end(t *testing.T, clusters ...string) {
	t.Helper()
	for _, cluster := range clusters {
		tr.until(t, "the run of "+cluster+" has ended", func() bool {
			_ = tr.Cancel(t.Context(), cluster) // again while it is just starting
			run, err := tr.Observe(t.Context(), cluster)
			return err == nil && run.Phase != provision.Running
		})
	}
}

// until waits until something holds.
func (tr *trial) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(tr.subject.Patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			t.Fatalf("gave up waiting until %s", what)
		case <-tick.C:
		}
	}
}
