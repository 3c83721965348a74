// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"slices"

	"github.com/windlass-operator/windlass/internal/why"
)

// pool is a pool of the nodes of the fault, with more of its spec.
func pool(spec string) string {
	return `{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: $}, spec: {nodeSelector: {matchLabels: {fault: $}}` + spec + `}}`
}

// pod is a pod with more of its spec.
func pod(name, spec string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `, labels: {app: ` + name + `}}, spec: {` + spec + `, ` +
		`terminationGracePeriodSeconds: 1, containers: [{name: main, image: causes.invalid/app:1}]}}`
}

// asking is a pod that requests something.
func asking(name, spec, requests string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `}, spec: {` + spec + `, ` +
		`containers: [{name: main, image: causes.invalid/app:1, resources: {requests: {` + requests + `}, limits: {` + requests + `}}}]}}`
}

const (
	// inPool and onNodes keep pods on the nodes of the fault: by its pool, or by their label.
	inPool  = `runtimeClassName: $`
	onNodes = `nodeSelector: {fault: $}`
)

// ready waits until the pool is.
func ready() step { return until("nodepool/$", "status.conditions[Ready]", "True") }

// running waits until a pod is.
func running(name string) step { return until("pod/"+name, "status.phase", "Running") }

// podFaults keep pods from getting a node.
func podFaults() []fault {
	return slices.Concat(poolPodFaults(), placeFaults(), volumeFaults())
}

