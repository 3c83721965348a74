// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/why"
)

// filled is a node or a pool, and what pods request of it, for programs.
type filled struct {
	Name string `json:"name"`
	// Nodes of a pool.
	Nodes int `json:"nodes,omitempty"`
	// Allocatable is what pods may request, and Requested what they do; nil if the caller may not list all pods.
	Allocatable corev1.ResourceList `json:"allocatable"`
	Requested   corev1.ResourceList `json:"requested,omitempty"`
	// Used is what nodes really use, as metrics.k8s.io says; nil where nobody knows.
	Used corev1.ResourceList `json:"used,omitempty"`
}

// topNodes ranks nodes by the CPU that pods request of them.
func (p *plugin) topNodes(ctx context.Context, reached *cluster) (*ranking, error) {
	nodes, err := reached.nodes(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := reached.takenOf(ctx)
	if err != nil {
		return nil, err
	}
	items := []filled{}
	for i := range nodes {
		name := nodes[i].Name
		items = append(items, filled{Name: name, Allocatable: nodes[i].Status.Allocatable, Requested: taken.of(name), Used: taken.used[name]})
	}
	return rankedFilled(items, false, taken), nil
}

// topPools ranks pools by the CPU that pods request of their members.
func (p *plugin) topPools(ctx context.Context, reached *cluster) (*ranking, error) {
	pools, page := []nodesv1.NodePool{}, &nodesv1.NodePoolList{}
	if err := reached.listAll(ctx, page, func() { pools = append(pools, page.Items...) }, ""); err != nil {
		return nil, err
	}
	nodes, err := reached.nodes(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := reached.takenOf(ctx)
	if err != nil {
		return nil, err
	}
	items := []filled{}
	for i := range pools {
		item := filled{Name: pools[i].Name, Allocatable: corev1.ResourceList{}}
		if taken.known {
			item.Requested = corev1.ResourceList{}
		}
		if taken.used != nil {
			item.Used = corev1.ResourceList{}
		}
		for j := range nodes {
			if membership.HasJoined(&nodes[j], pools[i].Name) {
				item.Nodes++
				addTo(item.Allocatable, nodes[j].Status.Allocatable)
				addTo(item.Requested, taken.of(nodes[j].Name))
				addTo(item.Used, taken.used[nodes[j].Name])
			}
		}
		items = append(items, item)
	}
	return rankedFilled(items, true, taken), nil
}

// rankedFilled orders by the share of the CPU that is requested, and makes the table.
func rankedFilled(items []filled, pools bool, taken *taken) *ranking {
	slices.SortFunc(items, func(a, b filled) int {
		return cmp.Or(cmp.Compare(b.percent(corev1.ResourceCPU), a.percent(corev1.ResourceCPU)), cmp.Compare(a.Name, b.Name))
	})
	out := &ranking{items: items, unseen: taken.unseen, table: &table{columns: []column{{title: "NAME"}}}}
	if pools {
		out.table.columns = append(out.table.columns, column{title: "NODES", spare: 5})
	}
	out.table.columns = append(out.table.columns, column{title: "CPU", spare: 4}, column{title: "CPU%"}, column{title: "MEMORY", spare: 3},
		column{title: "MEMORY%", spare: 7}, column{title: "PODS", spare: 1}, column{title: "PODS%", spare: 2})
	if taken.used != nil {
		out.table.columns = append(out.table.columns, column{title: "CPU USED", spare: 8}, column{title: "MEMORY USED", spare: 6})
	}
	for i := range items {
		out.names = append(out.names, items[i].Name)
		cells := plain(items[i].Name)
		if pools {
			cells = append(cells, cell{text: strconv.Itoa(items[i].Nodes)})
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
			cells = append(cells, items[i].cells(name)...)
		}
		if taken.used != nil {
			cells = append(cells, items[i].used(corev1.ResourceCPU), items[i].used(corev1.ResourceMemory))
		}
		out.table.add(cells...)
	}
	return out
}

// used is what is really used of a resource, and its share.
func (f *filled) used(name corev1.ResourceName) cell {
	amount, known := f.Used[name]
	allocatable := f.Allocatable[name]
	if !known || allocatable.IsZero() {
		return cell{text: "-"}
	}
	out := share(100 * amount.AsApproximateFloat64() / allocatable.AsApproximateFloat64())
	if name == corev1.ResourceCPU { // which is measured in billionths of a core
		amount = *resource.NewMilliQuantity(amount.MilliValue(), resource.DecimalSI)
	}
	out.text = amountOf(name, amount) + " (" + out.text + ")"
	return out
}

// percent is the share of a resource that is requested; -1 if nobody knows.
func (f *filled) percent(name corev1.ResourceName) float64 {
	allocatable := f.Allocatable[name]
	requested := f.Requested[name]
	if f.Requested == nil || allocatable.IsZero() {
		return -1
	}
	return 100 * requested.AsApproximateFloat64() / allocatable.AsApproximateFloat64()
}

// cells are what is requested of what is allocatable, and its share.
func (f *filled) cells(name corev1.ResourceName) []cell {
	allocatable, requested := f.Allocatable[name], "-"
	if f.Requested != nil {
		requested = amountOf(name, f.Requested[name])
	}
	text := cell{text: requested + " of " + amountOf(name, allocatable)}
	if percent := f.percent(name); percent >= 0 {
		return []cell{text, share(percent)}
	}
	return []cell{text, {text: "-"}}
}

func amountOf(name corev1.ResourceName, amount resource.Quantity) string {
	if name == corev1.ResourceMemory {
		return bytesOf(amount.Value())
	}
	return amount.String()
}

// taken is what pods request of nodes, and what the nodes use.
type taken struct {
	// known is false if the caller may not list all pods.
	known  bool
	byNode map[string]corev1.ResourceList
	// used is what nodes really use, nil where nobody knows.
	used map[string]corev1.ResourceList
	// unseen are parts of sentences: what could not be counted.
	unseen []string
}

// of returns what pods request of a node, nil if that is not known.
func (t *taken) of(node string) corev1.ResourceList {
	if !t.known {
		return nil
	}
	if found := t.byNode[node]; found != nil {
		return found
	}
	return corev1.ResourceList{}
}

// takenOf adds up what pods request, page by page, and says so if the caller may not see all pods.
func (c *cluster) takenOf(ctx context.Context) (*taken, error) {
	active := fields.AndSelectors(
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)), fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
		fields.OneTermNotEqualSelector("spec.nodeName", ""))
	out := &taken{known: true, byNode: map[string]corev1.ResourceList{}}
	page := &corev1.PodList{}
	err := c.listAll(ctx, page, func() {
		for i := range page.Items {
			spec := &page.Items[i].Spec
			if out.byNode[spec.NodeName] == nil {
				out.byNode[spec.NodeName] = corev1.ResourceList{}
			}
			addTo(out.byNode[spec.NodeName], why.Requests(spec))
		}
	}, "", client.MatchingFieldsSelector{Selector: active})
	because, err := unseen(err, "pods in all namespaces")
	if err != nil {
		return nil, err
	}
	if because != "" {
		out.known, out.unseen = false, append(out.unseen, "what pods request: "+because)
	}
	if out.used, because, err = c.usedByNode(ctx); because != "" {
		out.unseen = append(out.unseen, because)
	}
	return out, err
}

// nodes returns all nodes.
func (c *cluster) nodes(ctx context.Context) ([]corev1.Node, error) {
	all, page := []corev1.Node{}, &corev1.NodeList{}
	err := c.listAll(ctx, page, func() { all = append(all, page.Items...) }, "")
	return all, err
}

// addTo adds resources to a sum, unless there is none.
func addTo(sum, more corev1.ResourceList) {
	if sum == nil {
		return
	}
	for name, quantity := range more {
		total := sum[name]
		total.Add(quantity)
		sum[name] = total
	}
}
