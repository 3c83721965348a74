// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
	"github.com/windlass-operator/windlass/internal/why"
)

func conditions(list ...metav1.Condition) []metav1.Condition { return list }

func is(kind string, value metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: value, Reason: reason, Message: message}
}

const yes, no, maybe = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown

// states returns the titles of the checks with what became of them, in order.
func states(of *why.Explanation) []string {
	var out []string
	for _, check := range of.Checks {
		out = append(out, string(check.State)+": "+check.Title)
	}
	return out
}

func TestReadyNamesTheCause(t *testing.T) {
	t.Parallel()
	pool := build.Pool("gpu").With(func(p *nodesv1.NodePool) {
		p.Status.ObservedGeneration = 1
		p.Status.Conditions = conditions(
			is("Ready", no, nodesv1.ReasonTooManyLeaving, "4 of the 5 nodes would leave"),
			is(nodesv1.ConditionNodesSynced, no, nodesv1.ReasonSyncingNodes, "waiting for 4 nodes"),
			is(nodesv1.ConditionConflicted, no, nodesv1.ReasonNoConflict, ""),
			is(nodesv1.ConditionSafetyBrake, yes, nodesv1.ReasonTooManyLeaving, "4 of the 5 nodes would leave"),
			is("Paused", no, "NotPaused", ""),
		)
	}).Obj()
	got := why.NodePool(pool)
	want := []string{
		"Passed: Windlass has reported on the object as it is now", "Passed: Nobody else holds a key of the pool", "Passed: Windlass is not paused for the object",
		"Failed: Not too many nodes leave at once", "NotLookedAt: The nodes carry what the pool wants", "NotLookedAt: The object is not being deleted",
	}
	if diff := cmp.Diff(want, states(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	step := &why.Step{Text: "Correct the labels or the selector, or acknowledge that the nodes leave.", Command: "kubectl annotate nodepools.nodes.lailin.xyz gpu nodes.lailin.xyz/acknowledge=1 --overwrite"}
	if diff := cmp.Diff(step, got.Failure().Next); diff != "" {
		t.Errorf("the next step (-want +got):\n%s", diff)
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	soon := metav1.NewTime(time.Unix(99, 0))
	machine := func(list ...metav1.Condition) *cloudnativev1alpha1.VirtualMachine {
		vm := build.Machine("vm").Obj()
		vm.Status.ObservedGeneration = 1
		vm.Status.Conditions, vm.Status.StartFailure = list, &cloudnativev1alpha1.StartFailure{RetryAfter: &soon}
		return vm
	}
	set := func(list ...metav1.Condition) *appsv1alpha1.PodSet {
		return &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: appsv1alpha1.PodSetSpec{NodePool: "gpu"}, Status: appsv1alpha1.PodSetStatus{Conditions: list}}
	}
	cluster := func(list ...metav1.Condition) *clusterprovisionerv1alpha1.Cluster {
		of := build.Cluster("prod").Obj()
		of.Status.ObservedGeneration = 1
		of.Status.Conditions, of.Status.NextRetryTime, of.Status.Plan = list, &soon, &clusterprovisionerv1alpha1.Plan{ID: "0f3c"}
		return of
	}
	pool := func(list ...metav1.Condition) *nodesv1.NodePool {
		return build.Pool("gpu").With(func(pool *nodesv1.NodePool) {
			pool.Status.ObservedGeneration, pool.Status.Conditions = pool.Generation, list
		}).Obj()
	}
	const lost = "the machine was suspended and is off now. Set runStrategy to Always to start it"
	tests := map[string]struct {
		got        *why.Explanation
		want, next string
		at         *metav1.Time
		heals      bool // it has to
	}{
		"a machine that is ready": {got: why.VirtualMachine(machine(is("Ready", yes, "Ready", ""))), want: "VirtualMachine vm is ready."},
		"a machine that crashes": {
			got: why.VirtualMachine(machine(
				is("Ready", no, "Crashed", "exit code 1"), is(cloudnativev1alpha1.ConditionDriverReady, yes, "DriverReady", ""), is(cloudnativev1alpha1.ConditionPowerSynced, no, "Crashed", "exit code 1"))),
			want: "Crashed: Exit code 1.", at: &soon,
			next: `curl -sS -H "Authorization: Bearer $T" "$A/v1/virtualmachines/default/vm/console/output?tailLines=100" | cat -v`,
		},
		"a machine that lost its memory": {
			got:  why.VirtualMachine(machine(is("Ready", no, "NotSuspended", lost), is(cloudnativev1alpha1.ConditionPowerSynced, no, "NotSuspended", lost))),
			want: "NotSuspended: The machine was suspended and is off now. Set runStrategy to Always to start it.",
			next: `kubectl patch virtualmachine vm -n default --type merge -p '{"spec":{"runStrategy":"Always"}}'`, at: &soon,
		},
		"a machine that works and waits for a restart": {
			got:  why.VirtualMachine(machine(is("Ready", yes, "Ready", ""), is(cloudnativev1alpha1.ConditionRestartRequired, yes, "ResizePending", "2 CPU wait for a restart"))),
			want: "ResizePending: 2 CPU wait for a restart.", next: `kubectl patch virtualmachine vm -n default --type merge -p '{"spec":{"updatePolicy":"Restart"}}'`, at: &soon,
		},
		"a pool whose command could mean that of another program": {
			got:  why.NodePool(pool(is("Ready", no, "NameConflict", "RuntimeClass gpu is theirs"), is(nodesv1.ConditionRuntimeClassReady, no, "NameConflict", "RuntimeClass gpu is theirs"))),
			want: "NameConflict: RuntimeClass gpu is theirs.", next: "kubectl describe nodepools.nodes.lailin.xyz gpu",
		},
		"a pause keeps what would heal by itself from healing": {
			got: why.PodSet(set(is("Ready", maybe, "DeploymentPending", "the PodSet has no Deployment"), is("Available", maybe, "DeploymentPending", "the PodSet has no Deployment"),
				is("Paused", yes, "Paused", "Windlass rests"))),
			want: "Paused: Windlass rests.", next: "kubectl annotate podset web -n shop windlass.io/paused-",
		},
		"what waits for a person waits for them in a pause as well": {
			got: why.PodSet(set(is("Ready", no, "NameTaken", "Deployment web belongs to somebody else"), is("ChildConflict", yes, "NameTaken", "Deployment web belongs to somebody else"),
				is("Paused", yes, "Paused", "Windlass rests"))),
			want: "NameTaken: Deployment web belongs to somebody else.", next: "kubectl get deployments,poddisruptionbudgets -n shop",
		},
		"others have made the Deployment of a PodSet too large": {
			got:  why.PodSet(set(is("Ready", no, "TemplateTooLarge", "Deployment web has 300000 bytes"), is("Stalled", yes, "TemplateTooLarge", "Deployment web has 300000 bytes"))),
			want: "TemplateTooLarge: Deployment web has 300000 bytes.",
			next: "kubectl get podsets,deployments,poddisruptionbudgets -n shop --field-selector metadata.name=web -o yaml",
		},
		"an object that Windlass has not seen": {
			got: why.PodSet(set()), want: "NotObserved: Windlass has not reported on generation 0 of PodSet web yet.", next: "kubectl -n windlass-system get pods",
		},
		"a cause that only Ready has": {
			got:  why.PodSet(set(is("Ready", no, "PoolCordoned", "waiting for 1 of 3 pods to be available: all 2 ready nodes of pool gpu are cordoned: a, b"), is("Available", no, "MinimumReplicasUnavailable", ""))),
			want: "PoolCordoned: Waiting for 1 of 3 pods to be available: all 2 ready nodes of pool gpu are cordoned: a, b.", next: "kubectl get nodes -l node-role.kubernetes.io/gpu",
		},
		"an object that is paused for a time": {
			got: why.PodSet(func() *appsv1alpha1.PodSet {
				of := set(is("Ready", yes, "Ready", ""), is("Paused", yes, "Paused", "until then"))
				of.Annotations = map[string]string{"windlass.io/paused": "1970-01-01T00:01:39Z"}
				return of
			}()),
			want: "Paused: Until then.", next: "kubectl annotate podset web -n shop windlass.io/paused-", at: &soon, heals: true,
		},
		"a machine that is paused for good while an attempt is due": {
			got:  why.VirtualMachine(machine(is("Ready", no, "Crashed", "exit code 1"), is("Paused", yes, "Paused", "Windlass rests"))),
			want: "Paused: Windlass rests.", next: "kubectl annotate virtualmachine vm -n default windlass.io/paused-",
		},
		"a paused object": {
			got:  why.PodSet(set(is("Ready", yes, "Ready", ""), is("Paused", yes, "Paused", "windlass.io/paused is set"))),
			want: "Paused: windlass.io/paused is set.", next: "kubectl annotate podset web -n shop windlass.io/paused-",
		},
		"an object that is being deleted": {
			got: why.PodBuggerTool(&appsv1alpha1.PodBuggerTool{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "gdb", DeletionTimestamp: &soon, Finalizers: []string{"x"}},
				Status:     appsv1alpha1.PodBuggerToolStatus{Conditions: conditions(is("Ready", yes, "Ready", ""))},
			}),
			want: "Deleting: PodBuggerTool gdb is being deleted and waits for its finalizers.", next: "kubectl -n windlass-system logs -l app.kubernetes.io/component=manager --prefix --tail=200",
		},
		"a plan that waits for a person": {
			got:  why.Cluster(cluster(is("Ready", no, "WaitingForApproval", "plan 0f3c"), is("Provisioned", no, "WaitingForApproval", "plan 0f3c"))),
			want: "WaitingForApproval: Plan 0f3c.", next: "kubectl annotate clusters.clusterprovisioner.rke.io prod clusterprovisioner.rke.io/approve=0f3c --overwrite", at: &soon,
		},
		"a credential": {
			got: why.Kubeconfig(&clusterprovisionerv1alpha1.Kubeconfig{
				ObjectMeta: metav1.ObjectMeta{Name: "ci"}, Status: clusterprovisionerv1alpha1.KubeconfigStatus{Conditions: conditions(is("Ready", no, "ClusterNotFound", "no cluster"), is("Issued", no, "ClusterNotFound", "no cluster"))},
			}),
			want: "ClusterNotFound: No cluster.", next: "kubectl get clusters.clusterprovisioner.rke.io",
		},
		"a reason of a newer version": {
			got: why.PodSet(set(is("Ready", maybe, "Unheard", "of"))), want: "Unheard: of.", next: "kubectl describe podset web -n shop",
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, toldOf(tt.got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkShape(t, tt.got)
			failure := tt.got.Failure()
			if failure == nil {
				return
			}
			if diff := cmp.Diff(tt.next, failure.Next.Command); diff != "" {
				t.Errorf("the command (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.at, failure.Next.At); diff != "" {
				t.Errorf("the time (-want +got):\n%s", diff)
			}
			if tt.heals && (!failure.Next.Heals || !strings.Contains(failure.Next.Text, "by itself")) {
				t.Errorf("it has to heal by itself: %+v", failure.Next)
			}
		})
	}
}

func TestDeployment(t *testing.T) {
	t.Parallel()
	of := func(change func(*appsv1.Deployment)) *appsv1.Deployment {
		d := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(3))},
			Status: appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3},
		}
		change(d)
		return d
	}
	failing := func(message string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.Status.UpdatedReplicas = 0
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: message}}
		}
	}
	tests := map[string]struct {
		change func(*appsv1.Deployment)
		want   string
	}{
		"all pods are available": {func(*appsv1.Deployment) {}, "All pods of Deployment web are available."},
		"nobody has looked":      {func(d *appsv1.Deployment) { d.Generation = 2 }, "NotObserved: The Deployment controller has not looked at generation 2 yet."},
		"a quota":                {failing(`pods "web-1" is forbidden: exceeded quota: q`), `QuotaExceeded: Pods "web-1" is forbidden: exceeded quota: q.`},
		"a RuntimeClass":         {failing(`pods "web-1" is forbidden: pod rejected: RuntimeClass "gpu" not found`), `RuntimeClassMissing: Pods "web-1" is forbidden: pod rejected: RuntimeClass "gpu" not found.`},
		"Pod Security":           {failing(`pods "web-1" is forbidden: violates PodSecurity "restricted:latest"`), `AdmissionRefused: Pods "web-1" is forbidden: violates PodSecurity "restricted:latest".`},
		"a webhook that is down": {
			failing(`Internal error occurred: failed calling webhook "a.b.c": connection refused`), `AdmissionRefused: Internal error occurred: failed calling webhook "a.b.c": connection refused.`,
		},
		"something else": {failing("no"), "FailedCreate: no."},
		"a paused rollout": {
			func(d *appsv1.Deployment) { d.Spec.Paused, d.Status.UpdatedReplicas = true, 1 }, "DeploymentPaused: The rollout is paused, and not all pods run the current template.",
		},
		"a deadline": {func(d *appsv1.Deployment) {
			d.Status.AvailableReplicas = 1
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "timed out"}}
		}, "ProgressDeadlineExceeded: Timed out."},
		"pods that are not created yet": {func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }, "RollingOut: 2 of 3 pods are not created from the current template yet."},
		"pods that are not available":   {func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 }, "RollingOut: 2 of 3 pods are not available."},
		"old pods":                      {func(d *appsv1.Deployment) { d.Status.Replicas = 4 }, "RollingOut: 1 old pods have not ended yet."},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			got := why.Deployment(of(tt.change))
			if diff := cmp.Diff(tt.want, toldOf(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkShape(t, got)
		})
	}
}

