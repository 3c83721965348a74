// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// behind returns a driver whose engine is asked through a proxy, which answers what it can by itself.
func behind(t *testing.T, daemon *dockertest.Daemon, answers func(w http.ResponseWriter, r *http.Request) bool) machine.Driver {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = daemon.RoundTripper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answers(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return open(t, machine.Host{Name: "behind", Endpoint: "tcp://" + server.Listener.Addr().String()})
}

// runTwo runs two machines of one installation, and returns the container of the first as well.
func runTwo(t *testing.T, direct machine.Driver, api *client.Client) (one, other machine.Spec, container string) {
	t.Helper()
	one, other = specOf(newIdentity()), specOf(newIdentity())
	other.Installation = one.Installation
	run(t, direct, one)
	run(t, direct, other)
	return one, other, containerOf(t, api, one.Identity)
}

// A container that ended while its counters were read took those of all others with it: its host counted as unreachable.
func TestContainerThatEndsTakesTheCountersOfOthers(t *testing.T) {
	t.Parallel()
	daemon, direct, api := shared(t)
	ends, other, ending := runTwo(t, direct, api)
	driver := behind(t, daemon, func(w http.ResponseWriter, r *http.Request) bool {
		ended := strings.HasSuffix(r.URL.Path, "/containers/"+ending+"/stats")
		if ended {
			w.WriteHeader(http.StatusOK) // and nothing else, as the engine does
		}
		return ended
	})
	samples, err := driver.Stats(t.Context(), ends.Installation)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{other.UID}, slices.Collect(maps.Keys(samples))); diff != "" {
		t.Errorf("machines with counters (-want +got):\n%s", diff)
	}
}

// A container of which the engine said nothing kept its host from every list and all counters: it got no machines, and none of its machines had usage.
func TestContainerThatHangsKeepsOthersFromBeingListed(t *testing.T) {
	t.Parallel()
	daemon, direct, api := shared(t)
	hangs, other, silent := runTwo(t, direct, api)
	driver := behind(t, daemon, func(_ http.ResponseWriter, r *http.Request) bool {
		hung := strings.HasSuffix(r.URL.Path, "/containers/"+silent+"/json")
		if hung {
			<-r.Context().Done()
		}
		return hung
	})
	list, err := driver.List(t.Context(), hangs.Installation)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range list {
		got = append(got, fmt.Sprintf("%s of %s silent=%t", one.NativeName, one.Namespace, one.Silent))
	}
	want := []string{hangs.Name + " of default silent=true", other.Name + " of default silent=false"}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machines (-want +got):\n%s", diff)
	}
	samples, err := driver.Stats(t.Context(), hangs.Installation)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{other.UID}, slices.Collect(maps.Keys(samples))); diff != "" {
		t.Errorf("machines with counters (-want +got):\n%s", diff)
	}
}
