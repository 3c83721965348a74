// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
	"github.com/windlass-operator/windlass/internal/why"
)

// shop is a namespace with a pool of its own name, of which one node is a member.
type shop struct {
	*rig

	// ns is also the name of the pool, of its RuntimeClass and of the node.
	ns string
}

// newShop makes a node with 4 CPUs that carries everything of its pool, which no controller acts on.
func newShop(t *testing.T, r *rig) *shop {
	t.Helper()
	s := &shop{rig: r, ns: r.Namespace(t)}
	pool := build.Pool(s.ns).Finalizer(nodesv1.Finalizer).Obj()
	pool.Generation = 0
	r.Create(t, pool)
	t.Cleanup(func() { // nobody takes the finalizer off
		free := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		must(t, client.IgnoreNotFound(r.Live.Patch(context.WithoutCancel(t.Context()), pool, free)))
	})
	pool.Status.Ledger, pool.Status.MemberLabel = membership.Wanted(pool), pool.MemberLabel()
	must(t, r.Live.Status().Update(t.Context(), pool))
	r.Create(t, &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: s.ns}, Handler: "runc", Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{pool.MemberLabel(): ""}},
	})
	node := build.Node(s.ns).Member(s.ns).Obj()
	r.Create(t, node)
	must(t, r.Live.Get(t.Context(), client.ObjectKeyFromObject(node), node))
	node.Spec.Taints = nil // what the admission of a node that has just come adds
	must(t, r.Live.Update(t.Context(), node))
	node.Status = build.Node("").Ready(corev1.ConditionTrue).Allocatable("cpu", "4", "pods", "10").Obj().Status
	must(t, r.Live.Status().Update(t.Context(), node))
	return s
}

// pod makes a pod of the pool in the namespace.
func (s *shop) pod(t *testing.T, namespace, name, cpu string, change ...func(*corev1.Pod)) {
	t.Helper()
	pod := build.Pod(name).Namespace(namespace).Label("app", "web").Requests("cpu", cpu).With(func(p *corev1.Pod) {
		p.Spec.RuntimeClassName = new(s.ns)
		p.Spec.Containers[0].Name, p.Spec.Containers[0].Image = "app", "nginx"
	}).With(change...).Obj()
	s.Create(t, pod)
}

// ofReplicaSet gives a pod to a ReplicaSet of the Deployment.
func ofReplicaSet(deployment string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		metav1.SetMetaDataLabel(&p.ObjectMeta, appsv1.DefaultDeploymentUniqueLabelKey, "abc")
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: deployment + "-abc", UID: "abc", Controller: new(true)}}
	}
}

func onNode(name string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = name } }

// why reads an explanation.
func (r *rig) why(t *testing.T, token, path string) why.Explanation {
	t.Helper()
	return read[why.Explanation](t, r.do(t, http.MethodGet, path, token, ""))
}

// caches waits until the gateway has seen the last write, which is a Namespace of its own for each kind.
func (s *shop) caches(t *testing.T, namespace, pod string) {
	t.Helper()
	testkit.Eventually(t, "the gateway has the pod and the node", func() bool {
		_, hasPod := s.kind(t, "pods").Store.Get(namespace, pod)
		item, hasNode := s.kind(t, "nodes").Store.Get("", s.ns)
		pool, hasPool := s.kind(t, "nodepools").Store.Get("", s.ns)
		return hasPod && hasNode && hasPool && strings.Contains(string(item.JSON), `"cpu":"4"`) && strings.Contains(string(pool.JSON), `"ledger"`)
	})
}

