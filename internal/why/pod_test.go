// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
	"github.com/windlass-operator/windlass/internal/why"
)

// waiting returns a pod of pool gpu without a node, of which the scheduler has said something.
func waiting() *build.PodBuilder {
	return build.Pod("web").Requests("cpu", "1").With(func(p *corev1.Pod) {
		p.Spec.RuntimeClassName = new("gpu")
		p.Spec.SchedulerName = "default-scheduler"
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/2 nodes are available",
		}}
	})
}

// placed returns a pod of pool gpu on node a with one container in that state.
func placed(state corev1.ContainerState, change ...func(*corev1.Pod)) *build.PodBuilder {
	return build.Pod("web").Node("a").Phase(corev1.PodRunning).With(func(p *corev1.Pod) {
		p.Spec.RuntimeClassName = new("gpu")
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: state, Ready: state.Running != nil}}
	}).With(change...)
}

func asleep(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func awake() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

// neighbourhood is what a pod is explained with: a class and a pool "gpu" in order, unless a test changes them.
type neighbourhood struct {
	why.Around

	pool string
}

func around(nodes ...*build.NodeBuilder) *neighbourhood {
	n := &neighbourhood{pool: "gpu", Around: why.Around{
		Class: &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Handler: "nvidia"}, Pool: pool().Finalizer(nodesv1.Finalizer).Obj(),
		Taken:  func(string) corev1.ResourceList { return corev1.ResourceList{} },
		Unseen: map[why.Part]string{},
	}}
	for _, one := range nodes {
		n.Nodes = append(n.Nodes, one.Obj())
	}
	return n
}

func (n *neighbourhood) with(change func(*neighbourhood)) *neighbourhood {
	change(n)
	return n
}

func (n *neighbourhood) taken(pairs ...string) *neighbourhood {
	n.Taken = func(string) corev1.ResourceList { return build.Resources(pairs...) }
	return n
}

func (n *neighbourhood) unseen(part why.Part, because string) *neighbourhood {
	n.Unseen[part] = because
	return n
}

// withoutPool is for pods that have chosen no pool.
func (n *neighbourhood) withoutPool() *neighbourhood {
	n.pool, n.Pool = "", nil
	return n
}

