// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Causes that objects of every kind can have.
const (
	// CodeDeleting is for an object that is being deleted.
	CodeDeleting Code = "Deleting"
)

// unknownStep is what to do about a cause that is not in the table.
const unknownStep = "Read the conditions and the events of the object."

// pauseEnds is what to do about a pause that has an end, of an object or of its pool.
const pauseEnds = "The pause ends by itself. To end it now, remove the annotation."

// sharedCodes returns the codes of all kinds.
func sharedCodes() map[Code]row {
	return map[Code]row{
		CodeDeleting:             waits("The object goes when its finalizers are done. If it stays, read the log of the program that has set them.", managerLog),
		status.ReasonNotObserved: waits("If it stays, look whether Windlass is running.", inSystem+"get pods"),
		status.ReasonPaused:      asks("Remove the annotation to continue.", "kubectl annotate {kind} {name}{in} windlass.io/paused-"),
		status.ReasonTerminating: waits("If it stays, read the log of Windlass.", managerLog),
		status.ReasonError:       waits("Windlass tries again. If it stays, correct what the message says, or read the log.", managerLog),
	}
}

// missingCodes returns the codes of pods that are missing because of their pool.
func missingCodes() map[Code]row {
	return map[Code]row{
		appsv1alpha1.ReasonPoolNotFound:             asks("Create the pool, or correct the name.", "kubectl get nodepools.nodes.lailin.xyz"),
		appsv1alpha1.ReasonPoolDeleting:             asks("Name another pool.", "kubectl get nodepools.nodes.lailin.xyz"),
		appsv1alpha1.ReasonPoolPaused:               asks("Remove the annotation windlass.io/paused or spec.dryRun from the pool.", "kubectl describe nodepools.nodes.lailin.xyz {pool}"),
		appsv1alpha1.ReasonPoolNotAllowed:           asks("Ask for the labels of the namespace or for access to the pool, or name another pool.", "kubectl get namespace {namespace} --show-labels"),
		appsv1alpha1.ReasonPoolRuntimeClassNotReady: asks("Look at the condition RuntimeClassReady of the pool.", "kubectl describe nodepools.nodes.lailin.xyz {pool}"),
		appsv1alpha1.ReasonPoolHasNoNode:            asks("Add a node to the pool: give one the label node-role.kubernetes.io/{pool}, or one that the pool selects.", "kubectl get nodes --show-labels"),
		appsv1alpha1.ReasonPoolHasNoReadyNode:       asks("Find out why the nodes are not ready.", "kubectl get nodes -l node-role.kubernetes.io/{pool}"),
		appsv1alpha1.ReasonPoolNodesNotSynced:       waits("If it stays, look at the conditions NodesSynced and Conflicted of the pool.", "kubectl describe nodepools.nodes.lailin.xyz {pool}"),
		appsv1alpha1.ReasonPoolCordoned:             asks("Uncordon one of the nodes.", "kubectl get nodes -l node-role.kubernetes.io/{pool}"),
		appsv1alpha1.ReasonPoolCapacityShort:        asks("Add nodes, or request less.", "kubectl get nodes -l node-role.kubernetes.io/{pool}"),
		appsv1alpha1.ReasonPoolHandlerMissing:       asks("Configure the container runtime of the nodes, or choose another handler.", "kubectl describe nodepools.nodes.lailin.xyz {pool}"),
	}
}

// deploymentCodes returns the codes of Deployments, whose pods Kubernetes makes.
func deploymentCodes() map[Code]row {
	return map[Code]row{
		appsv1alpha1.ReasonRollingOut:                 waits("If it stays, look at the pods.", "kubectl get pods{in}"),
		appsv1alpha1.ReasonMinimumReplicasUnavailable: waits("If it stays, look at the pods.", "kubectl get pods{in}"),
		appsv1alpha1.ReasonProgressDeadlineExceeded:   asks("Look at the new pods, then correct the template or free capacity.", "kubectl get pods{in}"),
		appsv1alpha1.ReasonFailedCreate:               asks("Remove the cause that the message quotes: Kubernetes tries again.", "kubectl describe replicasets{in}"),
		appsv1alpha1.ReasonFailedDelete:               asks("Remove the cause that the message quotes: Kubernetes tries again.", "kubectl describe replicasets{in}"),
		CodeQuota:                                     asks("Raise the quota, or request less.", "kubectl describe resourcequotas{in}"),
		CodeAdmission:                                 asks("Correct the pod template as the message says.", "kubectl describe replicasets{in}"),
		CodeRuntimeClassMissing:                       asks("Create the RuntimeClass or the NodePool of that name, or correct runtimeClassName.", "kubectl get runtimeclasses"),
		appsv1alpha1.ReasonDeploymentPaused:           asks("Resume the rollout.", "kubectl rollout resume deployment/{name}{in}"),
	}
}

// podSetCodes returns the codes of PodSets.
func podSetCodes() map[Code]row {
	return union(union(deploymentCodes(), missingCodes()), map[Code]row{
		appsv1alpha1.ReasonDeploymentPending:     waits("If it stays, look whether kube-controller-manager is running.", "kubectl -n kube-system get pods,leases"),
		appsv1alpha1.ReasonDeploymentTerminating: waits("If it stays, look at the finalizers of the Deployment.", "kubectl get deployment {name}{in} -o yaml"),
		appsv1alpha1.ReasonNameTaken:             asks("Delete or rename one of the two.", "kubectl get deployments,poddisruptionbudgets{in}"),
		appsv1alpha1.ReasonTemplateTooLarge:      asks("Put what is large into ConfigMaps, or take away what others have added, as the message says.", "kubectl get podsets,deployments,poddisruptionbudgets{in} --field-selector metadata.name={name} -o yaml"),
		appsv1alpha1.ReasonChildRefused:          asks("Correct the PodSet as the API server says.", "kubectl edit podset {name}{in}"),
		appsv1alpha1.ReasonDeploymentPaused:      asks("Resume the rollout.", `kubectl patch podset {name}{in} --type merge -p '{"spec":{"paused":false}}'`),
	})
}

// toolCodes returns the codes of PodBuggerTools.
func toolCodes() map[Code]row {
	return map[Code]row{
		appsv1alpha1.ReasonNoPodMatches:    asks("Correct spec.selector, or wait for pods.", "kubectl get pods{in} --show-labels"),
		appsv1alpha1.ReasonWaitingForPods:  waits("The pods get the tool when they run. If they do not, ask why of one of them.", "kubectl get pods{in}"),
		appsv1alpha1.ReasonInstalling:      waits("If it stays, look at the pods in the status.", describeCommand),
		appsv1alpha1.ReasonToolRefused:     asks("Correct the tool or the policy that the message names.", describeCommand),
		appsv1alpha1.ReasonToolFailed:      asks("Correct the image or the command.", describeCommand),
		appsv1alpha1.ReasonMaxPodsReached:  asks("Raise spec.maxPods, or narrow the selector.", "kubectl edit podbuggertool {name}{in}"),
		appsv1alpha1.ReasonInvalidSelector: asks("Correct spec.selector.", "kubectl edit podbuggertool {name}{in}"),
	}
}
