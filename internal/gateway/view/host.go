// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
)

// HostList is what machines tell of their hosts.
type HostList struct {
	// Complete is true if the caller may list all machines.
	Complete bool `json:"complete" doc:"Whether all machines are counted: false if you cannot list virtualmachines in all namespaces. Then hosts can be missing, and have more machines"`
	// Unplaced machines have no host yet.
	Unplaced int `json:"unplaced" doc:"Machines that have no host yet"`
	// Hosts that have machines.
	Hosts []Host `json:"hosts" nullable:"false" doc:"Hosts with a machine, by name and driver"`
}

// Host is a host of machines, as far as they tell.
type Host struct {
	// Name and Driver of the host.
	Name   string `json:"name" doc:"Name, as in the configuration of the manager" example:"local"`
	Driver string `json:"driver" doc:"Driver of its machines" example:"docker"`
	// Machines that it has.
	Machines int `json:"machines" doc:"Machines that it has, whether they are on or off"`
	// Ready, Pending and Failed are the machines in that state.
	Ready   int `json:"ready" doc:"Machines that are as they are declared"`
	Pending int `json:"pending" doc:"Machines that are not yet"`
	Failed  int `json:"failed" doc:"Machines that do not work"`
	// Tentative machines can still move.
	Tentative int `json:"tentative" doc:"Machines of which nothing was created yet, so that they can still move to another host"`
	// Requested is the sum of the sizes of its machines.
	Requested HostResources `json:"requested" doc:"Sum of the sizes of its machines, as their specs declare them"`
	// Unsized machines are those that the sum lacks.
	Unsized int `json:"unsized" doc:"Machines without a size for their processors or their memory, which nothing limits"`
}

// HostResources are sizes of machines.
type HostResources struct {
	CPUCores      float64 `json:"cpuCores" doc:"Processors" example:"2.5"`
	MemoryBytes   int64   `json:"memoryBytes" doc:"Memory in bytes"`
	RootDiskBytes int64   `json:"rootDiskBytes" doc:"Root disks in bytes"`
}

// placed is the part of a VirtualMachine that tells of its host.
type placed struct {
	Spec struct {
		Resource corev1.ResourceList `json:"resource"`
	} `json:"spec"`
	Status struct {
		Server struct {
			Driver    string `json:"driver"`
			Host      string `json:"host"`
			Tentative bool   `json:"tentative"`
		} `json:"server"`
	} `json:"status"`
}

// HostsOf sums up machines by their hosts.
func HostsOf(machines []*Item) (*HostList, error) {
	type key struct{ name, driver string }
	hosts := map[key]*Host{}
	out := &HostList{Hosts: []Host{}}
	for _, item := range machines {
		var of placed
		if err := json.Unmarshal(item.JSON, &of); err != nil {
			return nil, fmt.Errorf("cannot read VirtualMachine %q: %w", item.Key(), err)
		}
		at := of.Status.Server
		if at.Host == "" {
			out.Unplaced++
			continue
		}
		host := hosts[key{at.Host, at.Driver}]
		if host == nil {
			host = &Host{Name: at.Host, Driver: at.Driver}
			hosts[key{at.Host, at.Driver}] = host
		}
		host.add(item.Health.State, of.Spec.Resource)
		if at.Tentative {
			host.Tentative++
		}
	}
	for _, host := range slices.SortedFunc(maps.Values(hosts), func(a, b *Host) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Driver, b.Driver))
	}) {
		out.Hosts = append(out.Hosts, *host)
	}
	return out, nil
}

// add counts a machine of the host.
func (h *Host) add(state HealthState, size corev1.ResourceList) {
	h.Machines++
	switch state {
	case HealthFailed:
		h.Failed++
	case HealthPending:
		h.Pending++
	default:
		h.Ready++
	}
	cpu, cpuSized := size[cloudnativev1alpha1.ResourceCPU]
	memory, memorySized := size[cloudnativev1alpha1.ResourceMemory]
	disk := size[cloudnativev1alpha1.ResourceRootDisk]
	if !cpuSized || !memorySized {
		h.Unsized++
	}
	const milli = 1000
	cores := math.Round(h.Requested.CPUCores*milli) + float64(cpu.MilliValue())
	h.Requested.CPUCores = cores / milli
	h.Requested.MemoryBytes = plus(h.Requested.MemoryBytes, memory.Value())
	h.Requested.RootDiskBytes = plus(h.Requested.RootDiskBytes, disk.Value())
}

// plus adds sizes, which are not negative, up to the largest number there is.
func plus(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
