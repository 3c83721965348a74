// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"slices"
	"strings"

	"github.com/windlass-operator/windlass/internal/why"
)

// anyPod and inThePool are pods that the API server is asked about.
const (
	anyPod    = `{apiVersion: v1, kind: Pod, metadata: {name: asked}, spec: {containers: [{name: main, image: causes.invalid/app:1, resources: {limits: {memory: 2Gi}}}]}}`
	inThePool = `{apiVersion: v1, kind: Pod, metadata: {name: asked}, spec: {runtimeClassName: $, containers: [{name: main, image: causes.invalid/app:1}]}}`
)

// noPods is a quota that the API server knows of.
func noPods() []step {
	return []step{have(`{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {pods: "0"}}}`), refused("exceeded quota", anyPod)}
}

// deployment is a Deployment with more of its spec, and of that of its pods.
func deployment(spec, podSpec, container string) step {
	return have(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, ` + spec +
		`template: {metadata: {labels: {app: web}}, spec: {` + podSpec + `containers: [{name: main, image: causes.invalid/app:1` + container + `}]}}}}`)
}

// ownerFaults keep the pods of Deployments, StatefulSets, Jobs and DaemonSets from being there.
func ownerFaults() []fault {
	return slices.Concat(refusedFaults(), rolloutFaults(), otherOwnerFaults())
}

// otherOwnerFaults are of what is no Deployment.
func otherOwnerFaults() []fault {
	const template = `template: {metadata: {labels: {app: web}}, spec: {restartPolicy: RESTART, nodeSelector: {fault: $}, containers: [{name: main, image: "causes.invalid/app:1"}]}}`
	always, never := strings.Replace(template, "RESTART", "Always", 1), strings.Replace(template, "RESTART", "Never", 1)
	return []fault{
		{
			name: "The quota of the namespace allows no pod of a ReplicaSet", id: "replicaset-quota", ask: "replicasets/$/web",
			steps: append(noPods(), have(`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, `+always+`}}`)),
			code:  why.CodeQuota, evidence: "ReplicaSet/web status.conditions[ReplicaFailure]", message: "exceeded quota: none", shows: "none",
		},
		{
			name: "The quota of the namespace allows no pod of a StatefulSet", id: "statefulset-quota", ask: "statefulsets/$/web",
			steps: append(noPods(), have(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, selector: {matchLabels: {app: web}}, `+always+`}}`)),
			code:  why.CodePodsMissing, evidence: "StatefulSet/web status.replicas", shows: "exceeded quota: none",
		},
		{
			name: "No node matches the selector of a DaemonSet", id: "daemonset-no-node", ask: "daemonsets/$/web",
			steps: []step{have(`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, ` + always + `}}`)},
			code:  why.CodeNoNodeChosen, evidence: "DaemonSet/web status.desiredNumberScheduled", message: "choose no node", shows: "LABELS",
		},
		{
			name: "The pod of a DaemonSet keeps its template until somebody deletes it", id: "daemonset-on-delete", ask: "daemonsets/$/web",
			steps: []step{
				node("$-a"), have(`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {updateStrategy: {type: OnDelete}, selector: {matchLabels: {app: web}}, ` + always + `}}`),
				until("daemonset/web", "status.numberAvailable", "1"), change("daemonset/web", `spec: {template: {metadata: {annotations: {causes.example/version: "2"}}}}`),
			},
			code: why.CodeWaitsForDeletion, evidence: "DaemonSet/web spec.updateStrategy.type", message: "keep the old template", shows: "web",
		},
		{
			name: "The update of a StatefulSet stops at its partition", id: "statefulset-partition", ask: "statefulsets/$/web",
			steps: []step{
				node("$-a"), have(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, updateStrategy: {rollingUpdate: {partition: 1}}, ` +
					`selector: {matchLabels: {app: web}}, ` + always + `}}`),
				until("statefulset/web", "status.availableReplicas", "1"), change("statefulset/web", `spec: {template: {metadata: {annotations: {causes.example/version: "2"}}}}`),
			},
			code: why.CodePartitioned, evidence: "StatefulSet/web spec.updateStrategy.rollingUpdate.partition", message: "partition of the update is 1",
		},
		{
			name: "A Job is suspended", id: "job-suspended", ask: "jobs/$/web",
			steps: []step{node("$-a"), have(`{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {suspend: true, ` + never + `}}`)},
			code:  why.CodeJobSuspended, evidence: "Job/web spec.suspend", cures: true,
		},
		{
			name: "A Job has failed as often as it may", id: "job-failed", ask: "jobs/$/web", needs: realNode,
			steps: []step{have(`{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, nodeName: ` + nodeName +
				`, containers: [{name: main, imagePullPolicy: Never, args: [exit, "6"], ` + ownImage + `}]}}}}`), until("job/web", "status.conditions[Failed]", "True")},
			code: why.CodeJobFailed, evidence: "Job/web status.conditions[Failed]", message: "BackoffLimitExceeded", top: true,
		},
	}
}

func refusedFaults() []fault {
	const failure = "Deployment/web status.conditions[ReplicaFailure]"
	return []fault{
		{
			name: "The quota of the namespace allows no pod", id: "quota", ask: "deployments/$/web",
			steps: append(noPods(), deployment("", onNodes+", ", "")),
			code:  why.CodeQuota, evidence: failure, message: "exceeded quota: none", shows: "none",
		},
		{
			name: "The quota asks for requests that the pods do not have", id: "quota-requests", ask: "deployments/$/web",
			steps: []step{have(`{apiVersion: v1, kind: ResourceQuota, metadata: {name: cpu}, spec: {hard: {requests.cpu: "4"}}}`), refused("must specify requests.cpu", anyPod), deployment("", onNodes+", ", "")},
			code:  why.CodeQuota, evidence: failure, message: "must specify requests.cpu", shows: "requests.cpu",
		},
		{
			name: "Pod Security refuses the pods", id: "pod-security", ask: "deployments/$/web",
			steps: []step{change("namespace/$", `metadata: {labels: {pod-security.kubernetes.io/enforce: restricted}}`), refused("violates PodSecurity", anyPod), deployment("", onNodes+", ", "")},
			code:  why.CodeAdmission, evidence: failure, message: "violates PodSecurity", shows: "violates PodSecurity",
		},
		{
			name: "The namespace may not use the pool", id: "not-allowed", ask: "deployments/$/web",
			steps: []step{
				have(pool(`, allowedNamespaces: {from: Selector, selector: {matchLabels: {team: ml}}}`)), until("nodepool/$", "status.conditions[AdmissionReady]", "True"),
				refused("team=ml", inThePool),
				deployment("", inPool+", ", ""),
			},
			code: why.CodeAdmission, evidence: failure, message: "team=ml", shows: "team=ml",
		},
		{
			name: "A policy of the cluster refuses the pods", id: "policy", ask: "deployments/$/web",
			steps: []step{
				refusing("", "pods", "CREATE", "object.metadata.namespace == '$'"), refused(refusal, `{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: $}, spec: {containers: [{name: main, image: none}]}}`),
				deployment("", onNodes+", ", ""),
			},
			code: why.CodeAdmission, evidence: failure, message: refusal, shows: refusal,
		},
		{
			name: "A webhook that does not answer refuses the pods", id: "webhook", ask: "deployments/$/web",
			steps: []step{
				have(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: $}, webhooks: [{name: pods.causes.example, ` +
					`namespaceSelector: {matchLabels: {fault: $}}, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}], ` +
					`clientConfig: {url: "https://127.0.0.1:1/"}, sideEffects: None, admissionReviewVersions: [v1], timeoutSeconds: 1}]}`),
				refused("pods.causes.example", anyPod), deployment("", onNodes+", ", ""),
			},
			code: why.CodeAdmission, evidence: failure, message: "pods.causes.example", shows: "pods.causes.example",
		},
		{
			name: "The RuntimeClass of the template does not exist", id: "deployment-class", ask: "deployments/$/web",
			steps: []step{deployment("", inPool+", ", "")},
			code:  why.CodeRuntimeClassMissing, evidence: failure, message: `RuntimeClass "$" not found`, shows: "NAME",
		},
		{
			name: "The ServiceAccount of the template does not exist", id: "no-account", ask: "deployments/$/web",
			steps: []step{deployment("", "serviceAccountName: robot, "+onNodes+", ", "")},
			code:  "FailedCreate", evidence: failure, message: `serviceaccount "robot" not found`, shows: "robot",
		},
		{
			name: "The pods are larger than a LimitRange allows", id: "limit-range", ask: "deployments/$/web",
			steps: []step{
				have(`{apiVersion: v1, kind: LimitRange, metadata: {name: small}, spec: {limits: [{type: Container, max: {cpu: 1}}]}}`),
				refused("maximum cpu usage", asking("asked", onNodes, "cpu: 2")),
				deployment("", onNodes+", ", `, resources: {limits: {cpu: 2}}`),
			},
			code: "FailedCreate", evidence: failure, message: "maximum cpu usage per Container is 1", shows: "maximum cpu usage",
		},
		{
			name: "The PriorityClass of the template does not exist", id: "no-priority", ask: "deployments/$/web",
			steps: []step{deployment("", "priorityClassName: urgent, "+onNodes+", ", "")},
			code:  "FailedCreate", evidence: failure, message: "urgent", shows: "urgent",
		},
	}
}

