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

	"github.com/windlass-operator/windlass/internal/machine"
)

// A container of which the engine said nothing kept its host from every list and all counters: it got no machines, and none of its machines had usage.
func TestContainerThatHangsKeepsOthersFromBeingListed(t *testing.T) {
	t.Parallel()
	daemon, direct, api := shared(t)
	hangs, other := specOf(newIdentity()), specOf(newIdentity())
	other.Installation = hangs.Installation
	run(t, direct, hangs)
	run(t, direct, other)
	silent := containerOf(t, api, hangs.Identity)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = daemon.RoundTripper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/containers/"+silent+"/json") {
			<-r.Context().Done()
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	driver := open(t, machine.Host{Name: "hangs", Endpoint: "tcp://" + server.Listener.Addr().String()})

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
