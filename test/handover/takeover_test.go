// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
	"github.com/windlass-operator/windlass/test/rig"
)

// instance is a manager whose connections can be cut, and whose writes and calls can be told from those of others.
type instance struct {
	*leader

	name   string
	api    *gate
	engine *gate
	// token is what the audit log calls the credential of the instance.
	token string
}

// newInstance starts a manager behind gates of its own.
func (s *stage) newInstance(t *testing.T, name string) *instance {
	t.Helper()
	config, _, err := s.TakeAccount(t.Context(), rig.ServiceAccount)
	must(t, err)
	i := &instance{name: name, token: credentialOf(t, config.BearerToken), api: newAPIGate(t, s.Config)}
	kubeconfig, err := s.AddKubeconfig(name, i.api.config(config.BearerToken))
	must(t, err)
	socket := ""
	if s.engine != nil {
		i.engine = newEngineGate(t, s.engine)
		socket = i.engine.socket
	}
	i.leader = s.start(t, s.Windlass, kubeconfig, name, s.args(t, socket)...)
	return i
}

// credentialOf returns how the audit log names a token.
func credentialOf(t *testing.T, token string) string {
	t.Helper()
	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	must(t, err)
	var id struct {
		JTI string `json:"jti"`
	}
	must(t, json.Unmarshal(claims, &id))
	return "JTI=" + id.JTI
}

// faults are the ways in which a leader stops to lead.
var faults = map[string]struct {
	strike func(t *testing.T, i *instance)
	// mend lets a leader go on that does not know yet that it has lost the Lease. It is nil for one that has ended.
	mend func(t *testing.T, i *instance)
}{
	"TERM": {strike: func(t *testing.T, i *instance) { t.Helper(); must(t, i.Signal(syscall.SIGTERM)) }},
	"KILL": {strike: func(t *testing.T, i *instance) { t.Helper(); must(t, i.Signal(syscall.SIGKILL)) }},
	"STOP": {
		strike: func(t *testing.T, i *instance) { t.Helper(); must(t, i.Signal(syscall.SIGSTOP)) },
		mend:   func(t *testing.T, i *instance) { t.Helper(); must(t, i.Signal(syscall.SIGCONT)) },
	},
	"a network that is cut": {
		strike: func(_ *testing.T, i *instance) { i.api.cut() },
		mend:   func(_ *testing.T, i *instance) { i.api.mend() },
	},
}

// TestTakeover has a standby take over from a leader that ends, dies, freezes, or is cut off from the API server but not from its host, while it is
// in the middle of making a machine. It tells how long that takes. Once another one leads, the former leader changes nothing, neither in the cluster nor on
// the host. The successor has filled its caches as a standby.
func TestTakeover(t *testing.T) { //nolint:tparallel // because each instance takes over from the one before
	t.Parallel()
	s := newStage(t, "takeover")
	s.withEngine(t)
	must(t, s.Install(t.Context()))
	first := s.newInstance(t, "instance-0")
	s.leads(t, first.name)
	s.populate(t, t.TempDir())
	s.settled(t, first.leader)
	leads, number := first, 1
	for name, fault := range faults { //nolint:paralleltest // because each instance takes over from the one before
		next := s.newInstance(t, fmt.Sprintf("instance-%d", number))
		t.Run(name, func(t *testing.T) {
			if fault.mend != nil {
				s.begin(t, leads, number)
			}
			struck := time.Now()
			fault.strike(t, leads)
			if fault.mend != nil {
				t.Cleanup(func() { fault.mend(t, leads) }) // or a test that fails leaves a process that does not end
			}
			s.change(t, number)
			s.leads(t, next.name)
			since := time.Now()
			took := since.Sub(struck)
			s.changed(t, number)
			t.Logf("the successor held the Lease after %s, and had done what was asked for after %s",
				took.Round(10*time.Millisecond), time.Since(struck).Round(10*time.Millisecond))
			if fault.mend != nil {
				fault.mend(t, leads)
			}
			if leads.engine != nil {
				leads.engine.release()
			}
			if _, err := leads.End(syscall.Signal(0), patience); err != nil {
				t.Error(err)
			}
			s.wait(t, "virtualmachine", "--all", "condition=Ready")
			s.settled(t, next.leader)
			leads.changedNothing(t, s, since)
			next.wasWarm(t, since)
		})
		leads, number = next, number+1
		if t.Failed() {
			return
		}
	}
}

// begin has the leader make a machine, and holds the answer of the host: the leader is in the middle of it.
func (s *stage) begin(t *testing.T, leads *instance, number int) {
	t.Helper()
	if s.engine == nil {
		return
	}
	leads.engine.hold("/containers/create")
	s.apply(t, fmt.Sprintf(`{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: late-%d, namespace: default},
		spec: {image: {name: "%s"}, resource: {cpu: 100m, memory: 64Mi}}}`, number, dockertest.Image))
	eventually(t, func(context.Context) error { return leads.engine.holds() })
}

// change asks for something that only a leader does.
func (s *stage) change(t *testing.T, number int) {
	t.Helper()
	s.kubectl(t, "", "patch", "podset/web", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"size":%d}}`, number+2))
	s.kubectl(t, "", "patch", "nodepools.nodes.lailin.xyz/blue", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"labels":{"example.com/round":"%d"}}}`, number))
}

// changed waits until it was done.
func (s *stage) changed(t *testing.T, number int) {
	t.Helper()
	s.wait(t, "deployment/web", fmt.Sprintf("jsonpath={.spec.replicas}=%d", number+2))
	s.wait(t, "node/c", fmt.Sprintf(`jsonpath={.metadata.labels.example\.com/round}=%d`, number))
}

// changedNothing compares the audit log, and the log of calls of the host, with the time since which another one leads.
func (i *instance) changedNothing(t *testing.T, s *stage, since time.Time) {
	t.Helper()
	for _, line := range s.audit.lines(t) {
		var one struct {
			written

			User struct {
				Extra map[string][]string `json:"extra"`
			} `json:"user"`
		}
		must(t, json.Unmarshal([]byte(line), &one))
		if ids := one.User.Extra["authentication.kubernetes.io/credential-id"]; len(ids) != 1 || ids[0] != i.token || one.At.Before(since) {
			continue
		}
		t.Errorf("the former leader has written: %s", &one.written)
	}
	if i.engine == nil {
		return
	}
	for _, call := range i.engine.since(since) {
		t.Errorf("the former leader has called its host: %s", call)
	}
}

// wasWarm holds that an instance that has taken over watches nothing that it did not watch as a standby: its caches were full. Only the pods of
// the namespaces that have debug tools are left to the first pass, which may find that there is no tool any more.
func (i *instance) wasWarm(t *testing.T, since time.Time) {
	t.Helper()
	if len(i.api.watchedSince(time.Time{})) == 0 {
		t.Error("the successor watches nothing: the test does not see its watches")
	}
	for _, path := range i.api.watchedSince(since) {
		if path != "/api/v1/namespaces/default/pods" {
			t.Errorf("the successor watches %s only since it leads", path)
		}
	}
}
