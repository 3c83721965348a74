// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
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
}

func confinementOf(t *testing.T, host *container.HostConfig) confinement {
	t.Helper()
	out := confinement{Security: host.SecurityOpt, Log: host.LogConfig.Config}
	if host.PidsLimit != nil {
		out.Pids = *host.PidsLimit
	}
	return out
}

// A container could fork without end, fill the disk of its host with what it wrote, and use setuid programs.
func TestContainersAreConfined(t *testing.T) {
	t.Parallel()
	daemon, _, api := shared(t)
	for name, test := range map[string]struct {
		policy machine.ContainerPolicy
		want   confinement
	}{
		"by default": {
			want: confinement{
				Security: []string{"no-new-privileges"}, Pids: 4096, Log: map[string]string{"max-size": "10485760", "max-file": "3"},
			},
		},
		"as the host says": {
			policy: machine.ContainerPolicy{AllowPrivilegeEscalation: true, MaxProcesses: 100, MaxLogBytes: 300},
			want:   confinement{Pids: 100, Log: map[string]string{"max-size": "100", "max-file": "3"}},
		},
		"not at all": {
			policy: machine.ContainerPolicy{AllowPrivilegeEscalation: true, MaxProcesses: -1, MaxLogBytes: -1},
			want:   confinement{Log: map[string]string{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := daemon.Host()
			host.Containers = test.policy
			driver, spec := open(t, host), specOf(newIdentity())
			got := confinementOf(t, inspect(t, api, run(t, driver, spec).ID).HostConfig)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if now := get(t, driver, spec.Identity); now.State != machine.StateRunning {
				t.Errorf("the machine is %+v, want it to run", now)
			}
		})
	}
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
