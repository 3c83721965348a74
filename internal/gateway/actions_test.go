// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/action"
	"github.com/windlass-operator/windlass/internal/status"
)

// actionStep is an action, and what its answer has to be.
type actionStep struct {
	path, body string
	status     int
	// holds is a part of the answer: a field of the object, or the code of the problem.
	holds string
}

// act sends actions one after the other.
func (r *rig) act(t *testing.T, token string, steps ...actionStep) {
	t.Helper()
	for _, step := range steps {
		got := r.do(t, http.MethodPost, step.path, token, step.body)
		if got.status != step.status || !strings.Contains(string(got.body), step.holds) {
			t.Errorf("%s %s: status %d, want %d with %s: %s", step.path, step.body, got.status, step.status, step.holds, got.body)
		}
	}
}

// deployment creates a Deployment with an image.
func (r *rig) deployment(t *testing.T, namespace, name, image string) *appsv1.Deployment {
	t.Helper()
	labels := map[string]string{"app": name}
	out := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
		}},
	}
	r.Create(t, out)
	return out
}

// revision creates a ReplicaSet of the Deployment, as its controller does.
func (r *rig) revision(t *testing.T, of *appsv1.Deployment, number int, image string) {
	t.Helper()
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: of.Namespace, Name: fmt.Sprintf("%s-%d", of.Name, number),
			Annotations:     map[string]string{"deployment.kubernetes.io/revision": strconv.Itoa(number)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(of, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: of.Spec.Selector.DeepCopy(), Template: *of.Spec.Template.DeepCopy()},
	}
	for _, labels := range []map[string]string{set.Spec.Selector.MatchLabels, set.Spec.Template.Labels} {
		labels[appsv1.DefaultDeploymentUniqueLabelKey] = strconv.Itoa(number)
	}
	set.Spec.Template.Spec.Containers[0].Image = image
	r.Create(t, set)
}

func TestPowerOfMachines(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	r.Create(t, &cloudnativev1alpha1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "vm"},
		Spec:       cloudnativev1alpha1.VirtualMachineSpec{Action: "active", Resource: corev1.ResourceList{}},
	})
	path := "/v1/virtualmachines/" + ns + "/vm"
	r.act(t, admin,
		actionStep{path + "/power", `{"state":"on"}`, 409, `"code":"NothingToDo"`},
		actionStep{path + "/power?dryRun=All", `{"state":"off"}`, 200, `"runStrategy":"Halted"`},
		actionStep{path + "/power", `{"state":"off","mode":"Hard","gracePeriodSeconds":5}`, 200, `"powerOff":{"gracePeriodSeconds":5,"mode":"Hard"}`},
		actionStep{path + "/power", `{"state":"off"}`, 409, `"code":"NothingToDo"`},
		actionStep{path + "/power", `{"state":"restart"}`, 409, `"code":"MachineOff"`},
		actionStep{path + "/power", `{"state":"on","mode":"Hard"}`, 422, `"location":"body.mode"`},
		actionStep{path + "/power", `{"state":"suspend"}`, 409, `"code":"MachineOff"`},
		actionStep{path + "/power", `{"state":"sleep"}`, 422, `"location":"body.state"`},
		actionStep{path + "/power", `{"state":"on","runStrategy":"RerunOnFailure"}`, 200, `"runStrategy":"RerunOnFailure"`},
		actionStep{path + "/power", `{"state":"restart"}`, 200, `"restartAt":"`},
		actionStep{path + "/power", `{"state":"suspend","runStrategy":"Once"}`, 422, `"location":"body.runStrategy"`},
		actionStep{path + "/power", `{"state":"suspend"}`, 200, `"runStrategy":"Suspended"`},
		actionStep{path + "/power", `{"state":"suspend"}`, 409, `"code":"NothingToDo"`},
		actionStep{path + "/power", `{"state":"restart"}`, 409, `"code":"MachineOff"`},
		actionStep{path + "/power", `{"state":"resume","runStrategy":"RerunOnFailure"}`, 200, `"runStrategy":"RerunOnFailure"`},
		actionStep{path + "/power", `{"state":"resume"}`, 409, `"code":"NothingToDo"`},
		actionStep{path + "/resize", `{}`, 422, `"code":"Invalid"`},
		actionStep{path + "/resize", `{"cpu":"2","memory":"4Gi","rootDisk":"40Gi"}`, 200, `"resource":{"cpu":"2","memory":"4Gi","rootDisk":"40Gi"}`},
		actionStep{path + "/resize", `{"cpu":"2000m"}`, 409, `"code":"NothingToDo"`},
		actionStep{path + "/resize", `{"rootDisk":"1Gi"}`, 409, `"code":"DiskShrinks"`},
		actionStep{path + "/resize", `{"cpu":"5000"}`, 422, "cpu must be at most 1024"},
		actionStep{path + "/pause", "", 200, `"windlass.io/paused":"true"`},
		actionStep{path + "/pause", "", 409, `"code":"NothingToDo"`},
		actionStep{path + "/pause", `{"until":"2099-01-31T19:00:00+01:00"}`, 200, `"windlass.io/paused":"2099-01-31T18:00:00Z"`},
		actionStep{path + "/pause", `{"until":"2001-01-31T19:00:00Z"}`, 422, `"location":"body.until"`},
		actionStep{path + "/pause", `{"until":"tomorrow"}`, 422, `"location":"body.until"`},
		actionStep{path + "/pause", `{"seconds":31536001}`, 422, `"location":"body.seconds"`},
		actionStep{path + "/pause", `{"seconds":60,"until":"2099-01-31T18:00:00Z"}`, 422, `"location":"body.seconds"`},
		actionStep{path + "/resume", "", 200, `"RerunOnFailure"`},
		actionStep{"/v1/virtualmachines/" + ns + "/absent/power", `{"state":"off"}`, 404, `"code":"NotFound"`},
	)
	vm := &cloudnativev1alpha1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "vm"}}
	if !r.Get(t, vm) || vm.Spec.Action != "" || vm.Annotations[status.PausedAnnotation] != "" || vm.Spec.RestartAt == nil {
		t.Errorf("afterwards it is %+v with %v", vm.Spec, vm.Annotations)
	}
}

