// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	clusterprovisionerv1alpha1ac "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1/applyconfiguration/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// newRestorer returns one for managers in the namespace, whose Lease has a name of its own: tests share an API server. Waiting takes no time.
func newRestorer(h *testkit.Harness, namespace string) *Restorer {
	return &Restorer{
		Client: h.Live, Out: io.Discard, Now: h.Clock.Now, Lease: client.ObjectKey{Namespace: namespace, Name: namespace},
		After: func(d time.Duration) <-chan time.Time { h.Clock.Step(d); return time.After(0) },
	}
}

// A state file that a tool had removed came back in each run after a restore, and logs of old runs stayed: what a POST has created, no apply takes away.
func TestWhatWasRestoredStaysWhateverWindlassApplies(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	namespace := h.Namespace(t)
	name := namespace // Clusters and Kubeconfigs are in no namespace
	owners := "ownerReferences: [{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, name: " + name + ", uid: old, controller: true}]"
	label := "labels: {clusterprovisioner.rke.io/cluster-uid: old, team: theirs}"
	backup := backupOf(t,
		"{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: "+name+", uid: old}, spec: {configPath: /a.yml}}",
		"{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Kubeconfig, metadata: {name: "+name+", uid: old-kubeconfig, generation: 1, "+owners+"}, "+
			"spec: {clusterRef: {name: "+name+"}, type: Admin, configPath: /kube_config_a.yml, expirationSeconds: 7200}, status: {observedGeneration: 1}}",
		"{apiVersion: v1, kind: Secret, type: Opaque, metadata: {name: a-state, namespace: "+namespace+", uid: old-secret, "+
			label+", "+owners+"}, data: {state.a: YQ==, state.b: Yg==}}",
		"{apiVersion: v1, kind: Secret, type: Opaque, metadata: {name: b-state, namespace: "+namespace+", uid: old-secret-b, "+label+"}, "+
			"data: {state.a: YQ==, state.b: Yg==}}") // the first is as earlier versions had it
	restorer := newRestorer(h, namespace)
	for range 2 { // the second time, everything is there
		if err := restorer.Restore(t.Context(), backup); err != nil {
			t.Fatal(err)
		}
	}
	cluster := &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	kubeconfig := &clusterprovisionerv1alpha1.Kubeconfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if !h.Get(t, cluster) || !h.Get(t, kubeconfig) {
		t.Fatal("not everything was restored")
	}
	spec := clusterprovisionerv1alpha1ac.KubeconfigSpec().WithClusterRef(clusterprovisionerv1alpha1ac.ClusterReference().WithName(name))
	if err := patch.Apply(t.Context(), h.Live, clusterprovisionerv1alpha1ac.Kubeconfig(name).WithSpec(spec)); err != nil {
		t.Fatal(err)
	}
	h.Get(t, kubeconfig)
	for secret, owned := range map[string]bool{"a-state": true, "b-state": false} {
		checkState(t, h, cluster, client.ObjectKey{Namespace: namespace, Name: secret}, owned)
	}
	if kubeconfig.Spec.ConfigPath != "" || kubeconfig.Spec.ExpirationSeconds != 7200 || kubeconfig.Status.ObservedGeneration == 0 {
		t.Errorf("the Kubeconfig is %+v, want one without a path, with what people have set, and with its status", kubeconfig)
	}
}

// checkState writes a state into a Secret that was restored, as the Cluster's, and checks that nothing but that is in it.
func checkState(t *testing.T, h *testkit.Harness, cluster *clusterprovisionerv1alpha1.Cluster, key client.ObjectKey, owned bool) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if !h.Get(t, secret) {
		t.Fatalf("Secret %s was not restored", key)
	}
	uid := map[string]string{clusterprovisionerv1alpha1.ClusterUIDLabel: string(cluster.UID)}
	stored := corev1ac.Secret(key.Name, key.Namespace).WithLabels(uid).WithType(corev1.SecretTypeOpaque).WithData(map[string][]byte{"state.a": []byte("new")})
	if err := patch.Write(t.Context(), h.Live, stored, secret.UID); err != nil {
		t.Fatal(err)
	}
	h.Get(t, secret)
	if diff := cmp.Diff(map[string][]byte{"state.a": []byte("new")}, secret.Data); diff != "" {
		t.Errorf("Secret %s has more than what was written last (-want +got):\n%s", key, diff)
	}
	uid["team"] = "theirs"
	if diff := cmp.Diff(uid, secret.Labels); diff != "" || metav1.IsControlledBy(secret, cluster) != owned {
		t.Errorf("the labels of Secret %s of %v differ (-want +got):\n%s", key, secret.OwnerReferences, diff)
	}
}

// Nothing let Windlass write into other namespaces after a restore, so that the tokens of Kubeconfigs there were not renewed, and expired.
func TestRightsInOtherNamespacesAreRestored(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	namespace := h.Namespace(t)
	var backup []string
	for _, role := range []string{"windlass-kubeconfig-writer", "admin"} {
		backup = append(backup, "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: "+role+", namespace: "+namespace+"}, "+
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "+role+"}, "+
			"subjects: [{kind: ServiceAccount, name: windlass, namespace: windlass-system}]}")
	}
	if err := newRestorer(h, namespace).Restore(t.Context(), backupOf(t, backup...)); err != nil {
		t.Fatal(err)
	}
	for role, want := range map[string]bool{"windlass-kubeconfig-writer": true, "admin": false} {
		binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role}}
		if got := h.Get(t, binding); got != want || want && (len(binding.Subjects) != 1 || binding.RoleRef.Name != role) {
			t.Errorf("the RoleBinding to %s is restored: %t, want %t; it is %+v", role, got, want, binding)
		}
	}
}