// TestWhy: one route explains pods whatever their owner, nodes and pools.
func TestWhy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := newShop(t, r)
	admin := r.user(t, "", everything())
	s.pod(t, s.ns, "large", "8")
	s.pod(t, s.ns, "waiting", "3", ofReplicaSet("web"))
	s.pod(t, s.ns, "gated", "1", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}} })
	s.pod(t, s.ns, "claiming", "1", ofReplicaSet("web"), func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	r.Create(t, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "nginx"}}},
			},
		},
	}, &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "set"}, Spec: appsv1alpha1.PodSetSpec{
		Size: 1, Template: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "nginx"}}}},
	}})
	other := r.Namespace(t)
	s.pod(t, other, "filler", "2", onNode(s.ns))
	s.caches(t, other, "filler")
	pod := "/v1/pods/" + s.ns + "/"
	for path, want := range map[string]why.Code{
		pod + "large/why":                         why.CodePodTooLarge,
		pod + "waiting/why":                       why.CodeNoRoom,
		pod + "gated/why":                         why.CodeSchedulingGated,
		pod + "claiming/why":                      why.CodeClaimMissing,
		"/v1/pods/" + other + "/filler/why":       why.CodeContainerStarting,
		"/v1/deployments/" + s.ns + "/web/why":    "NotObserved",
		"/v1/podsets/" + s.ns + "/set/why":        "NotObserved",
		"/v1/nodepools/" + s.ns + "/why":          "NotObserved",
		"/v1/nodes/" + s.ns + "/why?pool=" + s.ns: "",
		"/v1/nodes/" + s.ns + "/why":              "",
		"/v1/nodes/" + s.ns + "/why?pool=no-such": why.CodePoolMissing,
	} {
		got := r.why(t, admin, path)
		var code why.Code
		if failure := got.Failure(); failure != nil {
			code = failure.Code
		}
		if code != want {
			t.Errorf("%s says %q: %+v", path, code, got)
		}
	}
	deployment := r.why(t, admin, "/v1/deployments/"+s.ns+"/web/why")
	if got := deployment.Cause(); got == nil || got.Code != why.CodeClaimMissing {
		t.Errorf("the Deployment waits for its first pod, which lacks a claim: %+v", got)
	}
	pool := r.why(t, admin, "/v1/nodepools/"+s.ns+"/why")
	if got := pool.Failure().Next.Command; got != "kubectl -n ops get pods" {
		t.Errorf("who waits for Windlass, which runs in ops, is told %q", got)
	}
	origins := r.why(t, admin, "/v1/nodes/"+s.ns+"/why?key="+nodesv1.MemberLabel(s.ns)).Origins
	if len(origins) != 1 || origins[0].By != why.ByPool || origins[0].Pool != s.ns {
		t.Errorf("the member label is of %+v", origins)
	}
	if got := r.do(t, http.MethodGet, pod+"nothing/why", admin, ""); got.status != http.StatusNotFound {
		t.Errorf("a pod that does not exist: %d", got.status)
	}
}

// countless leaves out how many nodes there are, which other tests change.
func countless(message string) string { return nodeCount.ReplaceAllString(message, "of all nodes") }

var nodeCount = regexp.MustCompile(`of \d+ nodes`)

// TestAttackWhyTellsOfOthers: who sees one namespace learns nothing of pods elsewhere, not even how much of a node they take.
func TestAttackWhyTellsOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := newShop(t, r)
	other := r.Namespace(t)
	s.pod(t, s.ns, "waiting", "3")
	s.caches(t, s.ns, "waiting")
	blind := r.user(t, s.ns, rule("get,list", "", "pods"))
	nodes := r.Namespace(t)
	seeing := r.token(t, nodes, "user")
	r.grant(t, nodes, s.ns, rule("get,list", "", "pods"))
	r.grant(t, nodes, "", rule("get,list", "", "nodes"), rule("get,list", "nodes.lailin.xyz", "nodepools"))
	path := "/v1/pods/" + s.ns + "/waiting/why"
	before := map[string]why.Explanation{blind: r.why(t, blind, path), seeing: r.why(t, seeing, path)}
	for i := range 3 {
		s.pod(t, other, fmt.Sprintf("secret-%d", i), "1", onNode(s.ns))
	}
	s.caches(t, other, "secret-2")
	for token, want := range before {
		if diff := cmp.Diff(want, r.why(t, token, path), cmp.Transformer("nodes", countless)); diff != "" {
			t.Errorf("pods of others change the answer (-before +after):\n%s", diff)
		}
	}
	unseen := map[string]string{}
	for _, check := range before[blind].Checks {
		if check.State == why.NotLookedAt {
			unseen[check.Title] = check.Message
		}
	}
	if unseen["The cluster has nodes"] != "You may not list nodepools." && unseen["The cluster has nodes"] != "You may not list nodes." {
		t.Errorf("not looked at are %v", unseen)
	}
	if body := string(r.do(t, http.MethodGet, path, blind, "").body); strings.Contains(body, `"kind":"Node"`) {
		t.Errorf("who may not list nodes reads of one: %s", body)
	}
	var room why.Check
	for _, check := range before[seeing].Checks {
		if check.Title == "A node has enough room left for the pod" {
			room = check
		}
	}
	if room.State != why.NotLookedAt || room.Message != "You may not list pods in all namespaces." {
		t.Errorf("the room that is left: %+v", room)
	}
	for _, path := range []string{"/v1/pods/" + other + "/secret-0/why", "/v1/nodepools/" + s.ns + "/why", "/v1/nodes/" + s.ns + "/why"} {
		if got := r.do(t, http.MethodGet, path, blind, ""); got.status != http.StatusForbidden {
			t.Errorf("%s is %d", path, got.status)
		}
	}
	if got := r.why(t, r.user(t, "", rule("get", "", "nodes")), "/v1/nodes/"+s.ns+"/why?pool="+s.ns); got.Failure() != nil || got.Checks[0].Message != "You may not list nodepools." {
		t.Errorf("who may not list pools is told %+v", got)
	}
}
