// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

type items = []clusterprovisionerv1alpha1.ClusterNode

func TestNodesOf(t *testing.T) {
	t.Parallel()
	well := func(name string) node { return node{name: name, ready: metav1.ConditionTrue} }
	machine := func(name, address string) provision.Node { return provision.Node{Name: name, Address: address} }
	for name, test := range map[string]struct {
		machines []provision.Node
		nodes    []node
		unlisted bool
		want     clusterprovisionerv1alpha1.ClusterNodes
	}{
		"nothing is known": {want: clusterprovisionerv1alpha1.ClusterNodes{}},
		"before the nodes were listed it is not known whether a machine has joined": {
			machines: []provision.Node{{Name: "a", Address: "10.0.0.1", Roles: []string{"worker", "etcd"}}}, unlisted: true,
			want: clusterprovisionerv1alpha1.ClusterNodes{Desired: 1, Total: 1, Items: items{
				{Name: "a", Address: "10.0.0.1", Roles: []string{"etcd", "worker"}, Ready: metav1.ConditionUnknown, Reason: "NotProbed"},
			}},
		},
		"a machine that is not a node has not joined": {
			machines: []provision.Node{machine("a", "10.0.0.1"), machine("b", "10.0.0.2")}, nodes: []node{well("a")},
			want: clusterprovisionerv1alpha1.ClusterNodes{Desired: 2, Ready: 1, Total: 2, Items: items{
				{Name: "b", Address: "10.0.0.2", Ready: metav1.ConditionUnknown, Reason: "NotJoined"}, {Name: "a", Ready: metav1.ConditionTrue},
			}},
		},
		"a machine is the node of its name, in whatever letters": {
			machines: []provision.Node{machine("Node-A", "10.0.0.1")}, nodes: []node{well("node-a")},
			want: clusterprovisionerv1alpha1.ClusterNodes{Desired: 1, Ready: 1, Total: 1, Items: items{{Name: "node-a", Ready: metav1.ConditionTrue}}},
		},
		"a machine is the node of its address, if a cloud has named that": {
			machines: []provision.Node{machine("a", "10.0.0.1"), machine("b", "2001:DB8::0:2")},
			nodes: []node{
				{name: "ip-10-0-0-1", address: "10.0.0.1", ready: metav1.ConditionTrue},
				{name: "ip-b", address: "10.0.0.2", external: "2001:db8::2", ready: metav1.ConditionTrue},
			},
			want: clusterprovisionerv1alpha1.ClusterNodes{Desired: 2, Ready: 2, Total: 2, Items: items{
				{Name: "ip-10-0-0-1", Address: "10.0.0.1", Ready: metav1.ConditionTrue}, {Name: "ip-b", Address: "10.0.0.2", Ready: metav1.ConditionTrue},
			}},
		},
		"the node of a machine's name is not another one's by its address": {
			machines: []provision.Node{machine("a", "10.0.0.1"), machine("b", "10.0.0.2")},
			nodes:    []node{{name: "a", address: "10.0.0.2", ready: metav1.ConditionTrue}},
			want: clusterprovisionerv1alpha1.ClusterNodes{Desired: 2, Ready: 1, Total: 2, Items: items{
				{Name: "b", Address: "10.0.0.2", Ready: metav1.ConditionUnknown, Reason: "NotJoined"},
				{Name: "a", Address: "10.0.0.2", Ready: metav1.ConditionTrue},
			}},
		},
		"an address is one machine": {
			machines: []provision.Node{machine("a", "10.0.0.1"), machine("b", "10.0.0.1")},
			nodes:    []node{{name: "x", address: "10.0.0.1", ready: metav1.ConditionTrue}},
			want: clusterprovisionerv1alpha1.ClusterNodes{Desired: 2, Ready: 1, Total: 2, Items: items{
				{Name: "b", Address: "10.0.0.1", Ready: metav1.ConditionUnknown, Reason: "NotJoined"},
				{Name: "x", Address: "10.0.0.1", Ready: metav1.ConditionTrue},
			}},
		},
		"a name is no address": {
			machines: []provision.Node{machine("a", "host-a.example")}, nodes: []node{well("b")},
			want: clusterprovisionerv1alpha1.ClusterNodes{Desired: 1, Ready: 1, Total: 2, Items: items{
				{Name: "a", Address: "host-a.example", Ready: metav1.ConditionUnknown, Reason: "NotJoined"}, {Name: "b", Ready: metav1.ConditionTrue},
			}},
		},
		"what is not ready comes first, and then names": {
			nodes: []node{
				well("a"),
				{name: "b", ready: metav1.ConditionUnknown, reason: "NodeStatusUnknown", since: noon.Unix(), version: "v1.37.1", roles: "etcd,worker"},
				{name: "c", ready: metav1.ConditionTrue, unschedulable: true},
				{name: "d", ready: metav1.ConditionFalse, reason: "KubeletNotReady"},
			},
			want: clusterprovisionerv1alpha1.ClusterNodes{Ready: 2, Total: 4, Items: items{
				{
					Name: "b", Ready: metav1.ConditionUnknown, Reason: "NodeStatusUnknown", Version: "v1.37.1", Roles: []string{"etcd", "worker"},
					Since: new(metav1.NewTime(noon)),
				},
				{Name: "d", Ready: metav1.ConditionFalse, Reason: "KubeletNotReady"},
				{Name: "a", Ready: metav1.ConditionTrue},
				{Name: "c", Ready: metav1.ConditionTrue, Unschedulable: true},
			}},
		},
		"names of machines are bounded, and each is there once": {
			machines: []provision.Node{machine(strings.Repeat("a", 300), "\x1b[2J"), machine(strings.Repeat("a", 301), "")},
			want: clusterprovisionerv1alpha1.ClusterNodes{Desired: 2, Total: 1, Items: items{
				{Name: strings.Repeat("a", 250) + "...", Address: "\ufffd[2J", Ready: metav1.ConditionUnknown, Reason: "NotJoined"},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(&test.want, nodesOf(test.machines, test.nodes, !test.unlisted)); diff != "" {
				t.Errorf("the nodes are not as wanted (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPropertyNodesOf holds, for random machines and nodes, that the list is sorted, bounded and has each name once; that its numbers are those of the
// nodes; and that each machine is a node, or is listed as what it is.
func TestPropertyNodesOf(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 2))
		machines, nodes := randomMachines(random), randomNodes(random)
		listed := random.IntN(5) > 0
		if !listed {
			nodes = nil
		}
		written := nodesOf(machines, nodes, listed)
		problem := wrongWith(written, machines, nodes, listed)
		if diff := cmp.Diff(written, nodesOf(machines, nodes, listed)); problem == "" && diff != "" {
			problem = "a second look says something else: " + diff
		}
		if problem != "" {
			t.Fatalf("seed %d: %s\nmachines %+v\nnodes %+v\nlist %+v", seed, problem, machines, nodes, written)
		}
	}
}

func randomMachines(random *rand.Rand) []provision.Node {
	var machines []provision.Node
	for _, i := range random.Perm(200)[:random.IntN(150)] {
		name := fmt.Sprintf("n-%d", i)
		if random.IntN(4) == 0 {
			name = strings.ToUpper(name)
		}
		machines = append(machines, provision.Node{Name: name, Address: fmt.Sprintf("10.0.0.%d", random.IntN(200))})
	}
	return machines
}

func randomNodes(random *rand.Rand) []node {
	var nodes []node
	for range random.IntN(200) {
		nodes = append(nodes, node{
			name: fmt.Sprintf("n-%d", random.IntN(250)), address: fmt.Sprintf("10.0.0.%d", random.IntN(200)),
			ready: []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}[random.IntN(4)],
		})
	}
	return byName(nodes)
}

// wrongWith returns which property a list does not have.
func wrongWith(written *clusterprovisionerv1alpha1.ClusterNodes, machines []provision.Node, nodes []node, listed bool) string {
	reason := map[bool]string{false: "NotProbed", true: "NotJoined"}[listed]
	ready, missing := 0, 0
	addresses := map[string]bool{}
	for _, each := range nodes {
		addresses[each.address] = true
		if each.ready == metav1.ConditionTrue {
			ready++
		}
	}
	names := map[string]bool{}
	for _, item := range written.Items {
		if names[item.Name] {
			return item.Name + " is there twice"
		}
		names[item.Name] = true
		if isOurs(item.Reason) {
			missing++
			if item.Reason != reason || item.Ready != metav1.ConditionUnknown {
				return item.Name + " is " + string(item.Ready) + " because of " + item.Reason
			}
		}
	}
	is := func(machine provision.Node) bool {
		return slices.ContainsFunc(nodes, func(n node) bool { return strings.EqualFold(n.name, machine.Name) })
	}
	for _, machine := range machines {
		if int(written.Total) <= maxItems && !names[machine.Name] && !is(machine) && !addresses[machine.Address] {
			return machine.Name + " is neither a node nor listed"
		}
	}
	switch {
	case !slices.IsSortedFunc(written.Items, troubleFirst):
		return "it is not sorted"
	case len(written.Items) != min(int(written.Total), maxItems):
		return "it is cut where it need not be, or not cut"
	case int(written.Ready) != ready || int(written.Desired) != len(machines):
		return "its numbers are not those of the nodes and machines"
	case int(written.Total) <= maxItems && int(written.Total) != len(nodes)+missing:
		return "its total is not that of the nodes and of the machines that are not nodes"
	}
	return ""
}

func TestKeep(t *testing.T) {
	t.Parallel()
	ready := func(value corev1.ConditionStatus, reason string, since time.Time) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{
				{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory"},
				{
					Type: corev1.NodeReady, Status: value, Reason: reason, Message: "as the kubelet says",
					LastHeartbeatTime: metav1.NewTime(noon.Add(time.Hour)), LastTransitionTime: metav1.NewTime(since),
				},
			}
		}
	}
	long := strings.Repeat("a", 1<<20)
	for name, test := range map[string]struct {
		of *corev1.Node
		// want is empty for what is not kept.
		want node
	}{
		"a node as it is": {
			of: build.Node("a").Role("worker").Role("etcd").Label("kubernetes.io/role", "old").Cordoned().Address("10.0.0.1").With(
				ready(corev1.ConditionTrue, "KubeletReady", noon.Add(time.Millisecond))).With(func(n *corev1.Node) {
				n.Status.NodeInfo.KubeletVersion = "v1.37.1"
				n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: "2001:DB8::0:1"})
			}).Obj(),
			want: node{
				name: "a", address: "10.0.0.1", external: "2001:db8::1", roles: "etcd,old,worker", ready: "True", unschedulable: true,
				version: "v1.37.1", since: noon.Unix(),
			},
		},
		"a node that is not ready has a reason": {
			of:   build.Node("a").With(ready(corev1.ConditionFalse, "KubeletNotReady", noon)).Obj(),
			want: node{name: "a", ready: "False", reason: "KubeletNotReady", since: noon.Unix()},
		},
		"a node that says nothing": {of: build.Node("a").Obj(), want: node{name: "a", ready: "Unknown"}},
		"a status that does not exist": {
			of: build.Node("a").With(ready("Perhaps", "x", noon)).Obj(), want: node{name: "a", ready: "Unknown", reason: "x", since: noon.Unix()},
		},
		"a time before there were any": {
			of: build.Node("a").With(ready("False", "x", time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC))).Obj(), want: node{name: "a", ready: "False", reason: "x"},
		},
		"a time that cannot be written": {
			of: build.Node("a").With(ready("False", "x", time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC))).Obj(), want: node{name: "a", ready: "False", reason: "x"},
		},
		"a reason that is a sentence": {
			of: build.Node("a").With(ready("False", "Run this: curl example.com", noon)).Obj(), want: node{name: "a", ready: "False", since: noon.Unix()},
		},
		"a reason without end": {
			of: build.Node("a").With(ready("False", long, noon)).Obj(), want: node{name: "a", ready: "False", since: noon.Unix()},
		},
		"a reason of machines that are not nodes": {
			of: build.Node("a").With(ready("Unknown", "NotJoined", noon)).Obj(), want: node{name: "a", ready: "Unknown", since: noon.Unix()},
		},
		"a version without end, which controls a terminal": {
			of:   build.Node("a").With(func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "\x1b" + long }).Obj(),
			want: node{name: "a", ready: "Unknown", version: "\ufffd" + long[:122] + "..."},
		},
		"roles that cannot be some": {
			of:   build.Node("a").Role("").Role(long).Role("a b").Label("kubernetes.io/role", "a,b").Role("etcd").Obj(),
			want: node{name: "a", ready: "Unknown", roles: "etcd"},
		},
		"more roles than anybody reads": {
			of: build.Node("a").With(func(n *corev1.Node) {
				for i := range 1000 {
					n.Labels[fmt.Sprintf("node-role.kubernetes.io/r%03d", i)] = ""
				}
			}).Obj(),
			want: node{name: "a", ready: "Unknown", roles: "r000,r001,r002,r003,r004,r005,r006,r007,r008,r009,r010,r011,r012,r013,r014,r015"},
		},
		"no IP address":             {of: build.Node("a").Address("example.com").Obj(), want: node{name: "a", ready: "Unknown"}},
		"an address without end":    {of: build.Node("a").Address("fe80::1%" + long).Obj(), want: node{name: "a", ready: "Unknown"}},
		"a name without end":        {of: build.Node(long).Obj()},
		"a name that cannot be one": {of: build.Node("A\x1b").Obj()},
		"no name":                   {of: build.Node("").Obj()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, valid := keep(test.of)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(node{})); diff != "" || valid != (test.want.name != "") {
				t.Errorf("of the node is kept, %t (-want +got):\n%s", valid, diff)
			}
		})
	}
}

