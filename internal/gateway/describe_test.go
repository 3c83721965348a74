// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/why"
)

// family makes a PodSet with a Deployment, a ReplicaSet, and pods of the ReplicaSet, as their controllers would.
func (s *shop) family(t *testing.T, namespace string, pods ...string) {
	t.Helper()
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "nginx"}}},
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: appsv1alpha1.PodSetSpec{
		Size: 1, Template: &corev1.PodTemplateSpec{Spec: template.Spec},
	}}
	s.Create(t, set)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", OwnerReferences: owner(set, "apps.jicki.cn/v1alpha1", "PodSet")},
		Spec:       appsv1.DeploymentSpec{Selector: selector, Template: template},
	}
	s.Create(t, deployment)
	replicas := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-1", OwnerReferences: owner(deployment, "apps/v1", "Deployment")},
		Spec:       appsv1.ReplicaSetSpec{Selector: selector, Template: template},
	}
	s.Create(t, replicas)
	for _, name := range pods {
		s.pod(t, namespace, name, "1", onNode(s.ns), func(p *corev1.Pod) { p.OwnerReferences = owner(replicas, "apps/v1", "ReplicaSet") })
	}
	s.Create(t, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: pods[0], UID: "a name"},
		Type:           "Warning", Reason: "BackOff", Message: "again", Count: 3,
	})
}

func owner(of client.Object, version, kind string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: of.GetName(), UID: of.GetUID(), Controller: new(true)}}
}

// lines returns the objects as kind and name, in order.
func lines(of []view.Related) []string {
	out := []string{}
	for _, one := range of {
		out = append(out, one.Kind+" "+one.Name)
	}
	return out
}

func (s *shop) describe(t *testing.T, token, path string) view.Description {
	t.Helper()
	return read[view.Description](t, s.do(t, http.MethodGet, path, token, ""))
}

// TestDescribe: one request has the tree of an object and its events.
func TestDescribe(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := newShop(t, r)
	admin := r.user(t, "", everything())
	s.family(t, s.ns, "one", "two")
	s.caches(t, s.ns, "two") // with the node, whose store is another one than that of the pods
	tree := []string{"deployments web", "replicasets web-1", "pods one", "pods two"}
	var got view.Description
	testkit.Eventually(t, "the caches have all", func() bool {
		got = s.describe(t, admin, "/v1/podsets/"+s.ns+"/web/describe")
		return cmp.Equal(tree, lines(got.Children)) && len(got.Events) > 0
	})
	event := view.RelatedEvent{
		Kind: "pods", Named: view.Named{Namespace: s.ns, Name: "one"}, Type: "Warning", Reason: "BackOff", Message: "again", Time: got.Events[0].Time, Count: 3,
	}
	if diff := cmp.Diff([]view.RelatedEvent{event}, got.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for i, parent := range []string{got.Object.UID, got.Children[0].UID, got.Children[1].UID, got.Children[1].UID} {
		if got.Children[i].Parent != parent {
			t.Errorf("%s is below %s", got.Children[i].Name, got.Children[i].Parent)
		}
	}
	got = s.describe(t, admin, "/v1/pods/"+s.ns+"/one/describe")
	if diff := cmp.Diff([]string{"replicasets web-1", "deployments web", "podsets web"}, lines(got.Owners)); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	if got = s.describe(t, admin, "/v1/nodepools/"+s.ns+"/describe"); !slices.Equal(lines(got.Children), []string{"nodes " + s.ns}) {
		t.Errorf("the pool has %v", got.Children)
	}
	if got = s.describe(t, admin, "/v1/nodes/"+s.ns+"/describe"); !slices.Equal(lines(got.Children), []string{"pods one", "pods two"}) {
		t.Errorf("the node has %v", got.Children)
	}
}

// TestAttackDescribeTellsOfOthers: a description has nothing that its caller may not read, and says what is missing.
func TestAttackDescribeTellsOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := newShop(t, r)
	other := r.Namespace(t)
	s.family(t, s.ns, "mine")
	s.family(t, other, "secret")
	s.caches(t, other, "secret")
	s.caches(t, s.ns, "mine")
	home := r.Namespace(t)
	token := r.token(t, home, "user")
	r.grant(t, home, s.ns, rule("get,list", "", "pods"), rule("get", "apps.jicki.cn", "podsets"))
	r.grant(t, home, "", rule("get,list", "", "nodes"))
	got := s.describe(t, token, "/v1/nodes/"+s.ns+"/describe")
	if len(got.Children) > 0 || !slices.Contains(got.Hidden, "you may not list pods in all namespaces") {
		t.Errorf("the node is described as %+v", got)
	}
	got = s.describe(t, token, "/v1/pods/"+s.ns+"/mine/describe")
	if want := []string{"you may not get replicasets", "you may not list events in namespace " + s.ns}; len(got.Owners) > 0 || !cmp.Equal(want, got.Hidden) {
		t.Errorf("the pod is described as %+v", got)
	}
	got = s.describe(t, token, "/v1/podsets/"+s.ns+"/web/describe")
	if len(got.Children) > 0 || len(got.Events) > 0 || !slices.Contains(got.Hidden, "you may not list deployments in namespace "+s.ns) {
		t.Errorf("the PodSet is described as %+v", got)
	}
	answer := r.do(t, http.MethodGet, "/v1/podsets/"+other+"/web/describe", token, "")
	if answer.status != http.StatusForbidden || strings.Contains(string(answer.body), "secret") {
		t.Errorf("a PodSet of others is %d: %s", answer.status, answer.body)
	}
}