func rolloutFaults() []fault {
	return []fault{
		{
			name: "The rollout is paused", id: "paused-rollout", ask: "deployments/$/web",
			steps: []step{
				node("$-a"), deployment("", onNodes+", ", ""), until("deployment/web", "status.availableReplicas", "1"),
				change("deployment/web", `spec: {paused: true, template: {metadata: {annotations: {causes.example/version: "2"}}}}`),
			},
			code: "DeploymentPaused", evidence: "Deployment/web spec.paused", cures: true,
		},
		{
			name: "The rollout makes no progress in its time", id: "no-progress", ask: "deployments/$/web",
			steps: []step{node("$-a", cordoned), deployment("progressDeadlineSeconds: 1, ", onNodes+", ", ""), until("deployment/web", "status.conditions[Progressing]", "False")},
			code:  why.CodeNodesCordoned, evidence: "Node/$-a spec.unschedulable", cures: true,
		},
		{
			name: "The pods of a Deployment request too much", id: "deployment-too-large", ask: "deployments/$/web",
			steps: []step{node("$-a"), deployment("", onNodes+", ", `, resources: {requests: {memory: 1Ti}}`)},
			code:  why.CodePodTooLarge, evidence: "Node/$-a status.allocatable.memory", message: "1Ti memory", shows: "8Gi",
		},
		{
			name: "The claim of a StatefulSet gets no volume", id: "statefulset-claim", ask: "statefulsets/$/web",
			steps: []step{node("$-a"), have(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, selector: {matchLabels: {app: web}}, ` +
				`template: {metadata: {labels: {app: web}}, spec: {nodeSelector: {fault: $}, containers: [{name: main, image: "causes.invalid/app:1"}]}}, ` +
				`volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}}]}}`)},
			code: why.CodeUnschedulable, evidence: "Pod/web-0 status.conditions[PodScheduled]", message: "unbound immediate PersistentVolumeClaims", shows: "unbound",
		},
		{
			name: "The node of a DaemonSet is too small for its pod", id: "daemonset-too-large", ask: "daemonsets/$/web",
			steps: []step{node("$-a"), have(`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, ` +
				`template: {metadata: {labels: {app: web}}, spec: {nodeSelector: {fault: $}, containers: [{name: main, image: "causes.invalid/app:1", resources: {requests: {cpu: 9}}}]}}}}`)},
			code: why.CodePodTooLarge, evidence: "Node/$-a status.allocatable.cpu", message: "requests 9 CPU", shows: "Allocatable",
		},
		{
			name: "The node of a Job has a taint", id: "job-tainted", ask: "jobs/$/web",
			steps: []step{node("$-a", taint("example.com/busy")), have(`{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {` +
				`template: {spec: {restartPolicy: Never, nodeSelector: {fault: $}, containers: [{name: main, image: "causes.invalid/app:1"}]}}}}`)},
			code: why.CodeNodesTainted, evidence: "Node/$-a spec.taints", message: "example.com/busy", shows: "example.com/busy",
		},
	}
}
