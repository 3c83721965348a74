// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a PodSet, besides Ready, Reconciling, Stalled and Paused, which every kind has.
const (
	// ConditionAvailable is the condition of that name of the owned Deployment: enough pods are available.
	ConditionAvailable = "Available"
	// ConditionProgressing is the condition of that name of the owned Deployment: the rollout moves, or is complete.
	ConditionProgressing = "Progressing"
	// ConditionReplicaFailure is the condition of that name of the owned Deployment: pods cannot be created or deleted.
	ConditionReplicaFailure = "ReplicaFailure"
	// ConditionChildConflict is True when an object of the PodSet's name exists that the PodSet does not own.
	ConditionChildConflict = "ChildConflict"
)

// Reasons of a PodSet's conditions and events.
const (
	// ReasonRolledOut says that all pods run the current template and are available.
	ReasonRolledOut = "RolledOut"
	// ReasonRollingOut says that pods of the current template are still being created or old ones removed.
	ReasonRollingOut = "RollingOut"
	// ReasonDeploymentPending says that the Deployment does not exist yet, or that the Deployment controller has not observed it.
	ReasonDeploymentPending = "DeploymentPending"
	// ReasonDeploymentTerminating says that an object with the name of the PodSet, for example of an earlier PodSet, is being
	// deleted and has to be gone before it is created again.
	ReasonDeploymentTerminating = "DeploymentTerminating"
	// ReasonNoReplicaFailure says that no pod failed to be created or deleted.
	ReasonNoReplicaFailure = "NoReplicaFailure"
	// ReasonNameTaken says that an object of the PodSet's name exists that the PodSet does not own.
	ReasonNameTaken = "NameTaken"
	// ReasonNoConflict says that all objects of the PodSet's name are its own.
	ReasonNoConflict = "NoConflict"
	// ReasonChildRefused says that the API server rejected an owned object as invalid or forbidden.
	ReasonChildRefused = "ChildRefused"
	// ReasonTemplateTooLarge says that spec.template, or what others have made of the Deployment or the budget, is larger than Windlass keeps.
	ReasonTemplateTooLarge = "TemplateTooLarge"
	// ReasonDeploymentCreated is the reason of the event for a created Deployment.
	ReasonDeploymentCreated = "DeploymentCreated"
	// ReasonDeploymentUpdated is the reason of the event for a Deployment that follows a changed PodSet.
	ReasonDeploymentUpdated = "DeploymentUpdated"
	// ReasonScaled is the reason of the event for a changed number of pods.
	ReasonScaled = "Scaled"
	// ReasonDriftRepaired is the reason of the event for a change of a child that Windlass reverted.
	ReasonDriftRepaired = "DriftRepaired"
)

// Reasons of the owned Deployment's conditions, which a PodSet passes on.
const (
	// ReasonMinimumReplicasAvailable says that enough pods are available.
	ReasonMinimumReplicasAvailable = "MinimumReplicasAvailable"
	// ReasonMinimumReplicasUnavailable says that too few pods are available.
	ReasonMinimumReplicasUnavailable = "MinimumReplicasUnavailable"
	// ReasonNewReplicaSetCreated says that the rollout of a template has begun.
	ReasonNewReplicaSetCreated = "NewReplicaSetCreated"
	// ReasonFoundNewReplicaSet says that the rollout of a template goes on with a ReplicaSet that exists.
	ReasonFoundNewReplicaSet = "FoundNewReplicaSet"
	// ReasonReplicaSetUpdated says that the rollout moves.
	ReasonReplicaSetUpdated = "ReplicaSetUpdated"
	// ReasonNewReplicaSetAvailable says that the rollout is complete.
	ReasonNewReplicaSetAvailable = "NewReplicaSetAvailable"
	// ReasonReplicaSetCreateError says that the ReplicaSet of a template cannot be created.
	ReasonReplicaSetCreateError = "ReplicaSetCreateError"
	// ReasonProgressDeadlineExceeded says that the rollout made no progress for progressDeadlineSeconds.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonDeploymentPaused says that the rollout is held back.
	ReasonDeploymentPaused = "DeploymentPaused"
	// ReasonDeploymentResumed says that the rollout is no longer held back.
	ReasonDeploymentResumed = "DeploymentResumed"
	// ReasonFailedCreate says that pods cannot be created.
	ReasonFailedCreate = "FailedCreate"
	// ReasonFailedDelete says that pods cannot be deleted.
	ReasonFailedDelete = "FailedDelete"
)

// Reasons of a PodSet whose pods do not start because of the pool that spec.nodePool names. Ready, Reconciling or Stalled, and
// the event have them.
const (
	// ReasonPoolNotFound says that there is no NodePool with the name in spec.nodePool.
	ReasonPoolNotFound = "PoolNotFound"
	// ReasonPoolDeleting says that the pool is being deleted.
	ReasonPoolDeleting = "PoolDeleting"
	// ReasonPoolPaused says that the pool lacks something because it is paused or in dry run.
	ReasonPoolPaused = "PoolPaused"
	// ReasonPoolNotAllowed says that spec.allowedNamespaces of the pool does not include the namespace of the PodSet.
	ReasonPoolNotAllowed = "PoolNotAllowed"
	// ReasonPoolRuntimeClassNotReady says that the RuntimeClass of the pool does not exist or does not belong to the pool.
	ReasonPoolRuntimeClassNotReady = "PoolRuntimeClassNotReady"
	// ReasonPoolHasNoNode says that no node is a member of the pool.
	ReasonPoolHasNoNode = "PoolHasNoNode"
	// ReasonPoolHasNoReadyNode says that the pool has members and none of them is ready.
	ReasonPoolHasNoReadyNode = "PoolHasNoReadyNode"
	// ReasonPoolNodesNotSynced says that no ready member has the labels that pods of the pool select.
	ReasonPoolNodesNotSynced = "PoolNodesNotSynced"
	// ReasonPoolCordoned says that every ready member is cordoned.
	ReasonPoolCordoned = "PoolCordoned"
	// ReasonPoolCapacityShort says that the pool's nodes are too small or too few for the pods, even if they were empty.
	ReasonPoolCapacityShort = "PoolCapacityShort"
	// ReasonPoolHandlerMissing says that pods cannot start on nodes that lack the handler of the pool's RuntimeClass.
	ReasonPoolHandlerMissing = "PoolHandlerMissing"
)

// PoolReasons returns the reasons that say what about the pool keeps the pods of a PodSet from starting.
func PoolReasons() []string {
	return []string{
		ReasonPoolNotFound, ReasonPoolDeleting, ReasonPoolPaused, ReasonPoolNotAllowed, ReasonPoolRuntimeClassNotReady,
		ReasonPoolHasNoNode, ReasonPoolHasNoReadyNode, ReasonPoolNodesNotSynced, ReasonPoolCordoned, ReasonPoolCapacityShort,
		ReasonPoolHandlerMissing,
	}
}