func TestPod(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pod    *build.PodBuilder
		around *neighbourhood
		// want is "Code: message", or the summary if no check has failed.
		want string
	}{
		"a pod that runs": {
			pod: placed(awake()), around: around(node("a")), want: "Pod web runs on node a and is ready.",
		},
		"a pod that has ended": {
			pod: build.Pod("web").Phase(corev1.PodSucceeded), around: around(), want: "Pod web has ended without an error.",
		},
		"a pod that was evicted": {
			pod: build.Pod("web").Node("a").Phase(corev1.PodFailed).With(func(p *corev1.Pod) {
				p.Status.Reason, p.Status.Message = "Evicted", "The node was low on memory"
			}),
			around: around(node("a")), want: "PodFailed: Pod web has failed: Evicted: The node was low on memory.",
		},
		"a pod whose container ended with an error": {
			pod:    placed(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}}).Phase(corev1.PodFailed),
			around: around(node("a")), want: "PodFailed: Pod web has failed: container app ended with exit code 3 (Error).",
		},
		"a pod that is being deleted": {
			pod: waiting().Deleting(time.Unix(1, 0)), around: around(node("a")), want: "PodDeleting: Pod web is being deleted.",
		},
		"a pod with a gate": {
			pod: waiting().With(func(p *corev1.Pod) {
				p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota.example.com/wait"}}
			}),
			around: around(node("a")), want: "SchedulingGated: The scheduler ignores the pod until these gates are removed: quota.example.com/wait.",
		},
		"a pod whose RuntimeClass is gone": {
			pod: waiting(), around: around(node("a")).with(func(n *neighbourhood) { n.Class = nil }),
			want: "RuntimeClassMissing: The RuntimeClass gpu does not exist.",
		},
		"a pod whose pool is gone": {
			pod: waiting(), around: around(node("a")).with(func(n *neighbourhood) { n.Pool = nil }), want: "PoolNotFound: Pool gpu does not exist.",
		},
		"a pod whose pool is being deleted": {
			pod: waiting(), around: around(node("a")).with(func(n *neighbourhood) { n.Pool = pool().Deleting(time.Unix(1, 0)).Obj() }),
			want: "PoolDeleting: Pool gpu is being deleted.",
		},
		"a pool without nodes": {
			pod: waiting(), around: around(left("a")), want: "PoolHasNoNode: Pool gpu has no nodes.",
		},
		"a pool whose nodes are not ready": {
			pod: waiting(), around: around(unready("a"), unready("b")), want: "PoolHasNoReadyNode: All 2 nodes of pool gpu are not ready: a, b.",
		},
		"a pod that tolerates nodes that are not ready": {
			pod:    waiting().With(func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} }),
			around: around(unready("a").Cordoned().Taint("x", "", corev1.TaintEffectNoSchedule)),
			want:   "Unschedulable: The scheduler says: 0/2 nodes are available.",
		},
		"a pool whose nodes lack its labels": {
			pod: waiting(), around: around(unjoined("a")), want: "PoolNodesNotSynced: The only ready node of pool gpu lacks labels of the pool: a.",
		},
		"a pool whose nodes lack its labels because it is paused": {
			pod: waiting(), around: around(unjoined("a")).with(func(n *neighbourhood) { n.Pool = pool().Paused().Obj() }),
			want: "PoolPaused: Pool gpu is paused, and the only ready node of pool gpu lacks labels of the pool: a.",
		},
		"a pod with a selector of its own": {
			pod: waiting().With(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }), around: around(node("a")),
			want: "NoNodeSelected: The only node of pool gpu does not match the selector of the pod: a; the pod asks for disk=ssd.",
		},
		"a pod with a node affinity": {
			pod: waiting().With(func(p *corev1.Pod) {
				p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{
						{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}}}},
						{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}}},
					},
				}}}
			}),
			around: around(node("a"), node("b")).withoutPool(),
			want:   "NoNodeSelected: All 2 nodes do not match the selector of the pod: a, b; the pod asks for (zone In a,b or disk Exists).",
		},
		"a pod whose node of choice is not ready": {
			pod:    waiting().With(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
			around: around(node("a"), unready("b").Label("disk", "ssd"), unready("c")),
			want:   "PoolHasNoReadyNode: The only node of pool gpu that the pod selects is not ready: b.",
		},
		"a pod without a pool whose nodes of choice are not ready": {
			pod:    waiting().With(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
			around: around(node("a"), unready("c").Label("disk", "ssd"), unready("b").Label("disk", "ssd")).withoutPool(),
			want:   "NoReadyNode: All 2 nodes that the pod selects are not ready: b, c.",
		},
		"a pod whose node of choice is not ready and not in the pool": {
			pod:    waiting().With(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
			around: around(node("a"), left("b").Label("disk", "ssd").Ready(corev1.ConditionUnknown)),
			want:   "NoNodeSelected: The only node of pool gpu does not match the selector of the pod: a; the pod asks for disk=ssd.",
		},
		"a pool whose nodes are cordoned": {
			pod: waiting(), around: around(node("a").Cordoned(), unready("b")), want: "PoolCordoned: The only ready node of pool gpu is cordoned: a.",
		},
		"nodes with taints": {
			pod: waiting(), around: around(node("a").Taint("team", "x", corev1.TaintEffectNoSchedule), node("b").Cordoned(), node("c").Taint("team", "", corev1.TaintEffectNoExecute)),
			want: "NodesTainted: All 2 nodes of pool gpu that are left have taints that the pod does not tolerate: a, c; node a has the taint team=x:NoSchedule.",
		},
		"all nodes have taints": {
			pod:    waiting(),
			around: around(node("a").Taint("team", "x", corev1.TaintEffectNoSchedule), node("b").Taint("team", "", corev1.TaintEffectNoExecute), left("c")),
			want:   "NodesTainted: All 2 nodes of pool gpu have taints that the pod does not tolerate: a, b; node a has the taint team=x:NoSchedule.",
		},
		"a node with a taint beside cordoned ones": {
			pod: waiting(), around: around(node("a").Taint("team", "x", corev1.TaintEffectNoSchedule), node("b").Cordoned(), node("c").Cordoned()).withoutPool(),
			want: "NodesTainted: The only node that is left has a taint that the pod does not tolerate: a; node a has the taint team=x:NoSchedule.",
		},
		"a cordoned node beside ready ones that the pod does not select": {
			pod:    waiting().With(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
			around: around(node("a").Label("disk", "ssd").Cordoned(), node("b"), node("c")).withoutPool(),
			want:   "NodesCordoned: The only ready node that is left is cordoned: a.",
		},
		"cordoned nodes of a pool beside one without its labels": {
			pod: waiting(), around: around(node("a").Cordoned(), node("b").Cordoned(), unjoined("c")),
			want: "PoolCordoned: All 2 ready nodes of pool gpu that are left are cordoned: a, b.",
		},
		"a selector that no ready node matches, beside one that is not ready": {
			pod:    waiting().With(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
			around: around(node("a"), unready("b")),
			want:   "NoNodeSelected: The only node of pool gpu that is left does not match the selector of the pod: a; the pod asks for disk=ssd.",
		},
		"a taint that only warns": {
			pod: waiting(), around: around(node("a").Taint("team", "x", corev1.TaintEffectPreferNoSchedule)),
			want: "Unschedulable: The scheduler says: 0/2 nodes are available.",
		},
		"a pod that is greater than each node": {
			pod: waiting().Requests("cpu", "8"), around: around(node("a"), node("b").Allocatable("cpu", "6")),
			want: "PodTooLarge: No node that the pod can use is large enough: the pod requests 9 CPU, and node b has 6 CPU.",
		},
		"nodes that other pods have filled": {
			pod: waiting(), around: around(node("a"), node("b").Allocatable("cpu", "2")).taken("cpu", "3500m"),
			want: "NoRoom: No node that the pod can use has enough room left: the pod requests 1 CPU, and node a has 0.5 CPU of 4 CPU left.",
		},
		"nodes that take no more pods": {
			pod: waiting(), around: around(node("a")).taken("pods", "10"),
			want: "NoRoom: No node that the pod can use has enough room left: node a has as many pods as it takes: 10.",
		},
		"a claim that does not exist": {
			pod: waiting().With(claiming("data")), around: around(node("a")), want: "ClaimMissing: The PersistentVolumeClaim data does not exist.",
		},
		"a claim that has lost its volume": {
			pod: waiting().With(claiming("data")), around: around(node("a")).with(func(n *neighbourhood) {
				n.Claims = map[string]*corev1.PersistentVolumeClaim{"data": {Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimLost}}}
			}),
			want: "ClaimLost: The PersistentVolumeClaim data has lost its volume.",
		},
		"a pod about which the scheduler knows more": {
			pod: waiting(), around: around(node("a")), want: "Unschedulable: The scheduler says: 0/2 nodes are available.",
		},
		"a pod that no scheduler has looked at": {
			pod: build.Pod("web").With(func(p *corev1.Pod) { p.Spec.SchedulerName = "mine" }), around: around(node("a")).withoutPool(),
			want: "NotScheduled: The scheduler mine has not looked at the pod yet.",
		},
		"a pod without a pool in a cluster without nodes": {
			pod: waiting(), around: around().withoutPool(), want: "NoNodes: The cluster has no nodes.",
		},
		"a pod without a pool, and no node is ready": {
			pod: waiting(), around: around(unready("a")).withoutPool(), want: "NoReadyNode: The only node is not ready: a.",
		},
		"a pod without a pool, and the nodes are cordoned": {
			pod: waiting(), around: around(node("a").Cordoned()).withoutPool(), want: "NodesCordoned: The only ready node is cordoned: a.",
		},
		"nodes that the caller may not list": {
			pod: waiting(), around: around().unseen(why.PartNodes, "you may not list nodes"), want: "Unschedulable: The scheduler says: 0/2 nodes are available.",
		},
		"pods that the caller may not list": {
			pod: waiting(), around: around(node("a")).taken("cpu", "4").unseen(why.PartPods, "you may not list pods in all namespaces"),
			want: "Unschedulable: The scheduler says: 0/2 nodes are available.",
		},
		"a pod whose node is gone": {
			pod: placed(awake()), around: around(node("b")), want: "NodeGone: Node a does not exist.",
		},
		"a pod whose node is not ready": {
			pod: placed(awake()), around: around(unready("a")), want: "NodeNotReady: Node a is not ready.",
		},
		"a pod whose node lacks the handler": {
			pod: placed(asleep("ContainerCreating", "")), around: around(node("a").Handlers("runc")),
			want: "HandlerMissing: Node a lacks the handler nvidia of RuntimeClass gpu.",
		},
		"an image that cannot be pulled": {
			pod: placed(asleep("ImagePullBackOff", "Back-off pulling image")), around: around(node("a")),
			want: "ImageNotPulled: Container app waits: ImagePullBackOff: Back-off pulling image.",
		},
		"a missing ConfigMap": {
			pod: placed(asleep("CreateContainerConfigError", `configmap "x" not found`)), around: around(node("a")),
			want: `ContainerNotCreated: Container app waits: CreateContainerConfigError: configmap "x" not found.`,
		},
		"a postStart hook that fails": {
			pod: placed(asleep("PostStartHookError", "exec: \"migrate\": executable file not found")), around: around(node("a")),
			want: `ContainerNotCreated: Container app waits: PostStartHookError: exec: "migrate": executable file not found.`,
		},
		"a container that crashes": {
			pod: placed(asleep("CrashLoopBackOff", "back-off 5m0s"), func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].RestartCount = 7
				p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}
			}),
			around: around(node("a")), want: "ContainerCrashes: Container app ended with exit code 137 (OOMKilled) and is started again after a pause; it was restarted 7 times.",
		},
		"an init container that has not ended": {
			pod: placed(asleep("PodInitializing", ""), func(p *corev1.Pod) {
				p.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}, {Name: "prepare"}}
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "proxy", State: awake()}, {Name: "prepare", State: awake()}}
			}),
			around: around(node("a")), want: "InitContainerRuns: The containers wait for the init container prepare, which has not ended.",
		},
		"an init container that has not ended, and another one after it": {
			pod: placed(asleep("PodInitializing", ""), func(p *corev1.Pod) {
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "prepare", State: awake()}, {Name: "migrate", State: asleep("PodInitializing", "")}}
			}),
			around: around(node("a")), want: "InitContainerRuns: The containers wait for the init container prepare, which has not ended.",
		},
		"an init container that follows one that ended": {
			pod: placed(asleep("PodInitializing", ""), func(p *corev1.Pod) {
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{
					{Name: "prepare", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}, {Name: "migrate", State: asleep("PodInitializing", "")},
				}
			}),
			around: around(node("a")), want: "ContainerStarting: Container migrate waits: PodInitializing.",
		},
		"a sidecar that has not started": {
			pod: placed(asleep("PodInitializing", ""), func(p *corev1.Pod) {
				p.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "proxy", State: awake(), Started: new(false)}}
			}),
			around: around(node("a")), want: "InitContainerRuns: The containers wait for the sidecar proxy, whose startup probe has not succeeded yet.",
		},
		"a volume that cannot be mounted": {
			pod: placed(asleep("ContainerCreating", "")), around: reported(around(node("a")), "FailedMount", `secret "keys" not found`),
			want: `VolumeNotMounted: The kubelet cannot mount a volume of the pod: secret "keys" not found.`,
		},
		"a sandbox that cannot be made": {
			pod: placed(asleep("ContainerCreating", "")), around: reported(around(node("a")), "FailedCreatePodSandBox", "no network"),
			want: "SandboxNotCreated: The runtime of node a cannot make the sandbox of the pod: no network.",
		},
		"a volume that was mounted in the end": {
			pod: placed(awake()), around: reported(around(node("a")), "FailedMount", `secret "keys" not found`), want: "Pod web runs on node a and is ready.",
		},
		"a container that is being created": {
			pod: placed(asleep("ContainerCreating", "")), around: around(node("a")), want: "ContainerStarting: Container app waits: ContainerCreating.",
		},
		"a pod of which the kubelet says nothing": {
			pod: build.Pod("web").Node("a"), around: around(node("a")), want: "ContainerStarting: Node a has not reported the containers of the pod yet.",
		},
		"a container that is not ready": {
			pod: placed(awake(), func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Ready = false }), around: around(node("a")),
			want: "ContainerNotReady: Container app runs and is not ready.",
		},
		"a readiness gate": {
			pod: placed(awake(), func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady", Message: "gate lb"}}
			}),
			around: around(node("a")), want: "PodNotReady: Pod web is not ready: ReadinessGatesNotReady gate lb.",
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			got := why.Pod(tt.pod.Obj(), tt.around.pool, &tt.around.Around)
			if diff := cmp.Diff(tt.want, toldOf(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkShape(t, got)
			slices.Reverse(tt.around.Nodes)
			if diff := cmp.Diff(got, why.Pod(tt.pod.Obj(), tt.around.pool, &tt.around.Around)); diff != "" {
				t.Errorf("with the nodes in another order (-before +after):\n%s", diff)
			}
		})
	}
}

