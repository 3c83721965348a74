// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"slices"

	"github.com/windlass-operator/windlass/internal/why"
)

// onReal is a pod on the real node whose container has more of its spec, and more of the pod's.
func onReal(container, spec string) step {
	return have(`{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: ` + nodeName + `, terminationGracePeriodSeconds: 1, ` + spec +
		`containers: [{name: main, imagePullPolicy: IfNotPresent, ` + container + `}]}}`)
}

const ownImage = `image: ` + appImage

// containerFaults are what only a kubelet and a container runtime tell.
func containerFaults() []fault {
	faults := slices.Concat(imageFaults(), crashFaults(), startFaults())
	for i := range faults {
		faults[i].ask, faults[i].needs = "pods/$/web", realNode
	}
	return faults
}

func imageFaults() []fault {
	return []fault{
		{
			name: "Nothing listens where the image should come from", id: "image-unreachable", steps: []step{onReal(`image: 127.0.0.1:1/none:1`, ``)},
			code: why.CodeImage, evidence: "Pod/web status.containerStatuses[main].state", message: "127.0.0.1:1/none:1", shows: "Failed to pull",
		},
		{
			name: "The image has no valid name", id: "image-name", steps: []step{onReal(`image: Not/AnImage`, ``)},
			code: why.CodeImage, evidence: "Pod/web status.containerStatuses[main].state", message: "InvalidImageName", shows: "InvalidImageName",
		},
		{
			name: "The image is not on the node and must not be pulled", id: "image-never",
			steps: []step{have(`{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: ` + nodeName + `, containers: [{name: main, image: "causes.invalid/other:1", imagePullPolicy: Never}]}}`)},
			code:  why.CodeImage, evidence: "Pod/web status.containerStatuses[main].state", message: "ErrImageNeverPull", shows: "ErrImageNeverPull",
		},
		{
			name: "The image of an init container cannot be pulled", id: "image-init",
			steps: []step{onReal(ownImage, `initContainers: [{name: prepare, image: "127.0.0.1:1/none:1"}], `)},
			code:  why.CodeImage, evidence: "Pod/web status.initContainerStatuses[prepare].state", message: "container prepare", shows: "Failed to pull",
		},
	}
}

func crashFaults() []fault {
	return []fault{
		{
			name: "The program ends with an error again and again", id: "crash", steps: []step{onReal(ownImage+`, args: [exit, "3"]`, ``)},
			code: why.CodeCrashLoop, evidence: "Pod/web status.containerStatuses[main].state", message: "exit code 3",
		},
		{
			name: "The program ends without an error again and again", id: "crash-zero",
			steps: []step{onReal(ownImage+`, args: [exit, "0"]`, ``), until("pod/web", "status.containerStatuses", "CrashLoopBackOff")},
			code:  why.CodeCrashLoop, evidence: "Pod/web status.containerStatuses[main].state", message: "exit code 0",
		},
		{
			name: "An init container ends with an error again and again", id: "crash-init",
			steps: []step{onReal(ownImage, `initContainers: [{name: prepare, `+ownImage+`, args: [exit, "4"]}], `)},
			code:  why.CodeCrashLoop, evidence: "Pod/web status.initContainerStatuses[prepare].state", message: "container prepare ended with exit code 4",
		},
		{
			name: "One of two containers has ended and is not started again", id: "ended",
			steps: []step{have(`{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: ` + nodeName + `, terminationGracePeriodSeconds: 1, restartPolicy: Never,
				containers: [{name: main, imagePullPolicy: IfNotPresent, ` + ownImage + `, args: [exit, "6"]}, {name: other, imagePullPolicy: IfNotPresent, ` + ownImage + `}]}}`)},
			code: why.CodeCrashLoop, evidence: "Pod/web status.containerStatuses[main].state", message: "exit code 6",
		},
		{
			name: "The pod has failed and is not started again", id: "failed", steps: []step{onReal(ownImage+`, args: [exit, "5"]`, `restartPolicy: Never, `)},
			code: why.CodePodFailed, evidence: "Pod/web status.phase", message: "exit code 5", shows: "Exit Code:    5",
		},
		{
			name: "The pod ran longer than it may", id: "deadline", steps: []step{onReal(ownImage, `restartPolicy: Never, activeDeadlineSeconds: 1, `)},
			code: why.CodePodFailed, evidence: "Pod/web status.phase", message: "DeadlineExceeded", shows: "DeadlineExceeded",
		},
		{
			name: "The liveness probe fails", id: "liveness",
			steps: []step{onReal(ownImage+`, livenessProbe: {tcpSocket: {port: 81}, periodSeconds: 1, failureThreshold: 1}`, ``), until("pod/web", "status.containerStatuses", "CrashLoopBackOff")},
			code:  why.CodeCrashLoop, evidence: "Pod/web status.containerStatuses[main].state", message: "container main ended", shows: "",
		},
	}
}