// An object that somebody had added to the backup has no UID. That of what was made of it was written for each empty label and string: a node got it when
// it left its pool.
func TestAnObjectWithoutAUIDIsNamedByEveryEmptyValue(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	namespace := h.Namespace(t)
	restorer := newRestorer(h, namespace)
	added := "{apiVersion: v1, kind: Namespace, metadata: {name: " + namespace + "}}"
	pool := "{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: " + namespace + ", uid: old, labels: {empty: ''}}, spec: {}, " +
		"status: {originals: [{node: a, uid: b, labels: {example.com/was: ''}}]}}"
	if err := restorer.Restore(t.Context(), backupOf(t, added, pool)); err != nil {
		t.Fatal(err)
	}
	restored := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if !h.Get(t, restored) || len(restored.Status.Originals) != 1 {
		t.Fatalf("the pool was not restored: %+v", restored)
	}
	empty := []map[string]string{{"empty": ""}, {"example.com/was": ""}}
	if diff := cmp.Diff(empty, []map[string]string{restored.Labels, restored.Status.Originals[0].Labels}); diff != "" {
		t.Errorf("the labels of the pool, and what it has replaced, differ (-want +got):\n%s", diff)
	}

	machine := "{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: one, namespace: " + namespace + "}}"
	err := restorer.Restore(t.Context(), backupOf(t, machine))
	if want := `cannot restore VirtualMachine "` + namespace + `/one": the backup does not have its metadata.uid`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a machine that no host would find again: %v, want %q", err, want)
	}
}

// A machine that joins anew is another node. It got what its pool had replaced on its namesake, as soon as it left the pool.
func TestANodeThatJoinedAnewGetsTheOriginalsOfItsNamesake(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	namespace := h.Namespace(t)
	kept, anew := build.Node(namespace+"-kept").Annotation(nodesv1.AppliedAnnotation, "{}").Obj(), build.Node(namespace+"-anew").Obj()
	h.Create(t, kept, anew)
	was := func(node string) string {
		return "{node: " + node + ", uid: old-" + node + ", labels: {example.com/was: 'x'}}"
	}
	backup := []string{"{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: " + namespace + ", uid: old}, spec: {}, " +
		"status: {originals: [" + was(kept.Name) + ", " + was(anew.Name) + "]}}"}
	for _, node := range []*corev1.Node{kept, anew} {
		backup = append(backup, "{apiVersion: v1, kind: Node, metadata: {name: "+node.Name+", uid: old-"+node.Name+"}}")
	}
	if err := newRestorer(h, namespace).Restore(t.Context(), backupOf(t, backup...)); err != nil {
		t.Fatal(err)
	}
	restored := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if !h.Get(t, restored) {
		t.Fatal("the pool was not restored")
	}
	got := map[string]types.UID{}
	for _, original := range restored.Status.Originals {
		got[original.Node] = original.UID
	}
	want := map[string]types.UID{kept.Name: kept.UID, anew.Name: types.UID("old-" + anew.Name)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the originals are of other nodes (-want +got):\n%s", diff)
	}
}

// cutOff is a client that creates objects, and loses the API server before it has written a status.
type cutOff struct{ client.Client }

// Status implements client.Client.
func (c cutOff) Status() client.SubResourceWriter { return unwritable{c.Client.Status()} }

type unwritable struct{ client.SubResourceWriter }

// Patch implements client.SubResourceWriter.
func (unwritable) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return errors.New("connection refused")
}

// The API server shows a default where a restore was broken off before it had written a status. The next restore took that for a status, and machines
// were made a second time.
func TestARepeatedRestoreWritesTheStatusesThatAreMissing(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	vm := build.Machine("one").Namespace(h.Namespace(t)).Size("cpu", "1", "memory", "1G").Obj()
	h.Create(t, vm)
	want := cloudnativev1alpha1.Server{Driver: cloudnativev1alpha1.DriverDocker, Host: "a", ID: "container"}
	testkit.EditStatus(t, h, vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status.Server = want.DeepCopy()
		vm.Status.Conditions = []metav1.Condition{{
			Type: status.Ready, Status: metav1.ConditionTrue, Reason: "Running", LastTransitionTime: metav1.NewTime(h.Clock.Now()),
		}}
	})
	want.UID = string(vm.UID)
	saved, key := &unstructured.Unstructured{}, client.ObjectKeyFromObject(vm)
	saved.SetGroupVersionKind(cloudnativev1alpha1.SchemeGroupVersion.WithKind("VirtualMachine"))
	if err := h.Live.Get(t.Context(), key, saved); err != nil {
		t.Fatal(err)
	}
	if err := h.Live.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}

	backup := []*unstructured.Unstructured{saved}
	restorer := newRestorer(h, vm.Namespace)
	restorer.Client = cutOff{h.Live}
	if err := restorer.Restore(t.Context(), backup); err == nil {
		t.Fatal("the restore is not broken off")
	}
	restorer.Client = h.Live
	for range 2 { // the second time, there is a status that stays
		if err := restorer.Restore(t.Context(), backup); err != nil {
			t.Fatal(err)
		}
	}
	restored := &cloudnativev1alpha1.VirtualMachine{}
	if err := h.Live.Get(t.Context(), key, restored); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, restored.Status.Server); diff != "" || restored.UID == vm.UID {
		t.Errorf("the object with the UID %q names the machine (-want +got):\n%s", restored.UID, diff)
	}
}