// poolPodFaults are of pods that chose a pool.
func poolPodFaults() []fault {
	const labelled = `{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {nodes.lailin.xyz/pool: $}}, spec: {containers: [{name: main, image: causes.invalid/app:1}]}}`
	return []fault{
		{
			name: "The pool has no member", id: "pool-empty", steps: []step{have(pool("")), until("nodepool/$", "status.conditions[Ready]", "NoNodes"), have(pod("web", inPool))},
			ask: "pods/$/web", code: "PoolHasNoNode", evidence: "NodePool/$ status.nodeCount", shows: "NAME",
		},
		{
			name: "The only member of the pool is not ready", id: "pool-not-ready", steps: []step{have(pool("")), node("$-a", notReady), ready(), have(pod("web", inPool))},
			ask: "pods/$/web", code: "PoolHasNoReadyNode", evidence: "Node/$-a status.conditions[Ready]", message: "$-a", shows: "NotReady",
		},
		{
			name: "The only member of the pool is cordoned", id: "pool-cordoned", steps: []step{have(pool("")), node("$-a", cordoned), ready(), have(pod("web", inPool))},
			ask: "pods/$/web", code: "PoolCordoned", evidence: "Node/$-a spec.unschedulable", message: "$-a", shows: "SchedulingDisabled",
		},
		{
			name: "The pod chose the pool by label, and its members are cordoned", id: "pool-label-cordoned",
			steps: []step{have(pool("")), node("$-a", cordoned), node("$-b", cordoned), ready(), admitted(labelled, "spec.nodeSelector", "/$:"), have(labelled)},
			ask:   "pods/$/web", code: "PoolCordoned", evidence: "Node/$-a spec.unschedulable", message: "all 2", shows: "SchedulingDisabled",
		},
		{
			name: "Somebody tainted the member of the pool", id: "pool-tainted", steps: []step{have(pool("")), node("$-a", taint("example.com/mine")), ready(), have(pod("web", inPool))},
			ask: "pods/$/web", code: why.CodeNodesTainted, evidence: "Node/$-a spec.taints", message: "example.com/mine=yes:NoSchedule", shows: "example.com/mine",
		},
		{
			name: "The pod requests more CPU than a member has", id: "pool-too-small", steps: []step{have(pool("")), node("$-a"), ready(), have(asking("web", inPool, "cpu: 8"))},
			ask: "pods/$/web", code: why.CodePodTooLarge, evidence: "Node/$-a status.allocatable.cpu", message: "requests 8 CPU, and node $-a has 4 CPU", shows: "cpu:",
		},
		{
			name: "Other pods take the room of the member", id: "pool-full",
			steps: []step{have(pool("")), node("$-a"), ready(), have(asking("filler", inPool, "cpu: 3")), running("filler"), have(asking("web", inPool, "cpu: 2"))},
			ask:   "pods/$/web", code: why.CodeNoRoom, evidence: "Node/$-a status.allocatable*", message: "requests 2 CPU, and node $-a has 1 CPU of 4 CPU left", shows: "filler",
		},
		{
			name: "A pod of another namespace and without the pool takes the memory of the member", id: "pool-full-memory",
			steps: []step{have(pool("")), node("$-a"), ready(), have(asking("filler", "nodeName: $-a", "memory: 6Gi")), running("filler"), have(asking("web", inPool, "memory: 4Gi"))},
			ask:   "pods/$/web", code: why.CodeNoRoom, evidence: "Node/$-a status.allocatable*", message: "memory", shows: "filler",
		},
		{
			name: "The pod's own selector matches no member", id: "pool-own-selector",
			steps: []step{have(pool("")), node("$-a", label("disk", "hdd")), ready(), have(pod("web", inPool+`, nodeSelector: {disk: ssd}`))},
			ask:   "pods/$/web", code: why.CodeNoNodeSelected, evidence: "Pod/web spec.nodeSelector", message: "disk=ssd", shows: "disk=hdd",
		},
		{
			name: "The only member that the pod selects is not ready", id: "pool-selected-not-ready",
			steps: []step{
				have(pool("")), node("$-a", label("disk", "ssd"), notReady), node("$-b", label("disk", "hdd")), ready(), have(pod("web", inPool+`, nodeSelector: {disk: ssd}`)),
			},
			ask: "pods/$/web", code: "PoolHasNoReadyNode", evidence: "Node/$-a status.conditions[Ready]", message: "$-a", shows: "NotReady",
		},
		{
			name: "The pod's node affinity matches no member", id: "pool-affinity",
			steps: []step{have(pool("")), node("$-a", label("zone", "a")), ready(), have(pod("web", inPool+`, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {`+
				`nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [b, c]}]}]}}}`))},
			ask: "pods/$/web", code: why.CodeNoNodeSelected, evidence: "Node/$-a metadata.labels", message: "zone In b,c", shows: "zone=a",
		},
		{
			name: "Two pods that must not share a node, and one member", id: "pool-anti-affinity",
			steps: []step{have(pool("")), node("$-a"), ready(), have(pod("first", inPool)), running("first"), have(pod("web", inPool+`, affinity: {podAntiAffinity: {`+
				`requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: first}}}]}}`))},
			ask: "pods/$/web", code: why.CodeUnschedulable, evidence: "Pod/web status.conditions[PodScheduled]", message: "anti-affinity", shows: "anti-affinity",
		},
		{
			name: "A spread over zones that the members do not have", id: "pool-spread",
			steps: []step{have(pool("")), node("$-a"), ready(), have(pod("web", inPool+`, topologySpreadConstraints: [{maxSkew: 1, topologyKey: causes.example/zone, `+
				`whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]`))},
			ask: "pods/$/web", code: why.CodeUnschedulable, evidence: "Pod/web status.conditions[PodScheduled]", message: "topology spread", shows: "topology spread",
		},
		{
			name: "The pool is being deleted, and another pod keeps it", id: "pool-deleting",
			steps: []step{have(pool("")), node("$-a", allocatable("pods", "1")), ready(), have(pod("keeper", inPool)), running("keeper"), have(pod("web", inPool)), remove("nodepool/$")},
			ask:   "pods/$/web", code: "PoolDeleting", evidence: "NodePool/$ metadata.deletionTimestamp", shows: "$",
		},
		{
			name: "The pool was paused before its node came", id: "pool-paused",
			steps: []step{
				have(pool(", labels: {causes.example/speed: fast}")), until("nodepool/$", "status.conditions[Ready]", "NoNodes"),
				paused("nodepool/$"), node("$-a"), have(pod("web", inPool)),
			},
			ask: "pods/$/web", code: "PoolPaused", evidence: "Node/$-a metadata.labels", message: "pool $ is paused", shows: "windlass.io/paused",
		},
		{
			name: "The pool went into dry run before its node came", id: "pool-dry-run",
			steps: []step{
				have(pool(", labels: {causes.example/speed: fast}")), until("nodepool/$", "status.conditions[Ready]", "NoNodes"),
				change("nodepool/$", `spec: {dryRun: true}`), until("nodepool/$", "status.observedGeneration", "2"), node("$-a"), have(pod("web", inPool)),
			},
			ask: "pods/$/web", code: "PoolPaused", evidence: "Node/$-a metadata.labels", message: "pool $ is in dry run", shows: "Dry Run",
		},
		{
			name: "The member has another value for a label of the pool, which does not overwrite", id: "pool-not-synced",
			steps: []step{
				node("$-a", label("causes.example/speed", "slow")), have(pool(", overwrite: Never, labels: {causes.example/speed: fast}")),
				until("nodepool/$", "status.conditions[Conflicted]", "True"), have(pod("web", inPool)),
			},
			ask: "pods/$/web", code: "PoolNodesNotSynced", evidence: "Node/$-a metadata.labels", shows: "KeysHeldElsewhere",
		},
		{
			name: "The RuntimeClass of the pod was deleted", id: "class-missing",
			steps: []step{
				have(`{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: $}, handler: runc}`), have(pod("web", inPool+`, `+onNodes+`, schedulingGates: [{name: causes.example/wait}]`)),
				remove("runtimeclass/$"), change("pod/web", `spec: {schedulingGates: null}`),
			},
			ask: "pods/$/web", code: why.CodeRuntimeClassMissing, evidence: "Pod/web spec.runtimeClassName", shows: "NAME",
		},
	}
}

