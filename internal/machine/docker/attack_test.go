// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The name of an image made the engine ask any service on its loopback address.
func TestAttackAnImageNamesAServiceOfTheHost(t *testing.T) {
	t.Parallel()
	daemon, driver, _ := shared(t)
	var asked atomic.Int64
	service := serve(t, daemon, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	_, port, _ := strings.Cut(service, ":")
	for _, host := range []string{
		service, "localhost:" + port, "a.localhost:" + port, "LOCALHOST:" + port, "127.0.0.2:" + port, "127.1:" + port, "0x7f.1:" + port,
		"2130706433:" + port, "0.0.0.0:" + port, "[::1]:" + port, "[::ffff:127.0.0.1]:" + port, "169.254.169.254", "[fe80::1]:" + port,
	} {
		spec := specOf(newIdentity())
		spec.Image.Name = host + "/latest/meta-data"
		if err := driver.Prepare(t.Context(), spec); !errors.Is(err, machine.ErrNotAllowed) && !errors.Is(err, machine.ErrInvalid) {
			t.Errorf("Prepare of %q returned %v, want %v", spec.Image.Name, err, machine.ErrNotAllowed)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the service was asked %d times", n)
	}
	only := daemon.Host()
	only.Containers.Registries = []string{"registry.example:5000"}
	spec := specOf(newIdentity())
	spec.Image.Name = "docker.io/library/never-there:1"
	if err := open(t, only).Prepare(t.Context(), spec); !errors.Is(err, machine.ErrNotAllowed) {
		t.Errorf("Prepare from a registry that is not on the list returned %v, want %v", err, machine.ErrNotAllowed)
	}
}

// What a server answered that was no registry was in the status.
func TestAttackTheAnswerOfAServerIsReadBack(t *testing.T) {
	t.Parallel()
	daemon, _, _ := shared(t)
	const secret = "s3cret-of-the-service"
	for name, answer := range map[string]http.HandlerFunc{
		"as a page":         func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, secret) },
		"as an error":       func(w http.ResponseWriter, _ *http.Request) { http.Error(w, secret, http.StatusInternalServerError) },
		"as something gone": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, secret, http.StatusNotFound) },
		"as a refusal":      func(w http.ResponseWriter, _ *http.Request) { http.Error(w, secret, http.StatusForbidden) },
		"as a bad request":  func(w http.ResponseWriter, _ *http.Request) { http.Error(w, secret, http.StatusBadRequest) },
		"as a redirection":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/"+secret, http.StatusFound) },
		"as a challenge": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", secret)
			w.WriteHeader(http.StatusUnauthorized)
		},
		"in a registry's way": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"errors":[{"code":"DENIED","message":%q}]}`, secret)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := serve(t, daemon, answer)
			spec := specOf(newIdentity())
			spec.Image.Name = host + "/library/nginx:1.17.4"
			err := fetching(t, daemon, host).Prepare(t.Context(), spec)
			if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), host) {
				t.Errorf("Prepare returned %v, want an error with the name of the image and without the answer", err)
			}
		})
	}
}

// Anyone could publish any port on any address of the host.
func TestAttackAPortIsPublishedToTheNetwork(t *testing.T) {
	t.Parallel()
	daemon, driver, _ := shared(t)
	network := daemon.Host()
	network.Containers.Ports = machine.PortPolicy{Addresses: []netip.Addr{netip.MustParseAddr("0.0.0.0")}, First: 30000, Last: 30999}
	wide := open(t, network)
	for name, test := range map[string]struct {
		driver machine.Driver
		port   machine.Port
		want   error
	}{
		"on all addresses":                   {driver, machine.Port{Port: 80, HostIP: "0.0.0.0"}, machine.ErrNotAllowed},
		"on all IPv6 addresses":              {driver, machine.Port{Port: 80, HostIP: "::"}, machine.ErrNotAllowed},
		"on an address of the network":       {driver, machine.Port{Port: 80, HostIP: "192.0.2.1"}, machine.ErrNotAllowed},
		"on a port of the system":            {driver, machine.Port{Port: 80, HostPort: 443}, machine.ErrNotAllowed},
		"on a port that the host chooses":    {driver, machine.Port{Port: 80}, nil},
		"as the host allows":                 {wide, machine.Port{Port: 80, HostIP: "0.0.0.0", HostPort: 30001}, nil},
		"on a port that it does not allow":   {wide, machine.Port{Port: 80, HostIP: "0.0.0.0", HostPort: 31000}, machine.ErrNotAllowed},
		"on a family that it does not allow": {wide, machine.Port{Port: 80, HostIP: "::1"}, machine.ErrNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(newIdentity())
			spec.Ports = []machine.Port{test.port}
			if _, err := test.driver.Create(t.Context(), spec); !errors.Is(err, test.want) {
				t.Errorf("Create returned %v, want %v", err, test.want)
			}
		})
	}
}
