// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/machine"
)

func TestMachineHosts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		conf config.Machines
		env  map[string]string
		file string
		want []string
		err  string
	}{
		"docker is where the environment says": {
			conf: config.Machines{Driver: "docker"}, env: map[string]string{"DOCKER_HOST": "tcp://rack:2375"},
			want: []string{"default docker tcp://rack:2375"},
		},
		"docker is here where it says nothing": {
			conf: config.Machines{Driver: "docker"}, want: []string{"default docker unix:///var/run/docker.sock"},
		},
		"libvirt is here":            {conf: config.Machines{Driver: "libvirt"}, want: []string{"default libvirt qemu:///system"}},
		"a simulated one is nowhere": {conf: config.Machines{Driver: "simulated"}, want: []string{"default simulated simulated://"}},
		"a file lists them all": {
			conf: config.Machines{Driver: "docker", Hosts: "hosts"},
			file: "hosts: [{name: b, driver: simulated, endpoint: 'simulated://'}, {name: a, driver: simulated, endpoint: 'simulated://'}]",
			want: []string{"a simulated simulated://", "b simulated simulated://"},
		},
		"a file that is not there": {
			conf: config.Machines{Hosts: "hosts"}, err: "cannot read the file of --vm-hosts",
		},
		"a host with an invalid name": {conf: config.Machines{Hosts: "hosts"}, file: "hosts: [{name: A}]", err: "cannot use the hosts file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts, err := machineHosts(&test.conf, func(key string) string { return test.env[key] }, func(string) ([]byte, error) {
				if test.file == "" {
					return nil, fs.ErrNotExist
				}
				return []byte(test.file), nil
			})
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("got %v, want an error with %q", err, test.err)
			}
			var got []string
			for _, host := range hosts {
				got = append(got, host.Name+" "+host.Driver+" "+host.Endpoint)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpenDriverKnowsWhatThereIs(t *testing.T) {
	t.Parallel()
	driver, err := openDriver(t.Context(), machine.Host{Name: "a", Driver: machine.DriverSimulated, Endpoint: "simulated://"})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := driver.Info(t.Context()); err != nil || info.Driver != machine.DriverSimulated {
		t.Errorf("got %+v, %v", info, err)
	}
	for name, endpoint := range map[string]string{"docker": "unix:///run/docker.sock", "libvirt": "qemu:///system"} {
		driver, err := openDriver(t.Context(), machine.Host{Name: "a", Driver: name, Endpoint: endpoint})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := driver.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := openDriver(t.Context(), machine.Host{Name: "a", Driver: "xen"}); err == nil {
		t.Error("an unknown driver was opened")
	}
}