// placeFaults are of pods that chose no pool.
func placeFaults() []fault {
	return []fault{
		{
			name: "The selector matches no node of the cluster", id: "no-such-label", steps: []step{have(pod("web", `nodeSelector: {fault: nothing-has-this}`))},
			ask: "pods/$/web", code: why.CodeNoNodeSelected, evidence: "Pod/web spec.nodeSelector", message: "fault=nothing-has-this", shows: "LABELS",
		},
		{
			name: "The only node that the pod selects is not ready", id: "selected-not-ready",
			steps: []step{node("$-a", notReady), have(pod("web", `nodeSelector: {fault: selected-not-ready}`))},
			ask:   "pods/$/web", code: why.CodeNoReadyNode, evidence: "Node/$-a status.conditions[Ready]", message: "$-a", shows: "NotReady",
		},
		{
			name: "The only node that the pod may use is cordoned", id: "cordoned", steps: []step{node("$-a", cordoned), have(pod("web", onNodes))},
			ask: "pods/$/web", code: why.CodeNodesCordoned, evidence: "Node/$-a spec.unschedulable", message: "$-a", cures: true,
		},
		{
			name: "The only node that the pod may use has a taint", id: "tainted", steps: []step{node("$-a", taint("example.com/reserved")), have(pod("web", onNodes))},
			ask: "pods/$/web", code: why.CodeNodesTainted, evidence: "Node/$-a spec.taints", message: "example.com/reserved", shows: "example.com/reserved",
		},
		{
			name: "No node has the extended resource", id: "no-gpu", steps: []step{node("$-a"), have(asking("web", onNodes, "example.com/gpu: 1"))},
			ask: "pods/$/web", code: why.CodePodTooLarge, evidence: "Node/$-a status.allocatable.example.com/gpu", message: "example.com/gpu", shows: "Allocatable",
		},
		{
			name: "The node has as many pods as it accepts", id: "too-many-pods",
			steps: []step{node("$-a", allocatable("pods", "1")), have(pod("filler", onNodes)), running("filler"), have(pod("web", onNodes))},
			ask:   "pods/$/web", code: why.CodeNoRoom, evidence: "Node/$-a status.allocatable*", message: "pods", shows: "filler",
		},
		{
			name: "Another pod has the port of the node", id: "port-taken",
			steps: []step{
				node("$-a"), have(port("first")), running("first"), have(port("web")),
			},
			ask: "pods/$/web", code: why.CodeUnschedulable, evidence: "Pod/web status.conditions[PodScheduled]", message: "free ports", shows: "free ports",
		},
		{
			name: "A gate keeps the scheduler away", id: "gated", steps: []step{node("$-a"), have(pod("web", onNodes+`, schedulingGates: [{name: causes.example/quota}]`))},
			ask: "pods/$/web", code: why.CodeSchedulingGated, evidence: "Pod/web spec.schedulingGates", message: "causes.example/quota", shows: "causes.example/quota",
		},
		{
			name: "The pod asks for a scheduler that does not run", id: "no-scheduler", steps: []step{node("$-a"), have(pod("web", onNodes+`, schedulerName: batch`))},
			ask: "pods/$/web", code: why.CodeNotScheduled, evidence: "Pod/web spec.schedulerName", message: "scheduler batch",
		},
		{
			name: "A finalizer keeps a deleted pod", id: "pod-finalizer",
			steps: []step{
				have(`{apiVersion: v1, kind: Pod, metadata: {name: web, finalizers: [causes.example/keep]}, spec: {nodeSelector: {fault: $}, containers: [{name: main, image: causes.invalid/app:1}]}}`),
				remove("pod/web"),
			},
			ask: "pods/$/web", code: why.CodePodDeleting, evidence: "Pod/web metadata.deletionTimestamp", shows: "causes.example/keep",
		},
		{
			name: "The node of the pod is not ready", id: "node-of-pod-not-ready", steps: []step{node("$-a", notReady), have(pod("web", `nodeName: $-a`))},
			ask: "pods/$/web", code: why.CodeNodeNotReady, evidence: "Node/$-a status.conditions[Ready]", shows: "node.kubernetes.io/",
		},
		{
			name: "The node of the pod lacks the handler of its RuntimeClass", id: "handler-missing",
			steps: []step{
				have(`{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: $}, handler: gvisor}`), node("$-a", handlers("runc", "crun")),
				have(pod("web", inPool+`, `+onNodes)),
			},
			ask: "pods/$/web", code: why.CodeHandlerMissing, evidence: "Node/$-a status.runtimeHandlers", message: "gvisor", shows: "crun",
		},
	}
}

