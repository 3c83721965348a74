// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

// stage is what one run has: a manager behind a proxy, on a lane.
type stage struct {
	*lane

	effects *injector
	proxy   *proxy
	// args are arguments of the manager.
	args []string
	// clusters is the directory with those of the Clusters, if there are some.
	clusters string
	gates    map[string]*toolGate
	// interrupted says that the fault ends machines, which are then started again.
	interrupted bool
	// hasty says that it is left to chance whether a machine has run before it is deleted.
	hasty bool
	// hosts add to a state what is outside of the cluster.
	hosts []func(ctx context.Context, to state) error

	// killed is the last manager that a fault has killed, and manager the last one that was started: crash reads it while an orderly end holds
	// the mutex and waits for the manager.
	killed, manager atomic.Pointer[rig.Manager]

	mutex      sync.Mutex
	kubeconfig string
	// over says that no manager is started any more.
	over   bool
	failed error
	// skew is how wrong the clock of the next manager is.
	skew time.Duration
	// broken are promises that did not hold for a moment, which the end does not show.
	broken []string
}

// set prepares a run: the proxy is there, the manager is not.
func (l *lane) set(ctx context.Context, f *fault) (*stage, error) {
	l.runs++
	s := &stage{lane: l}
	s.effects = newInjector(f, func() { s.crash(ctx) })
	var err error
	if s.proxy, err = newProxy(l.Config, s.effects); err != nil {
		return nil, err
	}
	s.kubeconfig, err = l.AddKubeconfig(fmt.Sprintf("run-%d", l.runs), s.proxy.config(l.token))
	return s, err
}

// start starts the manager and waits until it is ready. One identity for all instances lets a successor take the Lease of one that
// was killed at once.
func (s *stage) start(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.launch(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.manager.Load().Ready(ctx, 20*time.Millisecond)
}

func (s *stage) launch(ctx context.Context) error {
	args := append([]string{"--holder-identity=fault", "--vm-driver=simulated"}, s.args...)
	manager, err := s.program().StartManager(ctx, s.kubeconfig, s.file("manager.log"), args...)
	if err == nil {
		s.manager.Store(manager)
	}
	return err
}

// setClock sets how wrong the clock of managers is that start from now on.
func (s *stage) setClock(by time.Duration) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.skew = by
}

// program returns what a manager is started from. It has all processors: what it does at the same time is what is tested.
func (s *stage) program() *rig.Cluster {
	program := s.Cluster
	program.Env = append(slices.Clone(program.Env), fmt.Sprintf("GOMAXPROCS=%d", runtime.NumCPU()))
	if s.skew != 0 {
		program.Windlass = s.skewed
		program.Env = append(program.Env, fmt.Sprintf("%s=%d", skewVariable, int(s.skew.Seconds())))
	}
	return &program
}

// crash kills the manager and starts it again, also if the run is given up meanwhile: clear ends a manager that runs. A manager that is just
// ending in order is killed in the middle of it, and who ends it decides what follows.
func (s *stage) crash(ctx context.Context) {
	victim := s.manager.Load()
	s.killed.Store(victim)
	if err := victim.Signal(syscall.SIGKILL); err != nil {
		s.fail(err)
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.over || s.manager.Load() != victim {
		return
	}
	if _, err := victim.End(syscall.SIGKILL, patience); err != nil {
		s.failed = errors.Join(s.failed, err)
		return
	}
	s.failed = errors.Join(s.failed, s.launch(context.WithoutCancel(ctx)))
}

// revive starts a manager again that has ended, as a kubelet does: a leader ends if it cannot renew its Lease for ten seconds, which
// an outage on a busy machine may take.
func (s *stage) revive(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.manager.Load().Ended() == nil {
		return nil
	}
	return s.launch(ctx)
}

// fail notes that the campaign itself could not go on.
func (s *stage) fail(err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.failed = errors.Join(s.failed, err)
}

// breaks notes that a promise did not hold.
func (s *stage) breaks(promise string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.broken = append(s.broken, promise)
}

// brokenPromises returns what breaks has noted.
func (s *stage) brokenPromises() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.broken)
}

// restart ends the manager in order and starts it again.
func (s *stage) restart(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.end(ctx); err != nil {
		return err
	}
	return s.launch(ctx)
}

// launching is how long a manager may take until it takes signals.
const launching = 10 * time.Second

// end ends the manager in order. A fault may kill it meanwhile. One that was started a moment ago would die of the signal as any program does
// that has not asked for it yet.
func (s *stage) end(ctx context.Context) error {
	manager := s.manager.Load()
	starting, cancel := context.WithTimeout(ctx, launching)
	defer cancel()
	_ = manager.Until(starting, 20*time.Millisecond, func(ctx context.Context) error { return manager.Probe(ctx, "/healthz") })
	code, err := manager.End(syscall.SIGTERM, patience)
	if err == nil && code != 0 && s.killed.Load() != manager {
		err = fmt.Errorf("the manager ended with code %d; the end of its log:\n%s", code, manager.Tail())
	}
	return err
}

// clear ends the run: first the manager, then the proxy.
func (s *stage) clear(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.over = true
	err := s.failed
	if s.manager.Load() != nil {
		err = errors.Join(err, s.end(ctx))
	}
	s.proxy.close()
	return err
}

// log returns what all managers of the run have logged.
func (s *stage) log() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	manager := s.manager.Load()
	if manager == nil {
		return ""
	}
	text, err := manager.Log()
	if err != nil {
		return err.Error()
	}
	return text
}

// heard returns nil if a person can have heard of the fault: from the log, an event, or the status of an object.
func (s *stage) heard(ctx context.Context, before snapshot) error {
	if strings.Contains(s.log(), marker) {
		return nil
	}
	events, err := s.events(ctx)
	if err != nil {
		return err
	}
	for _, message := range events {
		if strings.Contains(message, marker) {
			return nil
		}
	}
	after, err := s.snapshot(ctx)
	if err != nil {
		return err
	}
	if strings.Contains(fmt.Sprint(after.since(before)), marker) {
		return nil
	}
	return errors.New("no log line, no event and no status tells of the fault")
}
