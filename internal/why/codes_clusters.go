// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"

// clusterCodes returns the codes of Clusters.
func clusterCodes() map[Code]row {
	const edit, show = "kubectl edit {kind} {name}", describeCommand
	const readAndRepeat = "Read the log and remove the cause, then run the tool again."
	const retry = `kubectl annotate {kind} {name} clusterprovisioner.rke.io/retry="$(date +%s)" --overwrite`
	return map[Code]row{
		clusterprovisionerv1alpha1.ReasonConfigNotFound:        asks("Create the file, the object or the key that the message names.", edit),
		clusterprovisionerv1alpha1.ReasonConfigUnreadable:      asks("Correct what the message names: the configuration is not YAML, or too large, or exec names files that cannot be.", edit),
		clusterprovisionerv1alpha1.ReasonConfigPathRefused:     asks("Move the file into the directory of --config-root.", edit),
		clusterprovisionerv1alpha1.ReasonConfigPathInUse:       asks("Give the two Clusters a file each: the message names the other one.", edit),
		clusterprovisionerv1alpha1.ReasonReferenceRefused:      asks("Move the object into the namespace of Windlass, or allow its namespace with --config-namespaces.", edit),
		clusterprovisionerv1alpha1.ReasonSecretInPlainSight:    asks("Move the configuration into a Secret.", edit),
		clusterprovisionerv1alpha1.ReasonProvisionerNotAllowed: asks("Use another provisioner, or allow this one with --allowed-provisioners.", edit),
		clusterprovisionerv1alpha1.ReasonApplying:              waits("The tool is running.", show),
		clusterprovisionerv1alpha1.ReasonQueued:                waits("The run begins when another one has ended.", "kubectl get {kind}"),
		clusterprovisionerv1alpha1.ReasonWaitingForApproval:    asks("Read the plan, then approve it.", "kubectl annotate {kind} {name} clusterprovisioner.rke.io/approve={plan} --overwrite"),
		clusterprovisionerv1alpha1.ReasonRetrying:              waits("The run is repeated. To do it now, set the annotation.", retry),
		clusterprovisionerv1alpha1.ReasonRemoving:              waits("The tool removes what it has made.", show),
		clusterprovisionerv1alpha1.ReasonNodesSkipped:          asks("Find out why the tool did not reach the machines in status.skippedNodes, then run it again.", retry),
		clusterprovisionerv1alpha1.ReasonSSHAuth:               asks("Correct the key or the user of the machine, then run the tool again.", retry),
		clusterprovisionerv1alpha1.ReasonSSHTunnel:             asks("Look whether the machine can be reached and forwards connections (AllowTcpForwarding).", retry),
		clusterprovisionerv1alpha1.ReasonUnsupportedDocker:     asks("Install a version of Docker that the tool supports.", retry),
		clusterprovisionerv1alpha1.ReasonPortInUse:             asks("Free the port on the machine that the message names.", retry),
		clusterprovisionerv1alpha1.ReasonDiskFull:              asks("Free space on the machine that the message names.", retry),
		clusterprovisionerv1alpha1.ReasonEtcdUnhealthy:         waits("Read the log: the run is repeated.", retry).gaveUp(readAndRepeat, retry),
		clusterprovisionerv1alpha1.ReasonImagePull:             waits("Read the log: the run is repeated.", retry).gaveUp(readAndRepeat, retry),
		clusterprovisionerv1alpha1.ReasonCertMismatch:          asks("Restore the state that fits the cluster into the Secret, or provision again.", show),
		clusterprovisionerv1alpha1.ReasonConfigRefused:         asks("Correct the configuration of the Cluster as the message says: the change starts the next run.", edit),
		clusterprovisionerv1alpha1.ReasonStateLost:             asks("Restore the state into the Secret, or provision again.", show),
		clusterprovisionerv1alpha1.ReasonTimeout:               waits("The run is repeated. Raise timeouts.up if it needs longer.", retry).gaveUp("Raise timeouts.up, then run the tool again.", retry),
		clusterprovisionerv1alpha1.ReasonInterrupted:           waits("The run is repeated.", retry).gaveUp(readAndRepeat, retry),
		clusterprovisionerv1alpha1.ReasonBinaryMissing:         asks("Install the tool, or name it with --provisioner-path.", managerLog),
		clusterprovisionerv1alpha1.ReasonUnknown:               asks("No rule knows this failure: read the log.", show),
		clusterprovisionerv1alpha1.ReasonKubeconfigMissing:     asks("Look at the message: the tool has left no kubeconfig, or it is gone.", show),
		clusterprovisionerv1alpha1.ReasonKubeconfigInvalid:     asks("Correct the kubeconfig that the message names.", show),
		clusterprovisionerv1alpha1.ReasonSecretConflict:        asks("Delete or rename the Secret that belongs to somebody else.", inSystem+"get secrets"),
		clusterprovisionerv1alpha1.ReasonSecretForbidden:       asks("Have an administrator of the namespace run the command in the message.", show),
		clusterprovisionerv1alpha1.ReasonNotProbed:             waits("Windlass asks the cluster within moments.", show),
		clusterprovisionerv1alpha1.ReasonNotAnswering:          asks("Look at the control plane of the cluster and the network between.", show),
	}
}

// kubeconfigCodes returns the codes of Kubeconfigs.
func kubeconfigCodes() map[Code]row {
	const show = describeCommand
	return map[Code]row{
		clusterprovisionerv1alpha1.ReasonClusterNotFound:   asks("Create the Cluster, or correct spec.clusterRef.", "kubectl get clusters.clusterprovisioner.rke.io"),
		clusterprovisionerv1alpha1.ReasonClusterNotReady:   waits("The Cluster comes first.", "kubectl describe clusters.clusterprovisioner.rke.io"),
		clusterprovisionerv1alpha1.ReasonKubeconfigMissing: asks("Look at the message: there is no kubeconfig, or the spec names none.", show),
		clusterprovisionerv1alpha1.ReasonKubeconfigInvalid: asks("Correct the kubeconfig that the message names.", show),
		clusterprovisionerv1alpha1.ReasonConfigPathRefused: asks("Move the file into the directory of --config-root.", show),
		clusterprovisionerv1alpha1.ReasonSecretConflict:    asks("Delete or rename the Secret that belongs to somebody else.", inSystem+"get secrets"),
		clusterprovisionerv1alpha1.ReasonSecretForbidden:   asks("Have an administrator of the namespace run the command in the message.", show),
		clusterprovisionerv1alpha1.ReasonTokenRefused:      asks("Let the cluster allow the token, or delete the ServiceAccount that has its name.", show),
		clusterprovisionerv1alpha1.ReasonExpired:           waits("Windlass issues another credential when the cluster answers.", show),
	}
}