func claiming(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
	}
}

// toldOf returns "Code: message" of the failed check, or the summary.
func toldOf(of *why.Explanation) string {
	if failure := of.Failure(); failure != nil {
		return string(failure.Code) + ": " + failure.Message
	}
	return of.Summary
}

// TestNextStepReadsALogThatIsNotThere is about containers that ended: only one that Kubernetes makes again has a run before its last one.
func TestNextStepReadsALogThatIsNotThere(t *testing.T) {
	t.Parallel()
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}
	for want, state := range map[string]corev1.ContainerStatus{
		"kubectl logs web -n default -c app":            {Name: "app", State: ended},
		"kubectl logs web -n default -c app --previous": {Name: "app", State: asleep("CrashLoopBackOff", "back-off 10s"), LastTerminationState: ended, RestartCount: 1},
	} {
		of := placed(state.State, func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{state, {Name: "proxy", State: awake(), Ready: true}}
		})
		if failure := why.Pod(of.Obj(), "gpu", &around(node("a")).Around).Failure(); failure == nil || failure.Next.Command != want {
			t.Errorf("the next step is not %q: %+v", want, failure.Next)
		}
	}
}

// checkShape holds an explanation against what all of them promise.
func checkShape(t *testing.T, of *why.Explanation) {
	t.Helper()
	failed := false
	for _, check := range of.Checks {
		switch check.State {
		case why.Passed:
			if failed || check.Code != "" || check.Next != nil {
				t.Errorf("a check has passed after a failed one, or has a cause: %+v", check)
			}
		case why.NotLookedAt:
			if check.Code != "" || check.Message == "" {
				t.Errorf("a check that was not made does not say why, or has a cause: %+v", check)
			}
		case why.Failed:
			if failed || check.Code == "" || check.Next == nil || check.Next.Text == "" || strings.ContainsAny(check.Next.Command, "{}") && !strings.Contains(check.Next.Command, "'{") {
				t.Errorf("a failed check is not the only one, or lacks a cause or a next step: %+v", check)
			}
			failed = true
		}
	}
	if of.Summary == "" {
		t.Error("there is no summary")
	}
}

