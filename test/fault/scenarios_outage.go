// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

const (
	// outage is how long the API server is away: long enough for what backs off to rest for most of a minute.
	outage = 25 * time.Second
	// back bounds how long anything may rest after the API server is ready again. It should be two seconds; a busy machine gets more.
	back = 10 * time.Second
)

// outageScenarios let the API server be away for longer than most programs bear without backing off.
func outageScenarios() []scenario {
	a := &away{}
	return []scenario{{
		name: "outage/api-server", alone: true, setUp: a.setUp,
		args: []string{"--leader-elect=false"}, // a leader ends after ten seconds, and then it is the start of a process that is measured
		given: append([]step{nodes("a")}, apply(pod("one", "app: web")), until("pods/default/one", ".status.phase=Running"),
			apply(pod("two", "app: later")), until("pods/default/two", ".status.phase=Running")),
		before: []step{
			apply(pool("red", allRed), podSet("size: 1"), `apiVersion: apps.jicki.cn/v1alpha1
kind: PodBuggerTool
metadata: {name: shell, namespace: default}
spec: {label: app=web, image: example.com/shell, maxPods: 10}
`),
			ready("red", 1), until("podsets/default/web", "Ready=True"), until("pods/default/one", ".spec.ephemeralContainers#=1"),
		},
		steps: []step{
			{"let the API server be away", a.run},
			// The cluster's own controllers rest for longer, and until they have made the pod the PodSet has something to report.
			until("podsets/default/web", "Ready=True", ".status.availableReplicas=2"),
		},
	}}
}

// away is a run with the HTTP API beside the controllers.
type away struct {
	address, session string
}

func (a *away) setUp(s *stage) (func() error, error) {
	var err error
	a.address, err = rig.FreeAddress(context.Background())
	a.session = s.file("session")
	s.args = append(s.args, "--gateway-bind-address", a.address, "--gateway-session-file", a.session)
	return func() error { return nil }, err
}

// run kills the API server, and changes something for each part of Windlass as soon as it answers again.
func (a *away) run(ctx context.Context, s *stage) error {
	if err := s.signalComponent(apiServer, kill); err != nil {
		return err
	}
	if err := pause(outage).do(ctx, s); err != nil {
		return err
	}
	healed := make(chan error, 1)
	go func() { healed <- s.heal(ctx) }()
	err := s.await(ctx, func(ctx context.Context) error {
		return s.Client.Get(ctx, client.ObjectKey{Name: "a"}, &corev1.Node{})
	})
	for _, change := range []step{
		merge(redPool, `{"spec":{"labels":{"example.com/red":"2"}}}`),
		merge("podsets/default/web", `{"spec":{"size":2}}`),
		merge("pods/default/two", `{"metadata":{"labels":{"app":"web"}}}`),
	} {
		if err == nil {
			err = change.do(ctx, s)
		}
	}
	if err != nil {
		return errors.Join(err, <-healed)
	}
	// It answers an administrator before it has read anybody else's rights, and refuses all others until then.
	if err := s.awaitAPIServer(ctx); err != nil {
		return errors.Join(err, <-healed)
	}
	ctx, cancel := context.WithTimeout(ctx, back)
	defer cancel()
	for _, want := range []step{
		until("nodes/a", `.metadata.labels.example\.com/red=2`),
		until("deployments.apps/default/web", ".spec.replicas=2"),
		until("pods/default/two", ".spec.ephemeralContainers#=1"),
		{"wait until the HTTP API shows the change", a.shows},
	} {
		if missed := want.do(ctx, s); missed != nil {
			err = errors.Join(err, fmt.Errorf("not within %s after the API server was ready again: %s: %w", back, want.name, missed))
		}
	}
	return errors.Join(err, <-healed)
}

// awaitAPIServer waits until the API server says that it is ready.
func (s *stage) awaitAPIServer(ctx context.Context) error {
	server, err := discovery.NewDiscoveryClientForConfig(s.Config)
	if err != nil {
		return fmt.Errorf("cannot make a client for the state of the API server: %w", err)
	}
	return s.await(ctx, func(ctx context.Context) error {
		return server.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// shows waits until the HTTP API has the label that the pool got after the outage.
func (a *away) shows(ctx context.Context, s *stage) error {
	raw, err := os.ReadFile(a.session)
	if err != nil {
		return fmt.Errorf("cannot read the session: %w", err)
	}
	_, secret, _ := strings.Cut(strings.TrimSpace(string(raw)), "session=")
	return s.await(ctx, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+"/v1/nodepools", http.NoBody)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+secret)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err == nil && !strings.Contains(string(body), `"example.com/red":"2"`) {
			err = fmt.Errorf("status %d: %.500s", response.StatusCode, body)
		}
		return err
	})
}
