// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// slowEngine is a way to an engine that takes its time to make containers, and makes them also for callers that have gone.
type slowEngine struct {
	engine http.RoundTripper
	asked  chan struct{}
	answer chan struct{}
	making sync.WaitGroup
}

// RoundTrip implements http.RoundTripper.
func (s *slowEngine) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/containers/create") {
		return s.engine.RoundTrip(r)
	}
	s.making.Add(1)
	defer s.making.Done()
	close(s.asked)
	<-s.answer
	return s.engine.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
}

// A machine that was deleted while its container was being made was removed before it was there, and stayed.
func TestMachineDeletedWhileItIsMadeLeavesNoContainer(t *testing.T) {
	t.Parallel()
	daemon, direct, _ := shared(t)
	slow := &slowEngine{engine: daemon.RoundTripper(), asked: make(chan struct{}), answer: make(chan struct{})}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = slow
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {} // Its caller has gone.
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	driver := open(t, machine.Host{Name: "slow", Endpoint: "tcp://" + server.Listener.Addr().String()})
	spec := specOf(newIdentity())
	removeAtEnd(t, direct, spec.Identity)
	if err := direct.Prepare(t.Context(), spec); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	removed := make(chan error, 1)
	go func() {
		if _, err := driver.Create(ctx, spec); !errors.Is(err, context.Canceled) {
			t.Errorf("Create returned %v, want %v", err, context.Canceled)
		}
		removed <- driver.Delete(t.Context(), spec.Identity, hard) //nolint:contextcheck // It follows the cancellation.
	}()
	<-slow.asked
	cancel()
	select {
	case err := <-removed:
		t.Errorf("Delete returned %v before the engine had made the container", err)
		removed <- err
	case <-time.After(500 * time.Millisecond): // Time has to pass: Create must not end.
	}
	close(slow.answer)
	if err := <-removed; err != nil {
		t.Errorf("Delete returned %v", err)
	}
	slow.making.Wait()
	if left, err := direct.Get(t.Context(), spec.Identity); !errors.Is(err, machine.ErrNotFound) {
		t.Errorf("%+v is left, and Get returned %v", left, err)
	}
}

// An engine dates a container when it begins to make it, and lists it when it is made. One that came late was the older one then: it was taken for the
// machine, and started beside the one that ran.
func TestContainerThatComesLateTakesThePlaceOfTheOneThatRuns(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	late := create(t, driver, spec)
	found := inspect(t, api, late.ID)
	began, err := time.Parse(time.RFC3339Nano, found.Created)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return time.Now().Unix() > began.Unix() }) // A list tells whole seconds.
	config := found.Config
	config.Labels["cloudnative.tw/incarnation"] = "another"
	made, err := api.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: config, HostConfig: &container.HostConfig{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.ContainerStart(t.Context(), made.ID, client.ContainerStartOptions{}); err != nil {
		t.Fatal(err)
	}
	if found := get(t, driver, spec.Identity); found.ID != made.ID || found.State != machine.StateRunning {
		t.Errorf("the machine is %q in state %s, want %q, which runs", found.ID, found.State, made.ID)
	}
	if err := driver.Stop(t.Context(), spec.Identity, hard); err != nil {
		t.Fatal(err)
	}
	if err := driver.Start(t.Context(), spec.Identity); err != nil {
		t.Fatal(err)
	}
	if only := containerOf(t, api, spec.Identity); only != made.ID {
		t.Errorf("the engine has %q, want %q, which has run", only, made.ID)
	}
}