func TestRollouts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	web := r.deployment(t, ns, "web", "web:2")
	r.revision(t, web, 1, "web:1")
	r.revision(t, web, 2, "web:2")
	set := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "set"}, Spec: appsv1alpha1.PodSetSpec{Size: 1}}
	r.Create(t, set)
	path, own := "/v1/deployments/"+ns+"/web", "/v1/podsets/"+ns+"/set"
	r.act(t, admin,
		actionStep{path + "/rollback", `{"toRevision":2}`, 409, `"code":"NothingToDo"`},
		actionStep{path + "/rollback", `{"toRevision":7}`, 409, `"code":"NoRevision"`},
		actionStep{path + "/rollback?dryRun=All", "", 200, `"image":"web:1"`},
		actionStep{path + "/rollback", "", 200, `"image":"web:1"`},
		actionStep{path + "/restart", "", 200, `"kubectl.kubernetes.io/restartedAt":"`},
		actionStep{path + "/pause", "", 200, `"paused":true`},
		actionStep{path + "/restart", "", 409, `"code":"RolloutPaused"`},
		actionStep{path + "/rollback", "", 409, `"code":"RolloutPaused"`},
		actionStep{path + "/resume", "", 200, `"web:1"`},
		actionStep{path + "/resume", "", 409, `"code":"NothingToDo"`},
		actionStep{own + "/rollback", "", 404, `"code":"NotFound"`},
		actionStep{own + "/restart", "", 200, `"image":"busybox"`},
		actionStep{own + "/pause", "", 200, `"paused":true`},
		actionStep{own + "/restart", "", 409, `"code":"RolloutPaused"`},
		actionStep{own + "/resume", "", 200, `"size":1`},
	)
	child := r.deployment(t, ns, "set", "busybox")
	child.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1alpha1.SchemeGroupVersion.WithKind("PodSet"))}
	must(t, r.Live.Update(t.Context(), child))
	r.revision(t, child, 1, "busybox:old")
	r.act(t, admin, actionStep{own + "/rollback", "", 200, `"image":"busybox:old"`})
}