func port(name string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `}, spec: {nodeSelector: {fault: $}, ` +
		`containers: [{name: main, image: causes.invalid/app:1, ports: [{containerPort: 80, hostPort: 8080}]}]}}`
}

// volumeFaults are of pods with PersistentVolumeClaims.
func volumeFaults() []fault {
	const mounting = onNodes + `, volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]`
	const claim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: "", volumeName: $, resources: {requests: {storage: 1Gi}}}}`
	volume := func(spec string) string {
		return `{apiVersion: v1, kind: PersistentVolume, metadata: {name: $}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /causes}` + spec + `}}`
	}
	bound := until("pvc/data", "status.phase", "Bound")
	return []fault{
		{
			name: "The claim of the pod does not exist", id: "claim-missing", steps: []step{node("$-a"), have(pod("web", mounting))},
			ask: "pods/$/web", code: why.CodeClaimMissing, evidence: "Pod/web spec.volumes", message: "PersistentVolumeClaim data",
		},
		{
			name: "The claim of the pod has lost its volume", id: "claim-lost",
			steps: []step{
				node("$-a"), have(volume("")), have(claim), bound, remove("pv/$"), change("pv/$", `metadata: {finalizers: null}`), until("pvc/data", "status.phase", "Lost"),
				have(pod("web", mounting)),
			},
			ask: "pods/$/web", code: why.CodeClaimLost, evidence: "PersistentVolumeClaim/data status.phase", message: "data", shows: "Lost",
		},
		{
			name: "The claim of the pod gets no volume", id: "claim-unbound", steps: []step{node("$-a"), have(claim), have(pod("web", mounting))},
			ask: "pods/$/web", code: why.CodeUnschedulable, evidence: "Pod/web status.conditions[PodScheduled]", message: "unbound immediate PersistentVolumeClaims", shows: "unbound",
		},
		{
			name: "The volume of the pod is on another node", id: "volume-elsewhere",
			steps: []step{
				node("$-a"), have(volume(`, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [elsewhere]}]}]}}`)),
				have(claim), bound, have(pod("web", mounting)),
			},
			ask: "pods/$/web", code: why.CodeUnschedulable, evidence: "Pod/web status.conditions[PodScheduled]", message: "node affinity", shows: "node affinity",
		},
	}
}
