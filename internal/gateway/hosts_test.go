// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// placed creates a machine that its manager has placed on a host.
func (r *rig) placed(t *testing.T, namespace, name, host string) {
	t.Helper()
	vm := &cloudnativev1alpha1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{
			cloudnativev1alpha1.ResourceCPU: resource.MustParse("500m"), cloudnativev1alpha1.ResourceMemory: resource.MustParse("1Gi"),
		}},
	}
	r.Create(t, vm)
	vm.Status.Reason = "cannot reach tcp://192.0.2.1:2376"
	vm.Status.Conditions = []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionTrue, Reason: status.ReasonReady, LastTransitionTime: metav1.Now()}}
	vm.Status.Server = &cloudnativev1alpha1.Server{Driver: "docker", Host: host, Addresses: []string{"192.0.2.7"}}
	must(t, r.Live.Status().Update(t.Context(), vm))
}

// hosts reads the hosts whose names begin with the prefix: other tests have others.
func (a answer) hosts(t *testing.T, prefix string) (hosts []view.Host, complete bool) {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	var list view.HostList
	must(t, json.Unmarshal(a.body, &list))
	return slices.DeleteFunc(list.Hosts, func(host view.Host) bool { return !bytes.HasPrefix([]byte(host.Name), []byte(prefix)) }), list.Complete
}

// TestAttackHostsTellOfOthers asks for hosts with the rights to all machines, to those of a namespace, and to none.
func TestAttackHostsTellOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	mine, others := r.Namespace(t), r.Namespace(t)
	r.placed(t, mine, "a", mine+"-shared")
	r.placed(t, others, "b", mine+"-shared")
	r.placed(t, others, "c", mine+"-secret")
	all := r.user(t, "", rule("list", cloudnativev1alpha1.SchemeGroupVersion.Group, "virtualmachines"))
	some := r.user(t, mine, rule("list", cloudnativev1alpha1.SchemeGroupVersion.Group, "virtualmachines"))
	half := view.Host{Name: mine + "-shared", Driver: "docker", Machines: 1, Ready: 1, Requested: view.HostResources{CPUCores: 0.5, MemoryBytes: 1 << 30}}
	shared, secret := half, half
	shared.Machines, shared.Ready, shared.Requested = 2, 2, view.HostResources{CPUCores: 1, MemoryBytes: 2 << 30}
	secret.Name = mine + "-secret"
	testkit.Eventually(t, "a caller who may list all machines sees all hosts", func() bool {
		hosts, complete := r.do(t, http.MethodGet, "/v1/hosts", all, "").hosts(t, mine)
		return complete && cmp.Equal([]view.Host{secret, shared}, hosts)
	})
	got := r.do(t, http.MethodGet, "/v1/hosts", some, "")
	hosts, complete := got.hosts(t, "")
	if diff := cmp.Diff([]view.Host{half}, hosts); diff != "" || complete {
		t.Errorf("complete: %t, of a namespace (-want +got):\n%s", complete, diff)
	}
	for _, hidden := range []string{"192.0.2", "tcp:", "secret", others} {
		if bytes.Contains(got.body, []byte(hidden)) {
			t.Errorf("the answer has %q: %s", hidden, got.body)
		}
	}
	if again := r.do(t, http.MethodGet, "/v1/hosts", some, "", "If-None-Match", got.header.Get("ETag")); again.status != http.StatusNotModified {
		t.Errorf("what the caller has is sent again: %d", again.status)
	}
	if refused := r.do(t, http.MethodGet, "/v1/hosts", r.user(t, mine, rule("get", cloudnativev1alpha1.SchemeGroupVersion.Group, "virtualmachines")), ""); refused.status != http.StatusForbidden {
		t.Errorf("without the right to list machines: %d %s", refused.status, refused.body)
	}
}