func TestConsents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace(t)}}
	r.Create(t, pool)
	path := "/v1/nodepools/" + pool.Name
	r.act(t, admin,
		actionStep{path + "/acknowledge", `{"generation":1}`, 409, `"code":"NothingToDo"`},
		actionStep{path + "/acknowledge", `{"generation":2}`, 409, `"current":"1"`},
	)
	pool.Status.ObservedGeneration = 1
	pool.Status.Conditions = []metav1.Condition{{
		Type: nodesv1.ConditionSafetyBrake, Status: metav1.ConditionTrue, Reason: nodesv1.ReasonTooManyLeaving, LastTransitionTime: metav1.Now(),
	}}
	must(t, r.Live.Status().Update(t.Context(), pool))
	r.act(t, admin,
		actionStep{path + "/acknowledge?uid=other", `{"generation":1}`, 409, `"code":"Replaced"`},
		actionStep{path + "/acknowledge?uid=" + string(pool.UID), `{"generation":1}`, 200, `"nodes.lailin.xyz/acknowledge":"1"`},
		actionStep{path + "/pause", "", 200, `"windlass.io/paused":"true"`},
		actionStep{path + "/resume", "", 200, `"nodes.lailin.xyz/acknowledge":"1"`},
	)

	cluster := &clusterprovisionerv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: r.Namespace(t), Finalizers: []string{"example.com/test"}},
		Spec:       clusterprovisionerv1alpha1.ClusterSpec{ConfigPath: "/cluster.yml", Approval: clusterprovisionerv1alpha1.ApprovalManual},
	}
	r.Create(t, cluster)
	cluster.Status.ObservedGeneration = cluster.Generation
	cluster.Status.Plan = &clusterprovisionerv1alpha1.Plan{ID: "second"}
	cluster.Status.SkippedNodes = []string{"192.0.2.7"}
	must(t, r.Live.Status().Update(t.Context(), cluster))
	path = "/v1/clusters/" + cluster.Name
	r.act(t, admin,
		actionStep{path + "/approve", `{"plan":"first"}`, 409, `"code":"Outdated","parameters":{"current":"second"}`},
		actionStep{path + "/approve", `{}`, 422, `"code":"Invalid"`},
		actionStep{path + "/approve", `{"plan":"second"}`, 200, `"clusterprovisioner.rke.io/approve":"second"`},
		actionStep{path + "/approve", `{"plan":"second"}`, 409, `"code":"NothingToDo"`},
		actionStep{path + "/retry?dryRun=All", "", 200, `"clusterprovisioner.rke.io/retry":"`},
		actionStep{path + "/accept-skipped-nodes", `{"nodes":["192.0.2.7"]}`, 409, `"code":"NothingToDo"`},
	)
	must(t, r.Live.Delete(t.Context(), cluster))
	r.act(t, admin,
		actionStep{path + "/pause", "", 409, `"code":"Deleting"`},
		actionStep{path + "/resume", "", 409, `"code":"NothingToDo"`},
		actionStep{path + "/retry?dryRun=All", "", 200, `"clusterprovisioner.rke.io/retry":"`},
		actionStep{path + "/accept-skipped-nodes", `{"nodes":["192.0.2.8"]}`, 409, `"code":"Outdated"`},
		actionStep{path + "/accept-skipped-nodes", `{"nodes":["192.0.2.7"]}`, 200, `"clusterprovisioner.rke.io/accept-skipped-nodes":"true"`},
	)
	if !r.Get(t, cluster) {
		t.Fatal("the Cluster is gone")
	}
	if cluster.Annotations[clusterprovisionerv1alpha1.RetryAnnotation] != "" {
		t.Error("a dry run was stored")
	}
	cluster.Finalizers = nil
	must(t, r.Live.Update(t.Context(), cluster))
}

// TestAPausedObjectThatIsBeingDeletedCannotBeResumed resumes what a person paused before they deleted it: nothing is removed while it is paused.
func TestAPausedObjectThatIsBeingDeletedCannotBeResumed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	cluster := &clusterprovisionerv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: r.Namespace(t), Finalizers: []string{"example.com/test"}, Annotations: map[string]string{status.PausedAnnotation: "true"},
		},
		Spec: clusterprovisionerv1alpha1.ClusterSpec{ConfigPath: "/cluster.yml"},
	}
	r.Create(t, cluster)
	must(t, r.Live.Delete(t.Context(), cluster))
	r.act(t, admin, actionStep{"/v1/clusters/" + cluster.Name + "/resume", "", 200, `"deletionTimestamp":"`})
	if r.Get(t, cluster) && cluster.Annotations[status.PausedAnnotation] != "" {
		t.Error("the Cluster is still paused")
	}
	cluster.Finalizers = nil
	must(t, r.Live.Update(t.Context(), cluster))
}

// drained reads the answer to a drain: the pods by result.
func (a answer) drained(t *testing.T) (map[string]action.DrainResult, action.Drain) {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	var out action.Drain
	must(t, json.Unmarshal(a.body, &out))
	pods := map[string]action.DrainResult{}
	for _, pod := range out.Pods {
		pods[pod.Name] = pod.Result
	}
	return pods, out
}