func TestPoolOf(t *testing.T) {
	t.Parallel()
	isPool := func(name string) bool { return name == "gpu" }
	named := func(class string) *build.PodBuilder {
		return build.Pod("web").With(func(p *corev1.Pod) { p.Spec.RuntimeClassName = &class })
	}
	tests := map[string]struct {
		pod  *build.PodBuilder
		want string
	}{
		"by label":                       {build.Pod("web").Label(nodesv1.PoolLabel, "edge"), "edge"},
		"by its RuntimeClass":            {named("gpu"), "gpu"},
		"a RuntimeClass that is no pool": {named("gvisor"), ""},
		"none":                           {build.Pod("web"), ""},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, why.PoolOf(tt.pod.Obj(), isPool)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestANotLookedAtCheckNamesWhatTheCallerMayNotRead(t *testing.T) {
	t.Parallel()
	n := around(node("a").Taint("x", "", corev1.TaintEffectNoSchedule)).unseen(why.PartNodes, "you may not list nodes")
	got := why.Pod(waiting().Obj(), "gpu", &n.Around)
	for _, check := range got.Checks {
		if strings.Contains(check.Title, "node") && check.State == why.NotLookedAt && check.Message != "You may not list nodes." {
			t.Errorf("%s: %s", check.Title, check.Message)
		}
	}
	if got.Cause().Code != why.CodeUnschedulable {
		t.Errorf("the cause is %s", got.Cause().Code)
	}
}

// TestEvidenceOfInitContainers: they have a list of their own in the status.
func TestEvidenceOfInitContainers(t *testing.T) {
	t.Parallel()
	pod := placed(asleep("PodInitializing", ""), func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "prepare", State: asleep("ImagePullBackOff", "back-off")}}
	}).Obj()
	n := around(node("a"))
	found := why.Pod(pod, n.pool, &n.Around).Failure()
	if found == nil || len(found.Evidence) != 1 || found.Evidence[0].Field != "status.initContainerStatuses[prepare].state" {
		t.Errorf("the cause is %+v", found)
	}
}

// reported adds an event about the pod, and an older one.
func reported(n *neighbourhood, reason, message string) *neighbourhood {
	n.Events = []*corev1.Event{
		{ObjectMeta: metav1.ObjectMeta{Name: "new"}, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(time.Unix(2, 0))},
		{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Reason: "Scheduled", LastTimestamp: metav1.NewTime(time.Unix(1, 0))},
	}
	return n
}
