// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
)

func TestAdopt(t *testing.T) {
	t.Parallel()
	started := time.Now().Truncate(time.Second)
	registered := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "real", Labels: map[string]string{corev1.LabelHostname: "real"}},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{
			{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule}, taint("foreign", ""),
		}},
		Status: corev1.NodeStatus{Conditions: conditions(metav1.NewTime(started))},
	}
	spec := &Spec{Name: "real", Roles: []string{"worker"}, Taints: []corev1.Taint{taint("own", "")}}
	tests := map[string]struct {
		spec   *Spec
		labels map[string]string
		taints []corev1.Taint
	}{
		"without a spec it keeps what the kubelet and others gave it": {
			labels: map[string]string{corev1.LabelHostname: "real"}, taints: []corev1.Taint{taint("foreign", "")},
		},
		"a spec comes on top of that": {
			spec:   spec,
			labels: map[string]string{corev1.LabelHostname: "real", RolePrefix + "worker": "true"},
			taints: []corev1.Taint{taint("foreign", ""), taint("own", "")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset(registered.DeepCopy())
			// The second time is the next up, which must not undo anything.
			for range 2 {
				if err := Adopt(t.Context(), client, Registered{Name: "real", Since: started}, test.spec); err != nil {
					t.Fatal(err)
				}
			}
			got, err := client.CoreV1().Nodes().Get(t.Context(), "real", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.labels, got.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.taints, got.Spec.Taints); diff != "" {
				t.Errorf("taints (-want +got):\n%s", diff)
			}
			want := []corev1.NodeAddress{
				{Type: corev1.NodeHostName, Address: "real"},
				{Type: corev1.NodeInternalIP, Address: "127.0.0.1"},
				{Type: corev1.NodeInternalDNS, Address: "127.0.0.1"},
			}
			if diff := cmp.Diff(want, got.Status.Addresses); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMakeRoomAndUnregister(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		call func(context.Context, kubernetes.Interface, string) error
		want []string
	}{
		"a kubelet that starts replaces a simulated node only":  {MakeRoom, []string{"real"}},
		"a kubelet that could not join takes its own node only": {Unregister, []string{"simulated"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			simulated, err := Spec{Name: "simulated"}.object("v1", 1, metav1.Now())
			if err != nil {
				t.Fatal(err)
			}
			client := fake.NewClientset(simulated, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "real"}})
			for _, name := range []string{"simulated", "real", "missing"} {
				if err := test.call(t.Context(), client, name); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			list, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var left []string
			for i := range list.Items {
				left = append(left, list.Items[i].Name)
			}
			if diff := cmp.Diff(test.want, left); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}