func startFaults() []fault {
	return []fault{
		{
			name: "A ConfigMap of the environment does not exist", id: "no-configmap", steps: []step{onReal(ownImage+`, envFrom: [{configMapRef: {name: settings}}]`, ``)},
			code: why.CodeContainerConfig, evidence: "Pod/web status.containerStatuses[main].state", message: `configmap "settings" not found`, shows: "settings",
		},
		{
			name: "A Secret of the environment does not exist", id: "no-secret",
			steps: []step{onReal(ownImage+`, env: [{name: KEY, valueFrom: {secretKeyRef: {name: keys, key: key}}}]`, ``)},
			code:  why.CodeContainerConfig, evidence: "Pod/web status.containerStatuses[main].state", message: `secret "keys" not found`, shows: "keys",
		},
		{
			name: "The Secret of the environment lacks the key", id: "no-key",
			steps: []step{
				have(`{apiVersion: v1, kind: Secret, metadata: {name: keys}, stringData: {other: value}}`),
				onReal(ownImage+`, env: [{name: KEY, valueFrom: {secretKeyRef: {name: keys, key: key}}}]`, ``),
			},
			code: why.CodeContainerConfig, evidence: "Pod/web status.containerStatuses[main].state", message: `couldn't find key`, shows: "couldn't find key",
		},
		{
			name: "The pod must not run as root, and its image does", id: "root", steps: []step{onReal(ownImage+`, securityContext: {runAsNonRoot: true}`, ``)},
			code: why.CodeContainerConfig, evidence: "Pod/web status.containerStatuses[main].state", message: "runAsNonRoot", shows: "runAsNonRoot",
		},
		{
			name: "The image does not have the program", id: "no-program", steps: []step{onReal(ownImage+`, command: [/no/such/program]`, ``)},
			code: why.CodeContainerConfig, evidence: "Pod/web status.containerStatuses[main].state", message: "/no/such/program", shows: "/no/such/program",
		},
		{
			name: "The Secret of a volume does not exist", id: "volume-secret",
			steps: []step{onReal(ownImage+`, volumeMounts: [{name: keys, mountPath: /keys}]`, `volumes: [{name: keys, secret: {secretName: keys}}], `)},
			code:  why.CodeVolumeNotMounted, evidence: "Event/web.* message", message: `secret "keys" not found`, shows: `secret "keys" not found`,
		},
		{
			name: "The ConfigMap of a volume does not exist", id: "volume-configmap",
			steps: []step{onReal(ownImage+`, volumeMounts: [{name: settings, mountPath: /settings}]`, `volumes: [{name: settings, configMap: {name: settings}}], `)},
			code:  why.CodeVolumeNotMounted, evidence: "Event/web.* message", message: `configmap "settings" not found`, shows: `configmap "settings" not found`,
		},
		{
			name: "An init container does not end", id: "init-runs", steps: []step{onReal(ownImage, `initContainers: [{name: prepare, `+ownImage+`}], `)},
			code: why.CodeInitRuns, evidence: "Pod/web status.initContainerStatuses[prepare].state", message: "init container prepare",
		},
		{
			name: "An init container does not end, and another one follows", id: "init-runs-first",
			steps: []step{onReal(ownImage, `initContainers: [{name: prepare, `+ownImage+`}, {name: migrate, `+ownImage+`}], `)},
			code:  why.CodeInitRuns, evidence: "Pod/web status.initContainerStatuses[prepare].state", message: "init container prepare",
		},
		{
			name: "A sidecar does not start", id: "sidecar",
			steps: []step{onReal(ownImage, `initContainers: [{name: proxy, restartPolicy: Always, `+ownImage+`, startupProbe: {tcpSocket: {port: 81}, periodSeconds: 1, failureThreshold: 600}}], `)},
			code:  why.CodeInitRuns, evidence: "Pod/web status.initContainerStatuses[proxy].started", message: "sidecar proxy",
		},
		{
			name: "The readiness probe fails", id: "readiness", steps: []step{onReal(ownImage+`, readinessProbe: {tcpSocket: {port: 81}, periodSeconds: 1}`, ``)},
			code: why.CodeNotReady, evidence: "Pod/web status.containerStatuses[main].ready", message: "container main runs and is not ready",
		},
		{
			name: "A readiness gate is not open", id: "readiness-gate", steps: []step{onReal(ownImage, `readinessGates: [{conditionType: causes.example/open}], `)},
			code: why.CodePodNotReady, evidence: "Pod/web status.conditions[Ready]", message: "causes.example/open", shows: "causes.example/open",
		},
		{
			name: "The runtime of the node lacks the handler", id: "real-handler-missing",
			steps: []step{have(`{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: $}, handler: gvisor}`), onReal(ownImage, `runtimeClassName: $, `)},
			code:  why.CodeHandlerMissing, evidence: "Node/" + nodeName + " status.runtimeHandlers", message: "gvisor", shows: "runc",
		},
	}
}
