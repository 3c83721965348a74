// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"slices"
	"strings"
)

// podSet is a PodSet with more of its spec, of that of its pods, and of their container.
func podSet(spec, podSpec, container string) step {
	return have(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: web}, spec: {` + spec +
		`template: {spec: {` + podSpec + `containers: [{name: main, image: causes.invalid/app:1` + container + `}]}}}}`)
}

const onePod, ofPool = `size: 1, `, `size: 1, nodePool: $, `

// podSetFaults keep PodSets from being ready.
func podSetFaults() []fault {
	faults := slices.Concat(podSetPoolFaults(), podSetOwnFaults())
	for i := range faults {
		faults[i].ask = "podsets/$/web"
	}
	return faults
}

// podSetPoolFaults are those of the pool that the PodSet chose.
func podSetPoolFaults() []fault {
	const is = "PodSet/web status.conditions[*]"
	return []fault{
		{
			name: "The pool does not exist", id: "set-no-pool", steps: []step{podSet(ofPool, "", "")},
			code: "PoolNotFound", evidence: is, message: "pool $ does not exist", shows: "NAME",
		},
		{
			name: "The namespace may not use the pool", id: "set-not-allowed",
			steps: []step{have(pool(`, allowedNamespaces: {from: Selector, selector: {matchLabels: {team: ml}}}`)), until("nodepool/$", "status.conditions[AdmissionReady]", "True"), empty(), refused("team=ml", inThePool), podSet(ofPool, "", "")},
			code:  "PoolNotAllowed", evidence: is, message: "team=ml", shows: "fault=$",
		},
		{
			name: "The RuntimeClass of the pool belongs to somebody else", id: "set-foreign-class",
			steps: []step{
				have(`{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: $}, handler: runc, scheduling: {nodeSelector: {fault: nothing-has-this}}}`), have(pool("")),
				until("nodepool/$", "status.conditions[RuntimeClassReady]", "NameConflict"), podSet(ofPool, "", ""),
			},
			code: "PoolRuntimeClassNotReady", evidence: is, message: "does not belong to the pool", shows: "NameConflict", top: true,
		},
		{
			name: "The pool of the PodSet has no member", id: "set-no-node", steps: []step{have(pool("")), empty(), podSet(ofPool, "", "")},
			code: "PoolHasNoNode", evidence: is, message: "pool $ has no nodes", shows: "NAME", top: true,
		},
		{
			name: "No member of the pool of the PodSet is ready", id: "set-not-ready", steps: []step{have(pool("")), node("$-a", notReady), ready(), podSet(ofPool, "", "")},
			code: "PoolHasNoReadyNode", evidence: is, message: "$-a", shows: "NotReady", top: true,
		},
		{
			name: "The members of the pool of the PodSet are cordoned", id: "set-cordoned", steps: []step{have(pool("")), node("$-a", cordoned), ready(), podSet(ofPool, "", "")},
			code: "PoolCordoned", evidence: is, message: "$-a", shows: "SchedulingDisabled", top: true,
		},
		{
			name: "The pool is too small for a pod of the PodSet", id: "set-too-large", steps: []step{have(pool("")), node("$-a"), ready(), podSet(ofPool, "", ", resources: {requests: {cpu: 8}}")},
			code: "PoolCapacityShort", evidence: is, message: "4 CPU allocatable; a pod requests 8 CPU", shows: "$-a", top: true,
		},
		{
			name: "The pool has not enough room for all pods of the PodSet", id: "set-too-many",
			steps: []step{have(pool("")), node("$-a"), ready(), podSet("size: 5, nodePool: $, ", "", ", resources: {requests: {cpu: 1}}")},
			code:  "PoolCapacityShort", evidence: is, message: "room for 4 of 5 pods", shows: "$-a", top: true,
		},
		{
			name: "The members lack the handler of the pool of the PodSet", id: "set-handler",
			steps: []step{
				have(pool(", handler: gvisor")), node("$-a", handlers("runc")), until("nodepool/$", "status.conditions[HandlerAvailable]", "HandlerMissing"),
				podSet(ofPool, "schedulingGates: [{name: causes.example/wait}], ", ""),
			},
			code: "PoolHandlerMissing", evidence: is, message: "handler gvisor is missing", shows: "HandlerMissing", top: true,
		},
		{
			name: "The pool of the PodSet was paused before its node came", id: "set-pool-paused",
			steps: []step{have(pool("")), empty(), paused("nodepool/$"), node("$-a"), podSet(ofPool, "", "")},
			code:  "PoolPaused", evidence: is, message: "pool $ is paused", shows: "windlass.io/paused", top: true,
		},
		{
			name: "The pool of the PodSet is being deleted", id: "set-pool-deleting",
			steps: []step{have(pool("")), node("$-a", allocatable("pods", "1")), ready(), have(pod("keeper", inPool)), running("keeper"), remove("nodepool/$"), podSet(ofPool, "", "")},
			code:  "PoolDeleting", evidence: is, message: "pool $ is being deleted", shows: "$", top: true,
		},
		{
			name: "The member has another value for a label of the pool of the PodSet", id: "set-not-synced",
			steps: []step{
				node("$-a", label("causes.example/speed", "slow")), have(pool(", overwrite: Never, labels: {causes.example/speed: fast}")),
				until("nodepool/$", "status.conditions[Conflicted]", "True"), podSet(ofPool, "", ""),
			},
			code: "PoolNodesNotSynced", evidence: is, message: "$-a", shows: "KeysHeldElsewhere", top: true,
		},
	}
}

func podSetOwnFaults() []fault {
	const is = "PodSet/web status.conditions[*]"
	return []fault{
		{
			name: "The PodSet was paused before it had a Deployment", id: "set-paused",
			steps: []step{have(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: web, annotations: {windlass.io/paused: "true"}}, spec: {size: 1, ` +
				`template: {spec: {nodeSelector: {fault: $}, containers: [{name: main, image: causes.invalid/app:1}]}}}}`)},
			code: "Paused", evidence: is, message: "windlass.io/paused", cures: true,
		},
		{
			name: "A Deployment of the name belongs to somebody else", id: "set-name",
			steps: []step{deployment("", onNodes+", ", ""), podSet(onePod, onNodes+", ", "")},
			code:  "NameTaken", evidence: "PodSet/web status.conditions[ChildConflict]", message: "web", shows: "deployment.apps/web", top: true,
		},
		{
			name: "The template is too large", id: "set-template", steps: []step{podSet(onePod, onNodes+", ", `, env: [{name: BLOB, value: `+strings.Repeat("x", 66<<10)+`}]`)},
			code: "TemplateTooLarge", evidence: is, message: "65536",
		},
		{
			name: "The API server refuses the Deployment", id: "set-refused", steps: []step{podSet(onePod, onNodes+", ", `, volumeMounts: [{name: missing, mountPath: /data}]`)},
			code: "ChildRefused", evidence: is, message: "missing",
		},
		{
			name: "A quota refuses the pods of the PodSet", id: "set-quota",
			steps: append(noPods(), podSet(onePod, onNodes+", ", "")),
			code:  "FailedCreate", evidence: "PodSet/web status.conditions[ReplicaFailure]", message: "exceeded quota: none", shows: "none",
		},
		{
			name: "The rollout of the PodSet is held back", id: "set-held",
			steps: []step{
				node("$-a"), podSet(onePod, onNodes+", ", ""), until("podset/web", "status.conditions[Ready]", "True"),
				change("podset/web", `spec: {paused: true, template: {metadata: {annotations: {causes.example/version: "2"}}}}`),
			},
			code: "DeploymentPaused", evidence: is, message: "paused", cures: true, top: true,
		},
		{
			name: "The pods of the PodSet make no progress in time", id: "set-progress",
			steps: []step{podSet("size: 1, progressDeadlineSeconds: 1, ", onNodes+", ", "")},
			code:  "ProgressDeadlineExceeded", evidence: is, message: "progress", shows: "web", top: true,
		},
		{
			name: "The pods of the PodSet match no node", id: "set-no-match", steps: []step{podSet(onePod, onNodes+", ", "")},
			code: "NoNodeSelected", evidence: "Pod/* spec.nodeSelector", message: "fault=$", shows: "LABELS",
		},
		{
			name: "The Deployment of an earlier PodSet is still being deleted", id: "set-terminating",
			steps: []step{
				have(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, finalizers: [causes.example/keep]}, spec: {replicas: 0, selector: {matchLabels: {app: web}}, ` +
					`template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: none}]}}}}`),
				remove("deployment/web"), podSet(onePod, onNodes+", ", ""),
			},
			code: "DeploymentTerminating", evidence: is, message: "web", shows: "causes.example/keep",
		},
	}
}

// toolFaults keep PodBuggerTools from being ready.
func toolFaults() []fault {
	const is = "PodBuggerTool/shell status.conditions[*]"
	const hostPod = `{apiVersion: v1, kind: Pod, metadata: {name: asked}, spec: {hostNetwork: true, containers: [{name: main, image: causes.invalid/app:1}]}}`
	tool := func(spec string) step {
		return have(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: shell}, spec: {label: app=web, image: causes.invalid/tool:1` + spec + `}}`)
	}
	simulated := []step{node("$-a"), have(pod("web", onNodes)), running("web")}
	with := func(more ...step) []step { return slices.Concat(simulated, more) }
	faults := []fault{
		{
			name: "The pods do not run yet", id: "tool-waits", steps: []step{have(pod("web", onNodes)), tool("")},
			code: "WaitingForPods", evidence: is, shows: "web",
		},
		{
			name: "Pod Security refuses the tool", id: "tool-refused",
			steps: with(change("namespace/$", `metadata: {labels: {pod-security.kubernetes.io/enforce: baseline}}`), refused("violates PodSecurity", hostPod), tool(", securityContext: {capabilities: {add: [SYS_ADMIN]}}")),
			code:  "ToolRefused", evidence: is, message: "violates PodSecurity", shows: "violates PodSecurity",
		},
		{
			name: "The pod does not have the target container", id: "tool-target", steps: with(tool(", targetContainer: none")),
			code: "ToolRefused", evidence: is, message: "none", shows: "none",
		},
		{
			name: "The tool is for fewer pods than match", id: "tool-limit",
			steps: with(have(pod("second", onNodes)), running("second"), change("pod/second", "metadata: {labels: {app: web}}"), tool(", maxPods: 1")),
			code:  "MaxPodsReached", evidence: "PodBuggerTool/shell status.conditions[Limited]", message: "1",
		},
		{
			name: "The tool is paused", id: "tool-paused",
			steps: with(have(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: shell, annotations: {windlass.io/paused: "true"}}, spec: {label: app=web, image: causes.invalid/tool:1}}`)),
			code:  "Paused", evidence: "PodBuggerTool/shell status.conditions[Paused]", message: "windlass.io/paused", cures: true,
		},
		{
			name: "The image of the tool cannot be pulled", id: "tool-failed", needs: realNode,
			steps: []step{
				have(`{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {nodeName: ` + nodeName + `, terminationGracePeriodSeconds: 1, containers: [{name: main, imagePullPolicy: Never, ` + ownImage + `}]}}`),
				running("web"),
				have(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: shell}, spec: {label: app=web, image: "127.0.0.1:1/none:1"}}`),
			},
			code: "ToolFailed", evidence: is, message: "127.0.0.1:1/none:1", shows: "127.0.0.1:1/none:1",
		},
	}
	for i := range faults {
		faults[i].ask = "podbuggertools/$/shell"
	}
	return faults
}