// TestDrain previews a drain, and drains as far as budgets and the rights of the caller go.
func TestDrain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ns + "-node"}}
	r.Create(t, node)
	managed := func(kind string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "owner", UID: "1", Controller: new(true)}}
		}
	}
	r.pod(t, ns, "alone", node.Name)
	r.pod(t, ns, "daemon", node.Name, managed("DaemonSet"))
	r.pod(t, ns, "free", node.Name, managed("ReplicaSet"))
	kept := r.pod(t, ns, "kept", node.Name, managed("ReplicaSet"))
	kept.Status.Phase = corev1.PodRunning
	kept.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	must(t, r.Live.Status().Update(t.Context(), kept))
	r.Create(t, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "budget"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}},
		},
	})
	path := "/v1/nodes/" + node.Name
	preview, drain := r.do(t, http.MethodPost, path+"/drain?dryRun=All", admin, "").drained(t)
	want := map[string]action.DrainResult{"alone": "Unmanaged", "daemon": "DaemonSet", "free": "WouldBeEvicted", "kept": "Blocked"}
	if diff := cmp.Diff(want, preview); diff != "" || !drain.BudgetsKnown || drain.Pods[3].Budget != "budget" {
		t.Errorf("a preview is %+v (-want +got):\n%s", drain, diff)
	}
	if r.Get(t, node); node.Spec.Unschedulable {
		t.Error("a preview cordons the node")
	}
	if got := r.do(t, http.MethodPost, path+"/uncordon", admin, ""); got.status != http.StatusConflict {
		t.Errorf("uncordoning a node that is not cordoned: %d", got.status)
	}

	// Somebody who may cordon nodes and see pods, and evict none.
	weak := r.user(t, "", rule("get,patch", "", "nodes"), rule("list", "", "pods"))
	result, drain := r.do(t, http.MethodPost, path+"/drain", weak, `{"force":true}`).drained(t)
	want = map[string]action.DrainResult{"alone": "Forbidden", "daemon": "DaemonSet", "free": "Forbidden", "kept": "Forbidden"}
	if diff := cmp.Diff(want, result); diff != "" || drain.BudgetsKnown || drain.Remaining != 3 {
		t.Errorf("without the right to evict: %+v (-want +got):\n%s", drain, diff)
	}
	if r.Get(t, node); !node.Spec.Unschedulable {
		t.Error("the node is not cordoned")
	}
	result, drain = r.do(t, http.MethodPost, path+"/drain", admin, `{"force":true,"gracePeriodSeconds":0}`).drained(t)
	want = map[string]action.DrainResult{"alone": "Evicted", "daemon": "DaemonSet", "free": "Evicted", "kept": "Blocked"}
	if diff := cmp.Diff(want, result); diff != "" {
		t.Errorf("a drain is %+v (-want +got):\n%s", drain, diff)
	}
	if r.Get(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "free"}}) {
		t.Error("a pod that was evicted is there")
	}
	r.act(t, admin, actionStep{path + "/cordon", "", 409, `"code":"NothingToDo"`}, actionStep{path + "/uncordon", "", 200, `"kind":"Node"`})
	if lines := r.log.with(`"kind"="Pod"`); len(lines) < 3 || len(r.log.with(`"action"="drain"`)) != 3 {
		t.Errorf("the log has %q", lines)
	}
}

// kubeconfigSecret creates a Secret with a kubeconfig for the object.
func (r *rig) kubeconfigSecret(t *testing.T, namespace string, of *clusterprovisionerv1alpha1.Kubeconfig, content string, owners ...metav1.OwnerReference) {
	t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kubeconfig", OwnerReferences: owners},
		Data:       map[string][]byte{"value": []byte(content)},
	}
	if err := r.Live.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kubeconfig"}}); !apierrors.IsNotFound(err) {
		must(t, err)
	}
	r.Create(t, secret)
	of.Status.SecretRef = &corev1.SecretReference{Namespace: namespace, Name: "kubeconfig"}
	must(t, r.Live.Status().Update(t.Context(), of))
}

const someKubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://192.0.2.1"}}]
users: [{name: u, user: {token: hidden-text}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

// TestAttackDownloads downloads kubeconfigs: those that Windlass has written, for callers who may read the Secret, and no others.
func TestAttackDownloads(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	admin := r.user(t, "", everything())
	blind := r.user(t, "", rule("*", "clusterprovisioner.rke.io", "*"))
	config := &clusterprovisionerv1alpha1.Kubeconfig{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec:       clusterprovisionerv1alpha1.KubeconfigSpec{ClusterRef: &clusterprovisionerv1alpha1.ClusterReference{Name: "c"}},
	}
	r.Create(t, config)
	own := *metav1.NewControllerRef(config, clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Kubeconfig"))
	cluster := func(name string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: own.APIVersion, Kind: "Cluster", Name: name, UID: "c"}
	}
	path := "/v1/kubeconfigs/" + ns + "/download"
	r.act(t, admin, actionStep{path, "", 409, `"code":"NotYet"`})
	r.kubeconfigSecret(t, ns, config, someKubeconfig)
	r.act(t, admin, actionStep{path, "", 409, `"code":"ForeignSecret"`})
	r.kubeconfigSecret(t, ns, config, someKubeconfig, cluster("other"))
	r.act(t, admin, actionStep{path, "", 409, `"code":"ForeignSecret"`})
	program := strings.Replace(someKubeconfig, "token: hidden-text", "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}", 1)
	r.kubeconfigSecret(t, ns, config, program, own)
	r.act(t, admin, actionStep{path, "", 409, `"code":"ForeignSecret"`})
	r.kubeconfigSecret(t, ns, config, program, cluster("c"))
	r.act(t, admin, actionStep{path, "", 409, `"code":"ForeignSecret"`})
	r.kubeconfigSecret(t, ns, config, someKubeconfig, cluster("c")) // as for the Kubeconfig that comes with a Cluster
	r.act(t, admin, actionStep{path, "", 200, "hidden-text"})
	r.kubeconfigSecret(t, ns, config, someKubeconfig, own)
	r.act(t, blind, actionStep{path, "", 403, `"code":"Forbidden"`})
	got := r.do(t, http.MethodPost, path, admin, "")
	if got.status != http.StatusOK || string(got.body) != someKubeconfig || got.header.Get("Cache-Control") != "no-store" ||
		got.header.Get("Content-Disposition") != "attachment; filename="+ns+".kubeconfig" {
		t.Errorf("status %d with %v: %s", got.status, got.header, got.body)
	}
	if lines := r.log.with(`"action"="download"`); len(lines) != 8 || !strings.Contains(lines[7], `"status"=200`) {
		t.Errorf("the log has %q", lines)
	}
	if leaked := r.log.with("hidden-text"); len(leaked) > 0 {
		t.Errorf("the log has the kubeconfig: %q", leaked)
	}
}

// TestAttackActionsWithoutRights holds that an action does nothing that its caller could not do by a write of their own.
func TestAttackActionsWithoutRights(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	web := r.deployment(t, ns, "web", "web:1")
	reader := r.user(t, ns, rule("get,list", "apps", "deployments", "replicasets"))
	writer := r.user(t, ns, rule("patch", "apps", "deployments"))
	path := "/v1/deployments/" + ns + "/web/"
	for _, token := range []string{reader, writer} { // one may not write, and the other one not read what they would act on
		r.act(t, token,
			actionStep{path + "pause", "", 403, `"code":"Forbidden"`}, actionStep{path + "restart", "", 403, `"code":"Forbidden"`},
			actionStep{"/v1/nodes/any/drain", "", 403, `"code":"Forbidden"`})
	}
	full := r.user(t, ns, rule("get,patch", "apps", "deployments"))
	r.act(t, full, actionStep{path + "rollback", "", 403, `"kind":"replicasets"`})
	seen := web.DeepCopy()
	must(t, r.Live.Get(t.Context(), client.ObjectKeyFromObject(web), seen))
	if seen.ResourceVersion != web.ResourceVersion {
		t.Error("the Deployment was changed")
	}
	r.act(t, full, actionStep{path + "pause", "", 200, `"paused":true`})
	if lines := r.log.with(`"action"="pause"`); len(lines) != 3 || !strings.Contains(lines[2], `"status"=200`) || !strings.Contains(lines[0], `"status"=403`) {
		t.Errorf("the log has %q", lines)
	}
	got := r.do(t, http.MethodPost, path+"resume", full, "", "Origin", "https://evil.example")
	if got.status != http.StatusForbidden || got.problem(t).Code != "CrossOrigin" {
		t.Errorf("a page of another origin gets %d: %s", got.status, got.body)
	}
}
