// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

// leaderScenarios let a leader miss that another one takes over. Until it ends, nothing that it sends may take effect.
func leaderScenarios() []scenario {
	return []scenario{
		succeeded("leader/frozen", func(g *gate, s *stage, on bool) error {
			if on {
				return s.manager.Load().Signal(syscall.SIGSTOP)
			}
			return g.former.Signal(syscall.SIGCONT)
		}),
		succeeded("leader/cut-off", func(g *gate, s *stage, on bool) error {
			g.closed.Store(on)
			if on {
				s.proxy.server.CloseClientConnections()
			}
			return nil
		}),
		skewedSuccessor("leader/clock-ahead", skew),
		skewedSuccessor("leader/clock-behind", -skew),
	}
}

// skewedSuccessor is a scenario in which the leader stands still and the clock of its successor is wrong. It has to take over all the same when the Lease is
// over: what the Lease says of times is by the leader's clock.
func skewedSuccessor(name string, by time.Duration) scenario {
	sc := succeeded(name, func(g *gate, s *stage, on bool) error {
		if on {
			s.setClock(by)
			return s.manager.Load().Signal(syscall.SIGSTOP)
		}
		return g.former.Signal(syscall.SIGCONT)
	})
	sc.skews = true
	return sc
}

// leaderNodes is how many nodes the leader has a pool on: the more, the more there is that it could put back.
const leaderNodes = 20

// succeeded is a scenario in which a successor takes the pool away that the leader knows.
func succeeded(name string, disconnect func(g *gate, s *stage, on bool) error) scenario {
	g := &gate{passed: map[string]int{}}
	var names []string
	for i := range leaderNodes {
		names = append(names, fmt.Sprintf("led-%d", i))
	}
	return scenario{
		name: name, alone: true, setUp: g.setUp,
		given: []step{nodes(names...)}, before: []step{apply(pool("red", allRed)), ready("red", leaderNodes)},
		steps: []step{
			{"disconnect the leader", func(_ context.Context, s *stage) error { return disconnect(g, s, true) }},
			{"start a successor", g.succeed},
			remove(redPool), gone(redPool),
			{"connect the leader again", func(_ context.Context, s *stage) error {
				g.watched.Store(true)
				return disconnect(g, s, false)
			}},
			{"wait until the leader ends", g.judge},
		},
	}
}

// gate is between a leader and the API server.
type gate struct {
	next    http.Handler
	closed  atomic.Bool
	watched atomic.Bool
	pending sync.WaitGroup
	mutex   sync.Mutex
	// passed is what the leader has sent since it is watched, without what was refused.
	passed map[string]int
	former *rig.Manager
}

func (g *gate) setUp(s *stage) (func() error, error) {
	g.next = s.proxy.forward
	s.proxy.forward = g
	return func() error { return nil }, nil
}

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.closed.Load() {
		panic(http.ErrAbortHandler)
	}
	if !g.watched.Load() || r.Method == http.MethodGet {
		g.next.ServeHTTP(w, r)
		return
	}
	what, answered := r.Method+" "+r.URL.Path, &answer{ResponseWriter: w, code: http.StatusOK}
	g.pending.Add(1)
	defer g.pending.Done()
	g.count(what, 1) // before it is answered: without an answer, or with one of a proxy, it may take effect
	g.next.ServeHTTP(answered, r)
	if answered.code >= http.StatusBadRequest && answered.code < http.StatusInternalServerError {
		g.count(what, -1) // such as the renewal of the Lease that was under way: another instance has written it since
	}
}

func (g *gate) count(what string, by int) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.passed[what] += by
	if g.passed[what] == 0 {
		delete(g.passed, what)
	}
}

// answer remembers the code of an answer.
type answer struct {
	http.ResponseWriter

	code int
}

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(code int) {
	a.code = code
	a.ResponseWriter.WriteHeader(code)
}

// succeed starts a manager with a connection of its own, and waits until it leads.
func (g *gate) succeed(ctx context.Context, s *stage) error {
	config := *s.Config
	config.CertData, config.KeyData, config.BearerToken = nil, nil, s.token
	kubeconfig, err := s.AddKubeconfig("successor", &config)
	if err != nil {
		return err
	}
	successor, err := s.program().StartManager(ctx, kubeconfig, s.file("successor.log"), "--holder-identity=successor")
	if err != nil {
		return err
	}
	g.former = s.manager.Swap(successor)
	return s.await(ctx, func(ctx context.Context) error {
		lease := &coordinationv1.Lease{}
		if err := s.Client.Get(ctx, client.ObjectKey{Namespace: rig.Namespace, Name: rig.LeaseName}, lease); err != nil {
			return err
		}
		if holder := lease.Spec.HolderIdentity; holder == nil || *holder != "successor" {
			return errors.New("the successor does not lead yet")
		}
		return nil
	})
}

// judge waits until the former leader ends by itself, and counts what it has sent that took effect.
func (g *gate) judge(context.Context, *stage) error {
	if _, err := g.former.End(syscall.Signal(0), patience); err != nil {
		return err
	}
	g.pending.Wait()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if len(g.passed) > 0 {
		return fmt.Errorf("the deposed leader has changed something: %s", strings.Join(slices.Sorted(maps.Keys(g.passed)), ", "))
	}
	return nil
}