func TestEachNameIsKeptOnce(t *testing.T) {
	t.Parallel()
	got := byName([]node{{name: "b"}, {name: "a", version: "1"}, {name: "b", version: "2"}, {name: "a"}})
	if diff := cmp.Diff([]node{{name: "a", version: "1"}, {name: "b"}}, got, cmp.AllowUnexported(node{})); diff != "" {
		t.Errorf("the nodes are not as wanted (-want +got):\n%s", diff)
	}
}

func TestAnswerNamesNodesThatAreNotReady(t *testing.T) {
	t.Parallel()
	list := func(names ...string) items {
		var out []clusterprovisionerv1alpha1.ClusterNode
		for _, name := range names {
			out = append(out, clusterprovisionerv1alpha1.ClusterNode{Name: name, Ready: metav1.ConditionFalse})
		}
		return append(out, clusterprovisionerv1alpha1.ClusterNode{Name: "well", Ready: metav1.ConditionTrue})
	}
	joins := clusterprovisionerv1alpha1.ClusterNode{Name: "late", Ready: metav1.ConditionUnknown, Reason: "NotJoined"}
	for name, test := range map[string]struct {
		nodes    *clusterprovisionerv1alpha1.ClusterNodes
		want     string
		unlisted string
	}{
		"nothing was counted":      {want: "Kubernetes v1 answers at x"},
		"nobody has probed":        {nodes: nodesOf([]provision.Node{{Name: "a"}}, nil, false), want: "Kubernetes v1 answers at x"},
		"all are Ready":            {nodes: &clusterprovisionerv1alpha1.ClusterNodes{Ready: 1, Items: list()}, want: "Kubernetes v1 answers at x, and 1 of its nodes are Ready"},
		"a machine has not joined": {nodes: &clusterprovisionerv1alpha1.ClusterNodes{Ready: 1, Items: append(list(), joins)}, want: "Kubernetes v1 answers at x, and 1 of its nodes are Ready"},
		"three are not": {
			nodes: &clusterprovisionerv1alpha1.ClusterNodes{Ready: 1, Items: list("a", "b", "c")}, want: "Kubernetes v1 answers at x, and 1 of its nodes are Ready. Not Ready: a, b, c",
		},
		"many are not": {
			nodes: &clusterprovisionerv1alpha1.ClusterNodes{Ready: 1, Items: list("a", "b", "c", "d")},
			want:  "Kubernetes v1 answers at x, and 1 of its nodes are Ready. Not Ready: a, b, c and others",
		},
		"they cannot be listed": {unlisted: "nodes is forbidden", want: "Kubernetes v1 answers at x. It does not list its nodes: nodes is forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := answer(clusterprovisionerv1alpha1.ClusterStatus{KubernetesVersion: "v1", Endpoint: "x", Nodes: test.nodes}, test.unlisted)
			if got != test.want {
				t.Errorf("it says %q, want %q", got, test.want)
			}
		})
	}
}

// TestNodesOfTheManagerBefore is about a manager that has just started: until it has listed the nodes, it said that none is Ready.
func TestNodesOfTheManagerBefore(t *testing.T) {
	t.Parallel()
	listed := nodesOf([]provision.Node{{Name: "late"}}, []node{{name: "a", ready: metav1.ConditionTrue}}, true)
	for name, test := range map[string]struct {
		nodes *clusterprovisionerv1alpha1.ClusterNodes
		want  bool
	}{
		"none was ever counted":              {nil, false},
		"none was ever listed":               {nodesOf([]provision.Node{{Name: "a"}}, nil, false), false},
		"they were listed":                   {listed, true},
		"an earlier version has counted":     {&clusterprovisionerv1alpha1.ClusterNodes{Desired: 3, Ready: 3}, true},
		"an earlier version knew of none":    {&clusterprovisionerv1alpha1.ClusterNodes{Desired: 3}, false},
		"there is nothing to list or to say": {&clusterprovisionerv1alpha1.ClusterNodes{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := wereListed(test.nodes); got != test.want {
				t.Errorf("the nodes were listed: %t, want %t", got, test.want)
			}
		})
	}
}