// TestCommandsNameTheWrongNamespace: Windlass can be installed in another namespace than that of the manifests.
func TestCommandsNameTheWrongNamespace(t *testing.T) {
	t.Parallel()
	of := func() *why.Explanation {
		tool := &appsv1alpha1.PodBuggerTool{ObjectMeta: metav1.ObjectMeta{Namespace: "windlass-system", Name: "gdb", Generation: 2}}
		return why.PodBuggerTool(tool)
	}
	for system, want := range map[string]string{
		"ops": "kubectl -n ops get pods", "windlass-system": "kubectl -n windlass-system get pods", "": "kubectl -n windlass-system get pods",
	} {
		got := of()
		got.Because = of()
		got.RunsIn(system)
		for _, each := range []*why.Explanation{got, got.Because} {
			if diff := cmp.Diff(want, each.Failure().Next.Command); diff != "" {
				t.Errorf("in %q (-want +got):\n%s", system, diff)
			}
		}
	}
}

// What heals by itself as long as Windlass tries again does not once it has given up.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	soon := metav1.NewTime(time.Unix(99, 0))
	machine := func(reason string, stalled metav1.ConditionStatus, more ...metav1.Condition) *why.Explanation {
		vm := build.Machine("vm").Obj()
		vm.Status.ObservedGeneration, vm.Status.StartFailure = 1, &cloudnativev1alpha1.StartFailure{RetryAfter: &soon}
		vm.Status.Conditions = append(conditions(is("Ready", no, reason, "it is gone"), is("Stalled", stalled, reason, "")), more...)
		return why.VirtualMachine(vm)
	}
	cluster := func(stalled metav1.ConditionStatus) *why.Explanation {
		of := build.Cluster("prod").Obj()
		of.Status.ObservedGeneration = 1
		of.Status.Conditions = conditions(is("Ready", no, "Timeout", "gave up after 3 attempts"), is("Stalled", stalled, "Timeout", ""))
		return why.Cluster(of)
	}
	const start, retry = `kubectl patch virtualmachine vm -n default --type merge -p '{"spec":{"runStrategy":"Always"}}'`,
		`kubectl annotate clusters.clusterprovisioner.rke.io prod clusterprovisioner.rke.io/retry="$(date +%s)" --overwrite`
	for sentence, tt := range map[string]struct {
		got  *why.Explanation
		want why.Step
	}{
		"a lost machine that is created again": {
			machine("InstanceLost", no), why.Step{Text: "Windlass creates the machine again.", Command: "kubectl describe virtualmachine vm -n default", Heals: true, At: &soon},
		},
		"a lost machine that is not": {
			machine("InstanceLost", yes), why.Step{Text: "Set restartAt, if the run strategy is Once, or choose another run strategy: Windlass then creates the machine again.", Command: start},
		},
		"a pause is not to blame for what has been given up": {
			machine("InstanceLost", yes, is("Paused", yes, "Paused", "")),
			why.Step{Text: "Set restartAt, if the run strategy is Once, or choose another run strategy: Windlass then creates the machine again.", Command: start},
		},
		"a failed run that is repeated": {
			cluster(no), why.Step{Text: "The run is repeated. Raise timeouts.up if it needs longer.", Command: retry, Heals: true},
		},
		"the last failed run": {cluster(yes), why.Step{Text: "Raise timeouts.up, then run the tool again.", Command: retry}},
		"what waits for a person is looked at again": {
			machine("DiskLost", yes), why.Step{Text: "Restore the disk on its host: Windlass tries again.", Command: "kubectl describe virtualmachine vm -n default", At: &soon},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(&tt.want, tt.got.Failure().Next); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// fine are the reasons of conditions that are as they should be, of events, and of conditions that are never a cause.
func fine() []string {
	return []string{
		"ConfigRead", "Applied", "Removed", "NotDegraded", "KubeconfigWritten", "Answering", "RunStarted", "Stage", "RunFailed", "Issued", "Revoked",
		"NodesSynced", "RuntimeClassReady", "NoConflict", "HandlerAvailable", "HandlersUnknown", "AdmissionReady", "BrakeReleased", "RolledOut", "NothingToDrain",
		"NodesJoined", "NodesLeft", "DriftRepaired", "KeysAbandoned", "NodeRefused", "RuntimeClassCreated", "RuntimeClassUpdated", "RuntimeClassRecreated",
		"WouldEvict", "PodsEvicted", "DrainTimedOut", "Cleaned", "DriverReady", "ImageReady", "Provisioned", "Running", "Completed", "ResourcesSynced", "UpToDate",
		"Accelerated", "Created", "Adopted", "Started", "Suspended", "Resumed", "Restarted", "Resized", "Replaced", "Deleted", "Retained", "Orphaned", "Duplicated", "OrphanDeleted", "ToolInstalled",
		"WithinLimit", "NoReplicaFailure", "DeploymentCreated", "DeploymentUpdated", "Scaled", "MinimumReplicasAvailable", "NewReplicaSetCreated",
		"FoundNewReplicaSet", "ReplicaSetUpdated", "NewReplicaSetAvailable", "ReplicaSetCreateError", "DeploymentResumed", "Ready", "Idle", "NotStalled", "NotPaused",
	}
}

// Every reason that can be a cause has a next step, and every code is in the guide.
func TestEveryCauseHasANextStep(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, kind := range []string{"Pod", "Node", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "NodePool", "PodSet", "PodBuggerTool", "VirtualMachine", "Cluster", "Kubeconfig"} {
		for _, code := range why.Codes(kind) {
			known[string(code)] = true
			testkit.CheckDocumented(t, string(code))
		}
	}
	var pages []string
	for _, pattern := range []string{"api/*/*/*conditions.go", "internal/status/status.go"} {
		found, err := filepath.Glob(filepath.Join(testkit.Root(), pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no file is like %s: %v", pattern, err)
		}
		pages = append(pages, found...)
	}
	declared := regexp.MustCompile(`\bReason\w+ += "(\w+)"`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, reason := range declared.FindAllStringSubmatch(string(text), -1) {
			if !known[reason[1]] && !slices.Contains(fine(), reason[1]) {
				t.Errorf("the table of codes has no row for the reason %s", reason[1])
			}
		}
	}
}
