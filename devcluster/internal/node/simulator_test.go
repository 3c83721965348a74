// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func taint(key, value string) corev1.Taint {
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffectNoSchedule}
}

func TestApply(t *testing.T) {
	t.Parallel()
	made := Spec{
		Name: "a", Roles: []string{"worker"}, Labels: map[string]string{"zone": "north"}, Taints: []corev1.Taint{taint("old", "1")},
	}
	tests := map[string]struct {
		disturb func(*corev1.Node)
		spec    Spec
		want    func(*corev1.Node)
	}{
		"nothing asked anew changes nothing": {
			spec: made, want: func(*corev1.Node) {},
		},
		"a role that is dropped goes and a new one comes": {
			spec: Spec{Name: "a", Roles: []string{"etcd"}, Labels: made.Labels, Taints: made.Taints},
			want: func(n *corev1.Node) {
				delete(n.Labels, RolePrefix+"worker")
				n.Labels[RolePrefix+"etcd"] = "true"
			},
		},
		"foreign labels and taints stay": {
			disturb: func(n *corev1.Node) {
				n.Labels["foreign"] = "yes"
				n.Spec.Taints = append(n.Spec.Taints, taint("foreign", ""))
			},
			spec: Spec{Name: "a", Roles: made.Roles},
			want: func(n *corev1.Node) {
				delete(n.Labels, "zone")
				n.Spec.Taints = []corev1.Taint{taint("foreign", "")}
			},
		},
		"what was taken from a node comes back": {
			disturb: func(n *corev1.Node) {
				n.Labels = nil
				n.Spec.Taints = nil
			},
			spec: made,
			want: func(n *corev1.Node) {
				n.Labels = made.labels()
				n.Spec.Taints = made.Taints
			},
		},
		"a taint changes its value in place": {
			spec: Spec{Name: "a", Roles: made.Roles, Labels: made.Labels, Taints: []corev1.Taint{taint("old", "2")}},
			want: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{taint("old", "2")} },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkApply(t, made, test.spec, test.disturb, test.want)
		})
	}
}

// checkApply makes a node, disturbs it, applies a spec and compares with the disturbed node after want.
func checkApply(t *testing.T, made, spec Spec, disturb, change func(*corev1.Node)) {
	t.Helper()
	node, err := made.object("v1", 1, metav1.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if disturb != nil {
		disturb(node)
	}
	want := node.DeepCopy()
	change(want)
	if want.Annotations[ledgerAnnotation], err = spec.ledger(); err != nil {
		t.Fatal(err)
	}
	if err := apply(node, spec); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, node); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
}

func TestNodeOfARealNodeThatCouldNotJoinIsSimulatedAgain(t *testing.T) {
	t.Parallel()
	spec := Spec{Name: "alpha", Roles: []string{"worker"}}
	left := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "alpha"}}
	if err := apply(left, Spec{Name: "alpha", Roles: spec.Roles, Real: true}); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		real string
		want []Change
	}{
		"once":                       {want: []Change{{Added: 1, Removed: 1}, {}}},
		"but not one that is in use": {real: "alpha", want: []Change{{}, {}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := Simulator{
				Client: fake.NewClientset(left.DeepCopy()), Version: "v1", KubeletPort: 1, Real: test.real, Report: func(string, int, int) {},
			}
			specs := []Spec{spec}
			if test.real != "" {
				specs = []Spec{}
			}
			var got []Change
			for range test.want {
				change, err := nodes.Sync(t.Context(), specs)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, change)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodesThatTheCacheDoesNotHaveYetAreAwaited(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	// The first answer that may have any version is one of a cache that is behind.
	stale := true
	client.PrependReactor("list", "nodes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked, ok := action.(clienttesting.ListActionImpl)
		if !ok || asked.ListOptions.ResourceVersion != "0" || !stale {
			return false, nil, nil
		}
		stale = false
		return true, &corev1.NodeList{}, nil
	})
	nodes := Simulator{Client: client, Version: "v1", KubeletPort: 1, Report: func(string, int, int) {}}
	if _, err := nodes.Sync(t.Context(), Numbered(2)); err != nil {
		t.Fatal(err)
	}
	if ready, err := nodes.AwaitReady(t.Context()); ready != 2 || err != nil {
		t.Errorf("ready nodes: got %d, %v, want 2", ready, err)
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	node, err := Numbered(300)[299].object("v1", 1234, metav1.Now())
	if err != nil {
		t.Fatal(err)
	}
	want := []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: "node-0299"},
		{Type: KubeletAddressType, Address: "127.0.0.1"},
		{Type: corev1.NodeInternalIP, Address: "198.18.1.44"},
	}
	if diff := cmp.Diff(want, node.Status.Addresses); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if !ready(node) {
		t.Error("a new node is not ready")
	}
	node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	if ready(node) {
		t.Error("a node that takes no pods counts as ready")
	}
}
