// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// confinement is how a container is confined.
type confinement struct {
	Security []string
	Pids     int64
	Log      map[string]string
	// Drop and Add are the capabilities that are taken and given.
	Drop, Add []string
}

func confinementOf(t *testing.T, host *container.HostConfig) confinement {
	t.Helper()
	out := confinement{Security: host.SecurityOpt, Log: host.LogConfig.Config, Drop: host.CapDrop, Add: host.CapAdd}
	if host.PidsLimit != nil {
		out.Pids = *host.PidsLimit
	}
	return out
}

// A container could fork without end, fill the disk of its host with what it wrote, use setuid programs, and forge packets.
func TestContainersAreConfined(t *testing.T) {
	t.Parallel()
	daemon, _, api := shared(t)
	all := []string{"ALL"}
	for name, test := range map[string]struct {
		policy machine.ContainerPolicy
		want   confinement
	}{
		"by default": {
			want: confinement{
				Security: []string{"no-new-privileges"}, Pids: 4096, Log: map[string]string{"max-size": "10485760", "max-file": "3"},
				Drop: all, Add: []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"},
			},
		},
		"as the host says": {
			policy: machine.ContainerPolicy{AllowPrivilegeEscalation: true, MaxProcesses: 100, MaxLogBytes: 300, Capabilities: []string{"NET_RAW"}},
			want:   confinement{Pids: 100, Log: map[string]string{"max-size": "100", "max-file": "3"}, Drop: all, Add: []string{"NET_RAW"}},
		},
		"not at all": {
			policy: machine.ContainerPolicy{AllowPrivilegeEscalation: true, MaxProcesses: -1, MaxLogBytes: -1, Capabilities: []string{}},
			want:   confinement{Log: map[string]string{}, Drop: all},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := daemon.Host()
			host.Containers = test.policy
			driver, spec := open(t, host), specOf(newIdentity())
			got := confinementOf(t, inspect(t, api, run(t, driver, spec).ID).HostConfig)
			if diff := cmp.Diff(test.want, got, capabilities()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if now := get(t, driver, spec.Identity); now.State != machine.StateRunning {
				t.Errorf("the machine is %+v, want it to run", now)
			}
		})
	}
}

// capabilities compares lists of capabilities, which engines sort and spell in several ways.
func capabilities() cmp.Option {
	return cmp.FilterPath(func(path cmp.Path) bool { return path.String() == "Add" }, cmp.Transformer("names", func(names []string) string {
		plain := make([]string, 0, len(names))
		for _, name := range names {
			plain = append(plain, strings.TrimPrefix(name, "CAP_"))
		}
		slices.Sort(plain)
		return strings.Join(plain, " ")
	}))
}

// An engine that sends its logs elsewhere refuses bounds for files that it does not have.
func TestLogDriverWithoutBoundsIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	daemon := dockertest.Start(t)
	daemon.Kill()
	if err := daemon.Configure(`{"log-driver": "syslog"}`); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	driver, api := open(t, daemon.Host()), clientOf(t, daemon)
	made := create(t, driver, specOf(newIdentity()))
	want := container.LogConfig{Type: "syslog", Config: map[string]string{}}
	if diff := cmp.Diff(want, inspect(t, api, made.ID).HostConfig.LogConfig); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
