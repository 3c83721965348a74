// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
)

// usingMachine is a machine and what it uses, for programs.
type usingMachine struct {
	Namespace string                     `json:"namespace"`
	Name      string                     `json:"name"`
	Phase     cloudnativev1alpha1.Phase  `json:"phase,omitempty"`
	Usage     *cloudnativev1alpha1.Usage `json:"usage,omitempty"`
}

// topMachines ranks the machines of a namespace, or of all, by the cores that they use.
func (p *plugin) topMachines(ctx context.Context, reached *cluster, everywhere bool) (*ranking, error) {
	namespace := reached.namespace
	if everywhere {
		namespace = ""
	}
	items := []usingMachine{}
	page := &cloudnativev1alpha1.VirtualMachineList{}
	err := reached.listAll(ctx, page, func() {
		for i := range page.Items {
			vm := &page.Items[i]
			items = append(items, usingMachine{Namespace: vm.Namespace, Name: vm.Name, Phase: vm.Status.Phase, Usage: usageOf(vm)})
		}
	}, namespace)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(items, func(a, b usingMachine) int {
		return cmp.Or(cmp.Compare(coresOf(b.Usage), coresOf(a.Usage)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	out := &ranking{items: items, table: &table{columns: []column{
		{title: "NAMESPACE", wide: !everywhere, spare: 5},
		{title: "NAME"},
		{title: "PHASE", spare: 4},
		{title: "CPU", spare: 3},
		{title: "CPU%"},
		{title: "MEMORY", spare: 2},
		{title: "MEMORY%"},
		{title: "SAMPLED", spare: 1},
	}}}
	for _, vm := range items {
		out.names = append(out.names, vm.Name)
		cells := append(plain(vm.Namespace, vm.Name, string(vm.Phase)), p.usageCells(vm.Usage)...)
		out.table.add(cells...)
	}
	return out, nil
}

// coresOf is what ranks a machine. One without a figure comes last.
func coresOf(usage *cloudnativev1alpha1.Usage) float64 {
	if usage == nil {
		return -1
	}
	return float64(usage.CPUCores)
}

// usageCells are what a machine uses, in cores, bytes, and percent of its limits.
func (p *plugin) usageCells(usage *cloudnativev1alpha1.Usage) []cell {
	if usage == nil {
		return plain("-", "-", "-", "-", "-")
	}
	sampled := "-"
	if usage.SampledAt != nil {
		sampled = duration.HumanDuration(max(0, p.Now().Sub(usage.SampledAt.Time))) + " ago"
	}
	return []cell{
		{text: fmt.Sprintf("%.2f", float64(usage.CPUCores))},
		share(float64(usage.CPU)),
		{text: bytesOf(usage.MemoryBytes)},
		share(float64(usage.Memory)),
		{text: sampled},
	}
}

// Shares, in percent, from which something is nearly used up.
const tight, full = 75, 90

// share is a cell with a share, in percent.
func share(percent float64) cell {
	how := moodNone
	switch {
	case percent >= full:
		how = moodBad
	case percent >= tight:
		how = moodBusy
	}
	return cell{text: fmt.Sprintf("%.0f%%", percent), how: how}
}

// bytesOf is an amount of memory as people read it.
func bytesOf(amount int64) string {
	const mebi = 1 << 20
	return resource.NewQuantity(amount/mebi*mebi, resource.BinarySI).String()
}

// usageOf returns the last figures of a machine, nil for none.
func usageOf(vm *cloudnativev1alpha1.VirtualMachine) *cloudnativev1alpha1.Usage {
	if vm.Status.Server == nil {
		return nil
	}
	return vm.Status.Server.Usage
}
