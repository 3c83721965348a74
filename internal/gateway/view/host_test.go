// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHostsOf(t *testing.T) {
	t.Parallel()
	machine := func(state HealthState, raw string) *Item {
		return &Item{Name: "vm", Health: Health{State: state}, JSON: []byte(raw)}
	}
	on := func(driver, host, resource string) string {
		return `{"spec":{"resource":{` + resource + `}},"status":{"reason":"dial tcp 192.0.2.1","server":{"driver":"` + driver + `","host":"` + host +
			`","addresses":["192.0.2.7"]}}}`
	}
	for name, c := range map[string]struct {
		machines []*Item
		want     HostList
	}{
		"no machines":                  {nil, HostList{Hosts: []Host{}}},
		"a machine that has no status": {[]*Item{machine(HealthPending, `{"spec":{}}`)}, HostList{Unplaced: 1, Hosts: []Host{}}},
		"sums, in the order of names": {
			[]*Item{
				machine(HealthReady, on("libvirt", "b", `"cpu":"2","memory":"4Gi","rootDisk":"40Gi"`)),
				machine(HealthReady, on("docker", "a", `"cpu":"100m","memory":"1Gi"`)),
				machine(HealthFailed, on("docker", "a", `"cpu":"200m","memory":"1Gi"`)),
				machine(HealthPending, on("docker", "a", `"cpu":1`)),
			},
			HostList{Hosts: []Host{
				{Name: "a", Driver: "docker", Machines: 3, Ready: 1, Pending: 1, Failed: 1, Unsized: 1, Requested: HostResources{1.3, 2 << 30, 0}},
				{Name: "b", Driver: "libvirt", Machines: 1, Ready: 1, Requested: HostResources{2, 4 << 30, 40 << 30}},
			}},
		},
		"one that can still move": {
			[]*Item{machine(HealthPending, `{"status":{"server":{"host":"a","driver":"docker","tentative":true}}}`)},
			HostList{Hosts: []Host{{Name: "a", Driver: "docker", Machines: 1, Pending: 1, Tentative: 1, Unsized: 1}}},
		},
		"two drivers that claim one name": {
			[]*Item{machine(HealthReady, on("libvirt", "a", `"cpu":1,"memory":1`)), machine(HealthReady, on("docker", "a", `"cpu":1,"memory":1`))},
			HostList{Hosts: []Host{
				{Name: "a", Driver: "docker", Machines: 1, Ready: 1, Requested: HostResources{1, 1, 0}},
				{Name: "a", Driver: "libvirt", Machines: 1, Ready: 1, Requested: HostResources{1, 1, 0}},
			}},
		},
		"sizes without end": {
			[]*Item{
				machine(HealthReady, on("docker", "a", `"cpu":1,"memory":"9223372036854775807"`)),
				machine(HealthReady, on("docker", "a", `"cpu":1,"memory":"9223372036854775807"`)),
			},
			HostList{Hosts: []Host{{Name: "a", Driver: "docker", Machines: 2, Ready: 2, Requested: HostResources{2, math.MaxInt64, 0}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := HostsOf(c.machines)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := HostsOf([]*Item{machine(HealthReady, `{"spec":{"resource":{"cpu":"many"}}}`)}); err == nil {
		t.Error("a size that is no number is counted")
	}
}
