// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/provision"
)

// runningHosts has one run of every Cluster, which the test moves on.
type runningHosts struct {
	simulatedHosts

	mu  sync.Mutex
	run provision.Run
}

func (h *runningHosts) observe(context.Context) (provision.Run, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.run, nil
}

// add adds a line to the log, and says how the run stands.
func (h *runningHosts) add(phase provision.Phase, line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.run.Phase, h.run.Log = phase, h.run.Log+line+"\n"
}

// Runs implements api.Hosts.
func (h *runningHosts) Runs(ctx context.Context, _ string) ([]view.Run, error) {
	run, err := h.observe(ctx)
	return []view.Run{{ID: run.ID, Action: string(run.Action), Phase: string(run.Phase)}}, err
}

// RunLog implements api.Hosts.
func (h *runningHosts) RunLog(ctx context.Context, cluster, run string, tail int, follow bool) (io.ReadCloser, error) {
	now, err := h.observe(ctx)
	switch {
	case err != nil:
		return nil, err
	case run != "" && run != now.ID:
		return nil, view.NewProblem(http.StatusNotFound, "NotFound", fmt.Sprintf("%s has no run %q.", cluster, run))
	case follow:
		return provision.Follow(ctx, now, tail, h.observe), nil
	default:
		return io.NopCloser(strings.NewReader(provision.LastLines(now.Log, tail))), nil
	}
}

func readsRuns() rbacv1.PolicyRule { return rule("get", "clusterprovisioner.rke.io", "clusters/log") }

// TestRunsOfACluster lists runs, reads a log, and follows one until the run ends.
func TestRunsOfACluster(t *testing.T) {
	t.Parallel()
	hosts := &runningHosts{run: provision.Run{ID: "up-1", Action: provision.Up, Phase: provision.Running, Log: "first\nsecond\n"}}
	r := newRig(t, func(o *Options) { o.Hosts = hosts })
	token := r.user(t, "", readsRuns())
	got := read[view.Runs](t, r.do(t, http.MethodGet, "/v1/clusters/prod/runs", token, ""))
	if diff := cmp.Diff(view.Runs{Items: []view.Run{{ID: "up-1", Action: "Up", Phase: "Running"}}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for query, want := range map[string]string{
		"": "200 first\nsecond\n", "?tailLines=1": "200 second\n", "?run=up-1&tailLines=0": "200 ",
		"?run=other": "404", "?tailLines=-2": "422", "?run=" + strings.Repeat("x", 64): "422",
	} {
		answered := r.do(t, http.MethodGet, "/v1/clusters/prod/log"+query, token, "")
		if said := fmt.Sprintf("%d %s", answered.status, answered.body); !strings.HasPrefix(said, want) || answered.status == 200 && said != want {
			t.Errorf("%s: %q, want %q", query, said, want)
		}
	}
	followed := r.followText(t, "/v1/clusters/prod/log?follow=true", token)
	var lines []string
	for followed.Scan() {
		lines = append(lines, followed.Text())
		switch len(lines) {
		case 2:
			hosts.add(provision.Running, "third")
		case 3:
			hosts.add(provision.Succeeded, "fourth")
		}
	}
	if diff := cmp.Diff([]string{"first", "second", "third", "fourth"}, lines); diff != "" {
		t.Errorf("lines of a run that is followed (-want +got):\n%s", diff)
	}
}

// TestAttackRunsOfOthers asks for runs and logs with every right but the one to them.
func TestAttackRunsOfOthers(t *testing.T) {
	t.Parallel()
	hosts := &runningHosts{run: provision.Run{ID: "up-1", Action: provision.Up, Phase: provision.Running, Log: "first\n"}}
	r := newRig(t, func(o *Options) { o.Hosts = hosts })
	one := readsRuns()
	one.ResourceNames = []string{"other"}
	for who, c := range map[string]struct {
		token string
		want  int
	}{
		"nobody":                                 {"", 401},
		"somebody who writes Clusters":           {r.user(t, "", rule("*", "clusterprovisioner.rke.io", "clusters", "clusters/status")), 403},
		"somebody who reads logs of pods":        {r.user(t, "", rule("get", "", "pods/log")), 403},
		"somebody who reads those of another":    {r.user(t, "", one), 403},
		"somebody with the right in a namespace": {r.user(t, r.Namespace(t), readsRuns()), 403},
	} {
		for _, part := range []string{"runs", "log", "log?follow=true", "log?run=up-1"} {
			if got := r.do(t, http.MethodGet, "/v1/clusters/prod/"+part, c.token, ""); got.status != c.want || strings.Contains(string(got.body), "first") {
				t.Errorf("%s gets %d of %s, want %d: %s", who, got.status, part, c.want, got.body)
			}
		}
	}
	home := r.Namespace(t)
	token := r.token(t, home, "user")
	right := r.grant(t, home, "", readsRuns())
	followed := r.followText(t, "/v1/clusters/prod/log?follow=true", token)
	if !followed.Scan() {
		t.Fatal(followed.Err())
	}
	must(t, r.Live.Delete(t.Context(), right))
	for followed.Scan() { // until it ends, although the run goes on
		t.Errorf("without the right there is %q", followed.Text())
	}
}
