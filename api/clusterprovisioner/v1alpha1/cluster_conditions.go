// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a Cluster, besides Ready, Reconciling, Stalled and Paused, which every kind has.
const (
	// ConditionConfigValid is True when the configuration can be read and given to the tool.
	ConditionConfigValid = "ConfigValid"
	// ConditionProvisioned is True when the tool has applied a configuration and has not removed it. It stays True while a later
	// change is being applied, or could not be.
	ConditionProvisioned = "Provisioned"
	// ConditionKubeconfigAvailable is True when a Secret holds the cluster's kubeconfig.
	ConditionKubeconfigAvailable = "KubeconfigAvailable"
	// ConditionHealthy is True when the cluster's API server answers /readyz to an authenticated request.
	ConditionHealthy = "Healthy"
	// ConditionDegraded is True when a change could not be applied to a cluster that exists, or the tool skipped nodes.
	ConditionDegraded = "Degraded"
)

// Reasons of ConfigValid.
const (
	// ReasonConfigRead says that the configuration is there and valid.
	ReasonConfigRead = "ConfigRead"
	// ReasonConfigNotFound says that the file, Secret or ConfigMap does not exist, or lacks the key.
	ReasonConfigNotFound = "ConfigNotFound"
	// ReasonConfigUnreadable says that the configuration is not YAML, or is too large, or that exec names files that cannot be in its directory.
	ReasonConfigUnreadable = "ConfigUnreadable"
	// ReasonConfigPathInUse says that configPath names the file of another Cluster.
	ReasonConfigPathInUse = "ConfigPathInUse"
	// ReasonReferenceRefused says that the spec names a Secret or ConfigMap in a namespace that Clusters cannot refer to.
	ReasonReferenceRefused = "ReferenceRefused"
	// ReasonProvisionerNotAllowed says that --allowed-provisioners does not list the provisioner.
	ReasonProvisionerNotAllowed = "ProvisionerNotAllowed"
	// ReasonSecretInPlainSight says that spec.config.inline or a ConfigMap holds a private key or a password.
	ReasonSecretInPlainSight = "SecretInPlainSight"
)

// Reasons of Provisioned and Degraded, besides the reasons of failed runs.
const (
	// ReasonApplied says that the tool has applied a configuration.
	ReasonApplied = "Applied"
	// ReasonApplying says that the tool is applying the configuration.
	ReasonApplying = "Applying"
	// ReasonQueued says that the maximum number of tools is running, and this one waits for another to end.
	ReasonQueued = "Queued"
	// ReasonWaitingForApproval says that status.plan waits for the annotation clusterprovisioner.rke.io/approve.
	ReasonWaitingForApproval = "WaitingForApproval"
	// ReasonRemoving says that the tool is removing the cluster.
	ReasonRemoving = "Removing"
	// ReasonRemoved says that the tool has removed the cluster.
	ReasonRemoved = "Removed"
	// ReasonNodesSkipped says that the tool could not reach machines and continued without them.
	ReasonNodesSkipped = "NodesSkipped"
	// ReasonNotDegraded says that no change of a cluster that exists has failed, and that no machine was skipped.
	ReasonNotDegraded = "NotDegraded"
	// ReasonRetrying says that a run failed and is repeated at status.nextRetryTime.
	ReasonRetrying = "Retrying"
)

// Reasons of Provisioned, Degraded and Stalled for a failed run, as classified from the tool's log.
const (
	// ReasonSSHAuth says that a machine refused the key or the user.
	ReasonSSHAuth = "SSHAuth"
	// ReasonSSHTunnel says that a machine could not be reached through SSH.
	ReasonSSHTunnel = "SSHTunnel"
	// ReasonUnsupportedDocker says that a machine's Docker is missing, or of a version that the tool does not support.
	ReasonUnsupportedDocker = "UnsupportedDocker"
	// ReasonPortInUse says that a port that the cluster needs is in use.
	ReasonPortInUse = "PortInUse"
	// ReasonDiskFull says that a disk is full, here or on a machine.
	ReasonDiskFull = "DiskFull"
	// ReasonEtcdUnhealthy says that etcd did not become healthy.
	ReasonEtcdUnhealthy = "EtcdUnhealthy"
	// ReasonImagePull says that an image could not be pulled.
	ReasonImagePull = "ImagePull"
	// ReasonCertMismatch says that certificates do not belong together.
	ReasonCertMismatch = "CertMismatch"
	// ReasonConfigRefused says that the tool does not accept the configuration.
	ReasonConfigRefused = "ConfigRefused"
	// ReasonStateLost says that the tool's state is lost, or does not fit the cluster.
	ReasonStateLost = "StateLost"
	// ReasonTimeout says that a run took longer than its timeout and was stopped.
	ReasonTimeout = "Timeout"
	// ReasonInterrupted says that a run ended without a result: the machine restarted, or the process was killed.
	ReasonInterrupted = "Interrupted"
	// ReasonBinaryMissing says that the tool is not installed where Windlass runs.
	ReasonBinaryMissing = "BinaryMissing"
	// ReasonUnknown says that the run failed, and that no known message in its log says why.
	ReasonUnknown = "Unknown"
)

// Reasons of KubeconfigAvailable and of Healthy.
const (
	// ReasonKubeconfigWritten says that the Secret holds the kubeconfig.
	ReasonKubeconfigWritten = "KubeconfigWritten"
	// ReasonAnswering says that the API server answers /readyz.
	ReasonAnswering = "Answering"
	// ReasonNotProbed says that the API server has not been probed yet.
	ReasonNotProbed = "NotProbed"
	// ReasonNotAnswering says that as many requests for /readyz failed in a row as failureThreshold says.
	ReasonNotAnswering = "NotAnswering"
)

// Reasons of events.
const (
	// ReasonRunStarted is the reason of the event for a run of the tool that has started.
	ReasonRunStarted = "RunStarted"
	// ReasonStage is the reason of the event for a stage that the tool has reached.
	ReasonStage = "Stage"
	// ReasonRunFailed is the reason of the event for a run that failed.
	ReasonRunFailed = "RunFailed"
)