// TestAttackDescribeANodeWithManyPods: a description ends, and says how much it leaves out.
func TestAttackDescribeANodeWithManyPods(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := newShop(t, r)
	admin := r.user(t, "", everything())
	const many = 210
	for i := range many {
		s.pod(t, s.ns, fmt.Sprintf("pod-%03d", i), "1m", onNode(s.ns))
	}
	s.caches(t, s.ns, fmt.Sprintf("pod-%03d", many-1))
	got := s.describe(t, admin, "/v1/nodes/"+s.ns+"/describe")
	if len(got.Children) != 200 || got.LeftOut != many-200 {
		t.Errorf("%d pods are described, %d left out", len(got.Children), got.LeftOut)
	}
}

// TestAttackDescribeAnOwnerWhoseNameIsAPath has pods that lead whoever describes them away from the owners of pods. Their writers choose
// the names of owners and claims, which nobody validates.
func TestAttackDescribeAnOwnerWhoseNameIsAPath(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := newShop(t, r)
	admin := r.user(t, "", everything())
	s.family(t, s.ns, "mine")
	replicas := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "web-1"}}
	must(t, r.Live.Get(t.Context(), client.ObjectKeyFromObject(replicas), replicas))
	for i, name := range []string{"web-1/status", "./web-1", "../replicasets/web-1", "../../" + s.ns + "/replicasets/web-1"} {
		pod := fmt.Sprintf("leading-away-%d", i)
		s.pod(t, s.ns, pod, "1", func(p *corev1.Pod) {
			p.OwnerReferences = owner(replicas, "apps/v1", "ReplicaSet")
			p.OwnerReferences[0].Name = name
			claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "../pods/mine/status"}
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}}}
		})
		if got := s.describe(t, admin, "/v1/pods/"+s.ns+"/"+pod+"/describe"); len(got.Owners) > 0 {
			t.Errorf("the owner %q is read as %v", name, lines(got.Owners))
		}
		s.caches(t, s.ns, pod)
		explained := s.why(t, admin, "/v1/pods/"+s.ns+"/"+pod+"/why")
		if got := explained.Failure(); got == nil || got.Code != why.CodeClaimMissing {
			t.Errorf("its claim is read: %+v", got)
		}
	}
}
