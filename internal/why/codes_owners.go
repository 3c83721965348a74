// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// foreignCodes returns what kinds have in place of what all kinds share because Kubernetes itself works on them, and not Windlass.
func foreignCodes() map[Code]row {
	return map[Code]row{
		status.ReasonNotObserved: waits("If it stays, look whether kube-controller-manager is running.", "kubectl -n kube-system get pods,leases"),
		CodeDeleting: waits("The object goes when its finalizers are done. If it stays, read the log of the program that has set them.",
			"kubectl get {kind} {name}{in} -o jsonpath='{.metadata.finalizers}'"),
	}
}

// podsCodes returns what owners of pods can have besides Deployments. Their events quote the API server.
func podsCodes() map[Code]row {
	return union(foreignCodes(), map[Code]row{
		CodePodsMissing:     waits("If it stays, read the events: they quote what the API server has refused.", describeCommand),
		CodePodsUnavailable: waits("If it stays, look at the pods.", "kubectl get pods{in}"),
	})
}

// replicaSetCodes returns the codes of ReplicaSets.
func replicaSetCodes() map[Code]row {
	return union(podsCodes(), map[Code]row{
		appsv1alpha1.ReasonFailedCreate: asks("Remove the cause that the message quotes: Kubernetes tries again.", describeCommand),
		appsv1alpha1.ReasonFailedDelete: asks("Remove the cause that the message quotes: Kubernetes tries again.", describeCommand),
		CodeQuota:                       asks("Raise the quota, or request less.", "kubectl describe resourcequotas{in}"),
		CodeAdmission:                   asks("Correct the pod template as the message says.", describeCommand),
		CodeRuntimeClassMissing:         asks("Create the RuntimeClass or the NodePool of that name, or correct runtimeClassName.", "kubectl get runtimeclasses"),
	})
}

// statefulSetCodes returns the codes of StatefulSets.
func statefulSetCodes() map[Code]row {
	return union(updateCodes(), map[Code]row{
		CodePartitioned: asks("Lower the partition to go on with the update.", "kubectl edit statefulset {name}{in}"),
	})
}

// daemonSetCodes returns the codes of DaemonSets.
func daemonSetCodes() map[Code]row {
	return union(updateCodes(), map[Code]row{
		CodeNoNodeChosen: asks("Correct the pod template, or label a node.", "kubectl get nodes --show-labels"),
	})
}

// updateCodes returns the codes of what replaces its own pods.
func updateCodes() map[Code]row {
	return union(podsCodes(), map[Code]row{
		appsv1alpha1.ReasonRollingOut: waits("If it stays, look at the pods.", "kubectl rollout status {kind}/{name}{in} --watch=false"),
		CodeWaitsForDeletion:          asks("Delete the pods one by one, or set spec.updateStrategy.type to RollingUpdate.", "kubectl get pods{in}"),
	})
}

// jobCodes returns the codes of Jobs.
func jobCodes() map[Code]row {
	return union(podsCodes(), map[Code]row{
		CodeJobFailed:    asks("Read the log, and create the Job again.", "kubectl logs job/{name}{in}"),
		CodeJobSuspended: asks("Resume it, or wait for the queue that has suspended it.", `kubectl patch job {name}{in} --type merge -p '{"spec":{"suspend":false}}'`),
		CodeJobRetries:   waits("If it goes on, read the log of a pod that has failed.", "kubectl logs job/{name}{in}"),
	})
}

// cronJobCodes returns the codes of CronJobs.
func cronJobCodes() map[Code]row {
	return union(foreignCodes(), map[Code]row{
		CodeCronJobSuspended: asks("Resume it.", `kubectl patch cronjob {name}{in} --type merge -p '{"spec":{"suspend":false}}'`),
		CodeLastJobFailed:    asks("Correct the cause, or wait for the next time of the schedule.", describeCommand),
		CodeLastJobWaits:     waits("If it stays, look at the Job.", describeCommand),
	})
}
