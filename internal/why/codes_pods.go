// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

// Causes that keep a pod from running.
const (
	// CodePodDeleting is for a pod that is being deleted.
	CodePodDeleting Code = "PodDeleting"
	// CodePodFailed is for a pod that has failed and is not started again.
	CodePodFailed Code = "PodFailed"
	// CodeSchedulingGated is for a pod that the scheduler ignores until its gates are gone.
	CodeSchedulingGated Code = "SchedulingGated"
	// CodeRuntimeClassMissing is for a pod whose RuntimeClass does not exist.
	CodeRuntimeClassMissing Code = "RuntimeClassMissing"
	// CodeNoNodes is for a cluster without nodes.
	CodeNoNodes Code = "NoNodes"
	// CodeNoReadyNode is for a cluster none of whose nodes is ready.
	CodeNoReadyNode Code = "NoReadyNode"
	// CodeNoNodeSelected is for a pod whose selector and node affinity match no node that it may use.
	CodeNoNodeSelected Code = "NoNodeSelected"
	// CodeNodesCordoned is for a pod all of whose nodes are cordoned.
	CodeNodesCordoned Code = "NodesCordoned"
	// CodeNodesTainted is for a pod that tolerates the taints of no node.
	CodeNodesTainted Code = "NodesTainted"
	// CodePodTooLarge is for a pod that requests more than any node has, even if it were empty.
	CodePodTooLarge Code = "PodTooLarge"
	// CodeNoRoom is for a pod that requests more than any node has free.
	CodeNoRoom Code = "NoRoom"
	// CodeClaimMissing is for a pod whose PersistentVolumeClaim does not exist.
	CodeClaimMissing Code = "ClaimMissing"
	// CodeClaimLost is for a pod whose PersistentVolumeClaim has lost its volume.
	CodeClaimLost Code = "ClaimLost"
	// CodeUnschedulable is for a pod for which the scheduler knows a reason that the objects do not show.
	CodeUnschedulable Code = "Unschedulable"
	// CodeNotScheduled is for a pod that no scheduler has looked at.
	CodeNotScheduled Code = "NotScheduled"
	// CodeNodeGone is for a pod whose node does not exist.
	CodeNodeGone Code = "NodeGone"
	// CodeNodeNotReady is for a pod whose node is not ready.
	CodeNodeNotReady Code = "NodeNotReady"
	// CodeHandlerMissing is for a pod whose node lacks the handler of its RuntimeClass.
	CodeHandlerMissing Code = "HandlerMissing"
	// CodeImage is for a container whose image cannot be pulled.
	CodeImage Code = "ImageNotPulled"
	// CodeContainerConfig is for a container that the kubelet cannot create, such as for a missing ConfigMap, or whose postStart hook fails.
	CodeContainerConfig Code = "ContainerNotCreated"
	// CodeCrashLoop is for a container that ends again and again.
	CodeCrashLoop Code = "ContainerCrashes"
	// CodeContainerStarting is for a container that has not started yet.
	CodeContainerStarting Code = "ContainerStarting"
	// CodeVolumeNotMounted is for a pod one of whose volumes its node cannot mount, such as for a missing Secret.
	CodeVolumeNotMounted Code = "VolumeNotMounted"
	// CodeSandboxNotCreated is for a pod for which the container runtime of its node cannot make the sandbox.
	CodeSandboxNotCreated Code = "SandboxNotCreated"
	// CodeInitRuns is for a pod whose containers wait for an init container that has not ended, or for a sidecar that has not started.
	CodeInitRuns Code = "InitContainerRuns"
	// CodeNotReady is for a container that runs and is not ready.
	CodeNotReady Code = "ContainerNotReady"
	// CodePodNotReady is for a pod that is not ready although its containers are.
	CodePodNotReady Code = "PodNotReady"
)

// podCodes returns the codes of pods.
func podCodes() map[Code]row {
	return union(missingCodes(), map[Code]row{
		CodePodDeleting:         waits("Wait until the pod has ended. If it stays, look at its finalizers and at its node.", "kubectl get pod {name}{in} -o yaml"),
		CodePodFailed:           asks("Read why the pod has failed, and delete it or let its controller replace it.", describeCommand),
		CodeSchedulingGated:     asks("Let the program that has set the gates remove them.", "kubectl get pod {name}{in} -o jsonpath='{.spec.schedulingGates}'"),
		CodeRuntimeClassMissing: asks("Create the RuntimeClass or the NodePool of that name, or correct runtimeClassName.", "kubectl get runtimeclasses"),
		CodeNoNodes:             asks("Add a node to the cluster.", "kubectl get nodes"),
		CodeNoReadyNode:         asks("Find out why the nodes are not ready.", "kubectl get nodes"),
		CodeNoNodeSelected:      asks("Correct the nodeSelector or the node affinity of the pod, or label a node.", "kubectl get nodes --show-labels"),
		CodeNodesCordoned:       asks("Uncordon one of the nodes.", "kubectl uncordon {node}"),
		CodeNodesTainted:        asks("Add a toleration to the pod, or remove the taint from a node.", "kubectl describe node {node}"),
		CodePodTooLarge:         asks("Request less, or add a larger node.", "kubectl describe node {node}"),
		CodeNoRoom:              asks("Free room, request less, or add a node.", "kubectl describe node {node}"),
		CodeClaimMissing:        asks("Create the PersistentVolumeClaim, or correct its name in the pod.", "kubectl get persistentvolumeclaims{in}"),
		CodeClaimLost:           asks("Restore the volume, or create the claim again.", "kubectl describe persistentvolumeclaim {claim}{in}"),
		CodeUnschedulable:       asks("Do what the message of the scheduler asks for.", describeCommand),
		CodeNotScheduled:        waits("If it stays, look whether the scheduler that spec.schedulerName names is running.", "kubectl -n kube-system get pods,leases"),
		CodeNodeGone:            waits("Kubernetes deletes the pod soon. If it stays, delete it.", "kubectl delete pod {name}{in} --force"),
		CodeNodeNotReady:        asks("Find out why the node is not ready.", "kubectl describe node {node}"),
		CodeHandlerMissing:      asks("Configure the container runtime of the node, or choose another handler.", "kubectl get node {node} -o jsonpath='{.status.runtimeHandlers}'"),
		CodeImage:               asks("Correct the name of the image, or give the pod an imagePullSecret.", describeCommand),
		CodeContainerConfig:     asks("Create what the message names, or correct the pod.", describeCommand),
		CodeCrashLoop:           asks("Read the log of the run that has ended.", "kubectl logs {name}{in} -c {container}{previous}"),
		CodeContainerStarting:   waits("If it stays, look at the events of the pod.", describeCommand),
		CodeVolumeNotMounted:    asks("Create what the message names, or correct the volume: the kubelet tries again.", describeCommand),
		CodeSandboxNotCreated:   asks("Look at the container runtime and the network of the node: the kubelet tries again.", "kubectl describe node {node}"),
		CodeInitRuns:            waits("If it stays, read the log of the init container.", "kubectl logs {name}{in} -c {container}"),
		CodeNotReady:            waits("If it stays, look at the readiness probe and at the log of the container.", "kubectl logs {name}{in} -c {container}"),
		CodePodNotReady:         waits("If it stays, look at the conditions of the pod.", describeCommand),
	})
}
