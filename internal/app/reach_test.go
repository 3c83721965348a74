// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/provision"
)

// TestRefusalsOfHosts wants a code for every kind of error, and the words of the host in none of them: they can name addresses.
func TestRefusalsOfHosts(t *testing.T) {
	t.Parallel()
	for kind, want := range map[error]view.Code{
		machine.ErrNotFound:    "NotYet",
		machine.ErrUnsupported: "Unsupported",
		machine.ErrBusy:        "TooManyRequests",
		machine.ErrOff:         "MachineOff",
		machine.ErrConsoleHeld: "ConsoleHeld",
		machine.ErrNoShell:     "NoShell",
		machine.ErrUnreachable: "HostUnreachable",
		errors.New("whatever"): "HostUnreachable",
	} {
		err := refusal(fmt.Errorf("cannot dial 192.0.2.7: %w", kind))
		problem, ok := errors.AsType[*view.Problem](err)
		if !ok || problem.Code != want || !errors.Is(err, kind) {
			t.Errorf("%v is %+v, want %s", kind, problem, want)
			continue
		}
		if said := fmt.Sprintf("%+v", *problem); strings.Contains(said, "192.0.2.7") {
			t.Errorf("the caller is told %s", said)
		}
	}
	if err := refusal(nil); err != nil {
		t.Errorf("no error is %v", err)
	}
}

// TestInstanceThatWaitsReachesNothing asks an instance that is not the leader, and has no objects: a call that gets through panics. One without
// the controllers says so.
func TestInstanceThatWaitsReachesNothing(t *testing.T) {
	t.Parallel()
	waiting, without := newReach(nil, make(chan struct{})), newReach(nil, make(chan struct{}))
	waiting.machines, waiting.tools = fleet.New(nil, fleet.Options{}), &fencedProvisioner{}
	for of, want := range map[*reach]view.Code{waiting: "NotLeading", without: "NoHosts"} {
		_, output := of.Output(t.Context(), "ns", "vm", -1, false)
		_, console := of.Console(t.Context(), "ns", "vm")
		_, runs := of.Runs(t.Context(), "prod")
		_, log := of.RunLog(t.Context(), "prod", "", -1, true)
		for call, err := range map[string]error{"Output": output, "Console": console, "Runs": runs, "RunLog": log} {
			if problem, ok := errors.AsType[*view.Problem](err); !ok || problem.Code != want {
				t.Errorf("%s says %v, want %s", call, err, want)
			}
		}
	}
	if waiting.hosts() == nil || without.hosts() != nil {
		t.Error("only a manager with the controllers has hosts")
	}
}

// TestAttackFollowersOfRuns follows one run more often than the limit. Those who leave make room.
func TestAttackFollowersOfRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReach(nil, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var open []io.Closer
		for range maxFollowers {
			reading, err := r.follow(ctx, "uid", provision.Run{Phase: provision.Running}, -1)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, reading)
		}
		follow := func() error {
			_, err := r.follow(ctx, "uid", provision.Run{Phase: provision.Running}, -1)
			synctest.Wait()
			return err
		}
		if problem, ok := errors.AsType[*view.Problem](follow()); !ok || problem.Code != "TooManyRequests" {
			t.Errorf("one too many: %v", problem)
		}
		for range 2 { // the second time makes no more room
			if err := open[0].Close(); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if err := follow(); err != nil {
			t.Errorf("after one has left: %v", err)
		}
		if err := follow(); err == nil {
			t.Error("one that is closed twice makes room for two")
		}
		cancel()
		synctest.Wait()
		if len(r.followers) != 0 {
			t.Errorf("%d slots are taken by those who left", len(r.followers))
		}
	})
}

// led is a Cluster whose last runs another manager has had, and what this one keeps of it.
type led struct {
	client.Reader
	provision.Provisioner

	last *clusterprovisionerv1alpha1.Operation
	kept map[string]string
	run  provision.Run
}

// Get implements client.Reader.
func (l *led) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch object := into.(type) {
	case *clusterprovisionerv1alpha1.Cluster:
		object.UID, object.Status.LastOperation = "uid", l.last
	case *corev1.ConfigMap:
		object.Labels, object.Data = map[string]string{clusterprovisionerv1alpha1.ClusterUIDLabel: "uid"}, l.kept
	default:
		return fmt.Errorf("nobody reads %T", into)
	}
	return nil
}

// Observe implements provision.Provisioner.
func (l *led) Observe(context.Context, string) (provision.Run, error) { return l.run, nil }

// TestALeaderThatReturnsShowsItsOldRunAsTheLast is about two managers with a --state-dir each: the one that leads again listed its old run first, and
// printed the log of that one as the last.
func TestALeaderThatReturnsShowsItsOldRunAsTheLast(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	run := func(id string, began time.Time) provision.Run {
		return provision.Run{ID: id, Action: provision.Up, Phase: provision.Succeeded, StartedAt: began, EndedAt: began.Add(time.Minute), Log: "of " + id + "\n"}
	}
	history := provision.History{}.With(run("up-x-1", noon)).With(run("up-y-1", noon.Add(time.Hour)))
	kept, err := history.Encode()
	if err != nil {
		t.Fatal(err)
	}
	underWay := provision.Run{ID: "up-z-1", Phase: provision.Running, StartedAt: noon, Log: "of up-z-1\n"}
	for name, c := range map[string]struct {
		run   provision.Run
		want  string
		began time.Time
	}{
		"its run is the one before the last":              {run("up-x-1", noon), "up-y-1 up-x-1", noon.Add(time.Hour)},
		"its run has the name of the last":                {run("up-y-1", noon), "up-y-1 up-x-1", noon.Add(time.Hour)},
		"its run is the last":                             {run("up-y-1", noon.Add(time.Hour)), "up-y-1 up-x-1", noon.Add(time.Hour)},
		"its run is one that nobody has recorded":         {run("up-z-1", noon.Add(2*time.Hour)), "up-z-1 up-y-1 up-x-1", noon.Add(2 * time.Hour)},
		"its run is under way, by a clock that is behind": {underWay, "up-z-1 up-y-1 up-x-1", noon},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leading := make(chan struct{})
			close(leading)
			of := &led{kept: kept, run: c.run, last: &clusterprovisionerv1alpha1.Operation{
				ID: "up-y-1", StartTime: new(metav1.NewTime(noon.Add(time.Hour))), EndTime: new(metav1.NewTime(noon.Add(61 * time.Minute))),
			}}
			r := newReach(of, leading)
			r.tools, r.kept = of, of
			runs, err := r.Runs(t.Context(), "east")
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, one := range runs {
				ids = append(ids, one.ID)
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("the runs are %q, want %q", got, c.want)
			}
			if got := runs[0].StartTime; !got.Equal(c.began) {
				t.Errorf("the last one began at %s, want %s", got, c.began)
			}
			log, err := r.RunLog(t.Context(), "east", "", -1, false)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(log)
			if want := "of " + ids[0] + "\n"; err != nil || string(text) != want {
				t.Errorf("the log of the last one is %q, %v, want %q", text, err, want)
			}
		})
	}
}
