// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a Cluster, besides Ready, Reconciling, Stalled and Paused, which every kind has.
const (
	// ConditionConfigValid is True when the configuration can be read and may be given to the tool.
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

// ConditionIssued is the condition of a Kubeconfig that is True when its Secret holds a valid kubeconfig.
const ConditionIssued = "Issued"

// Reasons of ConfigValid.
const (
	// ReasonConfigRead says that the configuration is there and valid.
	ReasonConfigRead = "ConfigRead"
	// ReasonConfigNotFound says that the file, Secret or ConfigMap does not exist, or lacks the key.
	ReasonConfigNotFound = "ConfigNotFound"
	// ReasonConfigUnreadable says that the configuration is no YAML, or is too large.
	ReasonConfigUnreadable = "ConfigUnreadable"
	// ReasonConfigPathRefused says that configPath lies outside of --config-root.
	ReasonConfigPathRefused = "ConfigPathRefused"
	// ReasonSecretInPlainSight says that spec.config.inline or a ConfigMap holds a private key or a password.
	ReasonSecretInPlainSight = "SecretInPlainSight"
)

// Reasons of Provisioned and Degraded, besides the reasons of failed runs.
const (
	// ReasonApplied says that the tool has applied the present configuration.
	ReasonApplied = "Applied"
	// ReasonApplying says that the tool is at work.
	ReasonApplying = "Applying"
	// ReasonQueued says that as many tools run as may, and this one waits for its turn.
	ReasonQueued = "Queued"
	// ReasonWaitingForApproval says that status.plan waits for the annotation clusterprovisioner.rke.io/approve.
	ReasonWaitingForApproval = "WaitingForApproval"
	// ReasonRemoving says that the tool is removing the cluster.
	ReasonRemoving = "Removing"
	// ReasonRemoved says that the tool has removed the cluster.
	ReasonRemoved = "Removed"
	// ReasonNodesSkipped says that the tool could not reach machines and went on without them.
	ReasonNodesSkipped = "NodesSkipped"
	// ReasonNotDegraded says that there is nothing of the kind.
	ReasonNotDegraded = "NotDegraded"
	// ReasonRetrying says that a run failed and is repeated at status.nextRetryTime.
	ReasonRetrying = "Retrying"
)

// Reasons of Provisioned, Degraded and Stalled for a failed run, as it was classified from the tool's log.
const (
	// ReasonSSHAuth says that a machine refused the key or the user.
	ReasonSSHAuth = "SSHAuth"
	// ReasonSSHTunnel says that a machine could not be reached through SSH.
	ReasonSSHTunnel = "SSHTunnel"
	// ReasonUnsupportedDocker says that a machine's Docker is missing or of a version that the tool does not take.
	ReasonUnsupportedDocker = "UnsupportedDocker"
	// ReasonPortInUse says that a port that the cluster needs is taken.
	ReasonPortInUse = "PortInUse"
	// ReasonDiskFull says that a disk is full, here or on a machine.
	ReasonDiskFull = "DiskFull"
	// ReasonEtcdUnhealthy says that etcd did not become healthy.
	ReasonEtcdUnhealthy = "EtcdUnhealthy"
	// ReasonImagePull says that an image could not be pulled.
	ReasonImagePull = "ImagePull"
	// ReasonCertMismatch says that certificates do not belong together.
	ReasonCertMismatch = "CertMismatch"
	// ReasonStateLost says that the tool's state is gone or does not fit the cluster.
	ReasonStateLost = "StateLost"
	// ReasonTimeout says that a run took longer than its timeout and was ended.
	ReasonTimeout = "Timeout"
	// ReasonInterrupted says that a run ended without telling how: the machine was restarted, or the process killed.
	ReasonInterrupted = "Interrupted"
	// ReasonBinaryMissing says that the tool is not installed where Windlass runs.
	ReasonBinaryMissing = "BinaryMissing"
	// ReasonUnknown says that the run failed for a reason that the log does not tell in known words.
	ReasonUnknown = "Unknown"
)

// Reasons of KubeconfigAvailable, of Healthy, and of a Kubeconfig's Issued.
const (
	// ReasonKubeconfigWritten says that the Secret holds the kubeconfig.
	ReasonKubeconfigWritten = "KubeconfigWritten"
	// ReasonKubeconfigMissing says that the tool has written none.
	ReasonKubeconfigMissing = "KubeconfigMissing"
	// ReasonKubeconfigInvalid says that what the tool wrote is no kubeconfig that Windlass accepts.
	ReasonKubeconfigInvalid = "KubeconfigInvalid"
	// ReasonSecretConflict says that a Secret of that name exists which is not Windlass' own.
	ReasonSecretConflict = "SecretConflict"
	// ReasonAnswering says that the API server answers /readyz.
	ReasonAnswering = "Answering"
	// ReasonNotProbed says that the API server has not been asked yet.
	ReasonNotProbed = "NotProbed"
	// ReasonNotAnswering says that the API server has not answered /readyz with success as often as failureThreshold says.
	ReasonNotAnswering = "NotAnswering"
	// ReasonIssued says that the Secret holds a valid kubeconfig.
	ReasonIssued = "Issued"
	// ReasonClusterNotFound says that there is no Cluster of the name in clusterRef.
	ReasonClusterNotFound = "ClusterNotFound"
	// ReasonClusterNotReady says that the cluster has no kubeconfig yet, or does not answer.
	ReasonClusterNotReady = "ClusterNotReady"
	// ReasonTokenRefused says that the cluster refused the ServiceAccount, its binding or the token.
	ReasonTokenRefused = "TokenRefused"
	// ReasonRevoked is the reason of the event for a ServiceAccount that has been removed from the cluster.
	ReasonRevoked = "Revoked"
	// ReasonExpired says that the credential has ended.
	ReasonExpired = "Expired"
)

// Reasons of events.
const (
	// ReasonRunStarted is the reason of the event for a run of the tool that has begun.
	ReasonRunStarted = "RunStarted"
	// ReasonStage is the reason of the event for a stage that the tool has reached.
	ReasonStage = "Stage"
	// ReasonRunFailed is the reason of the event for a run that failed.
	ReasonRunFailed = "RunFailed"
)
