// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
)

// How often orphans are looked for, and how long they are watched before they may be removed.
const (
	defaultSweep       = 5 * time.Minute
	defaultOrphanGrace = 10 * time.Minute
)

// sweeper looks for machines of this installation that no object stands for: what an object without its finalizer, or a lost
// cluster, has left behind. Machines of other installations are not even listed.
type sweeper struct {
	r      *Reconciler
	remove bool
	grace  time.Duration
	period time.Duration

	mu sync.Mutex
	// since is when an orphan was first seen, by host and UID. It begins anew with the manager: that only lengthens the grace.
	since map[string]map[string]time.Time
}

func newSweeper(r *Reconciler, options Options) *sweeper {
	return &sweeper{
		r: r, remove: options.DeleteOrphans, grace: cmp.Or(options.OrphanGrace, defaultOrphanGrace),
		period: cmp.Or(options.SweepPeriod, defaultSweep), since: map[string]map[string]time.Time{},
	}
}

// run sweeps a host once a period until ctx ends.
func (s *sweeper) run(ctx context.Context, host string) {
	for {
		timer := time.NewTimer(flow.Jitter(s.period))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if s.r.fleet.Health(host).Err != nil {
			continue
		}
		if err := s.sweep(ctx, host); err != nil && ctx.Err() == nil {
			s.r.log.Error(err, "Cannot look for machines that nobody wants", "host", host)
		}
	}
}

// sweep looks at all machines of a host once.
func (s *sweeper) sweep(ctx context.Context, host string) error {
	driver, ok := s.r.fleet.Driver(host)
	if !ok {
		return nil
	}
	machines, err := driver.List(ctx, s.r.installation)
	if err != nil {
		return fmt.Errorf("cannot list machines: %w", err)
	}
	stay, err := s.r.retained.of(ctx, host)
	if err != nil {
		return err
	}
	present := map[string]bool{}
	var orphans []machine.Observed
	var problems []error
	for _, found := range machines {
		present[found.UID] = true
		if stay[found.UID] {
			continue
		}
		wanted, err := s.wanted(ctx, found)
		switch {
		case err != nil:
			problems = append(problems, err)
		case !wanted:
			orphans = append(orphans, found)
		}
	}
	left := s.account(host, orphans)
	orphanCount.WithLabelValues(host).Set(float64(len(orphans)))
	for _, found := range left {
		problems = append(problems, s.clear(ctx, driver, host, found))
	}
	problems = append(problems, s.r.retained.prune(ctx, host, present))
	return errors.Join(problems...)
}

// wanted reports whether an object stands for the machine. The cache is believed where it has the object; that there is none is
// asked of the API server itself. An object whose status is behind is woken up.
func (s *sweeper) wanted(ctx context.Context, found machine.Observed) (bool, error) {
	key := types.NamespacedName{Namespace: found.Namespace, Name: found.Name}
	var vm cloudnativev1alpha1.VirtualMachine
	err := s.r.client.Get(ctx, key, &vm, client.UnsafeDisableDeepCopy)
	if err == nil && string(vm.UID) == found.UID {
		if vm.Status.Server == nil || vm.Status.Server.State != stateText(found.State) {
			s.r.bell.ring(key)
		}
		return true, nil
	}
	var live cloudnativev1alpha1.VirtualMachine
	err = s.r.live.Get(ctx, key, &live)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return true, fmt.Errorf("cannot read VirtualMachine %q: %w", key, err)
	default:
		return string(live.UID) == found.UID, nil
	}
}

// account remembers since when each orphan is one, tells of new ones, and returns those that may be removed.
func (s *sweeper) account(host string, orphans []machine.Observed) []machine.Observed {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.r.now()
	before, since := s.since[host], make(map[string]time.Time, len(orphans))
	var due []machine.Observed
	for _, found := range orphans {
		first, seen := before[found.UID]
		if !seen {
			first = now
			s.r.recorder.Record(orphaned(found, host))
		}
		since[found.UID] = first
		if s.remove && now.Sub(first) >= s.grace {
			due = append(due, found)
		}
	}
	s.since[host] = since
	return due
}

// clear removes an orphan, after one more look.
func (s *sweeper) clear(ctx context.Context, driver machine.Driver, host string, found machine.Observed) error {
	if wanted, err := s.wanted(ctx, found); wanted || err != nil {
		return err
	}
	how := machine.PowerOff{Mode: machine.TrySoft, Grace: defaultGrace}
	if err := driver.Delete(ctx, found.Identity, how); err != nil {
		return fmt.Errorf("cannot remove machine %q, which nobody wants: %w", found.NativeName, err)
	}
	told := orphaned(found, host)
	told.Reason, told.Warning = cloudnativev1alpha1.ReasonOrphanDeleted, false
	told.Note = fmt.Sprintf("Removed machine %q from host %q: no VirtualMachine had stood for it for %s", found.NativeName, host, s.grace)
	s.r.recorder.Record(told)
	return nil
}

// orphaned tells of a machine without an object. The event is about the object that once was: it is found under its name.
func orphaned(found machine.Observed, host string) event.Event {
	return event.Event{
		Regarding: &cloudnativev1alpha1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{
			Namespace: found.Namespace, Name: found.Name, UID: types.UID(found.UID),
		}},
		Warning: true, Reason: cloudnativev1alpha1.ReasonOrphaned, Action: actionSweep,
		Note: fmt.Sprintf("Found machine %q on host %q, for which there is no VirtualMachine", found.NativeName, host),
	}
}
