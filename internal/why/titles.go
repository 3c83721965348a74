// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"maps"
	"slices"
)

// CheckID names what a check asks. The names are API, as codes are: consoles translate them.
type CheckID string

// What is asked of objects of several kinds.
const (
	checkObservedByWindlass   CheckID = "ObservedByWindlass"
	checkNotPaused            CheckID = "NotPaused"
	checkObjectReady          CheckID = "ObjectReady"
	checkNotDeleted           CheckID = "NotDeleted"
	checkObservedByKubernetes CheckID = "ObservedByKubernetes"
	checkPodsCreatable        CheckID = "PodsCreatable"
	checkRolloutProgresses    CheckID = "RolloutProgresses"
	checkAllPodsCreated       CheckID = "AllPodsCreated"
	checkAllPodsAvailable     CheckID = "AllPodsAvailable"
	checkAllPodsCurrent       CheckID = "AllPodsCurrent"
	checkNodeReady            CheckID = "NodeReady"
)

// What is asked of pods.
const (
	checkPodNotFailed       CheckID = "PodNotFailed"
	checkPodNotDeleted      CheckID = "PodNotDeleted"
	checkNoSchedulingGate   CheckID = "NoSchedulingGate"
	checkRuntimeClassExists CheckID = "RuntimeClassExists"
	checkChosenPoolExists   CheckID = "ChosenPoolExists"
	checkClusterHasNodes    CheckID = "ClusterHasNodes"
	checkClusterNodeReady   CheckID = "ClusterNodeReady"
	checkPoolHasNodes       CheckID = "PoolHasNodes"
	checkPoolNodeReady      CheckID = "PoolNodeReady"
	checkPoolNodeLabelled   CheckID = "PoolNodeLabelled"
	checkNodeSelected       CheckID = "NodeSelected"
	checkNodeSchedulable    CheckID = "NodeSchedulable"
	checkTaintsTolerated    CheckID = "TaintsTolerated"
	checkNodeLargeEnough    CheckID = "NodeLargeEnough"
	checkNodeHasRoom        CheckID = "NodeHasRoom"
	checkClaimsExist        CheckID = "ClaimsExist"
	checkNodeFound          CheckID = "NodeFound"
	checkNodeOfPodExists    CheckID = "NodeOfPodExists"
	checkNodeHasHandler     CheckID = "NodeHasHandler"
	checkPodPrepared        CheckID = "PodPrepared"
	checkContainersStarted  CheckID = "ContainersStarted"
	checkContainersReady    CheckID = "ContainersReady"
)

// What is asked of objects that have pods.
const (
	CheckPodsStarted             CheckID = "PodsStarted"
	checkRolloutNotPaused        CheckID = "RolloutNotPaused"
	checkPodsCurrentAndAvailable CheckID = "PodsCurrentAndAvailable"
	checkExistingPodsAvailable   CheckID = "ExistingPodsAvailable"
	checkNodeChosen              CheckID = "NodeChosen"
	checkJobCompleted            CheckID = "JobCompleted"
	checkJobNotFailed            CheckID = "JobNotFailed"
	checkJobNotSuspended         CheckID = "JobNotSuspended"
	checkAllPodsReady            CheckID = "AllPodsReady"
	checkCronJobNotSuspended     CheckID = "CronJobNotSuspended"
	checkLastJobFine             CheckID = "LastJobFine"
	checkNameFree                CheckID = "NameFree"
	checkEnoughPodsAvailable     CheckID = "EnoughPodsAvailable"
	checkToolInstalled           CheckID = "ToolInstalled"
	checkNoPodLeftOut            CheckID = "NoPodLeftOut"
)

// What is asked of nodes and pools.
const (
	checkNodeNotShort      CheckID = "NodeNotShort"
	checkNodeNotCordoned   CheckID = "NodeNotCordoned"
	checkNodeCarriesAll    CheckID = "NodeCarriesAll"
	checkPoolExists        CheckID = "PoolExists"
	checkPoolUnderstood    CheckID = "PoolUnderstood"
	checkNodeGaveUp        CheckID = "NodeGaveUp"
	checkNodeIsMember      CheckID = "NodeIsMember"
	checkPoolActs          CheckID = "PoolActs"
	checkBatchCame         CheckID = "BatchCame"
	checkNodeKeysFree      CheckID = "NodeKeysFree"
	checkNodeCarriesPool   CheckID = "NodeCarriesPool"
	checkNoStartupTaint    CheckID = "NoStartupTaint"
	checkFewNodesLeave     CheckID = "FewNodesLeave"
	checkRuntimeClassReady CheckID = "RuntimeClassReady"
	checkHandlerAvailable  CheckID = "HandlerAvailable"
	checkKeysFree          CheckID = "KeysFree"
	checkNodesDrained      CheckID = "NodesDrained"
	checkNodesRolledOut    CheckID = "NodesRolledOut"
	checkNodesSynced       CheckID = "NodesSynced"
	checkAdmissionReady    CheckID = "AdmissionReady"
)

// What is asked of virtual machines, clusters and kubeconfigs.
const (
	checkHostAnswers          CheckID = "HostAnswers"
	checkImageOnHost          CheckID = "ImageOnHost"
	checkMachineExists        CheckID = "MachineExists"
	checkPowerSynced          CheckID = "PowerSynced"
	checkSizeSynced           CheckID = "SizeSynced"
	checkNoRestartWaits       CheckID = "NoRestartWaits"
	checkProcessorNotEmulated CheckID = "ProcessorNotEmulated"
	checkRootDiskSupported    CheckID = "RootDiskSupported"
	checkConfigUsable         CheckID = "ConfigUsable"
	checkConfigApplied        CheckID = "ConfigApplied"
	checkKubeconfigStored     CheckID = "KubeconfigStored"
	checkClusterAnswers       CheckID = "ClusterAnswers"
	checkLastChangeApplied    CheckID = "LastChangeApplied"
	checkKubeconfigIssued     CheckID = "KubeconfigIssued"
)

// CheckIDs returns the names of all checks, in order.
func CheckIDs() []CheckID { return slices.Sorted(maps.Keys(titles())) }

// titles says what each check asks: a statement that is true if it passes.
func titles() map[CheckID]string {
	out := map[CheckID]string{}
	for _, some := range []map[CheckID]string{wholeTitles(), podTitles(), ownerTitles(), nodeTitles(), machineTitles()} {
		maps.Copy(out, some)
	}
	return out
}

func wholeTitles() map[CheckID]string {
	return map[CheckID]string{
		checkObservedByWindlass:   "Windlass has reported on the object as it is now",
		checkNotPaused:            "Windlass is not paused for the object",
		checkObjectReady:          "The object is ready",
		checkNotDeleted:           "The object is not being deleted",
		checkObservedByKubernetes: "Kubernetes has looked at the object as it is now",
		checkPodsCreatable:        "Kubernetes can create the pods",
		checkRolloutProgresses:    "The rollout makes progress",
		checkAllPodsCreated:       "All pods have been created",
		checkAllPodsAvailable:     "All pods are available",
		checkAllPodsCurrent:       "All pods run the current template",
		checkNodeReady:            "The node is ready",
	}
}

func podTitles() map[CheckID]string {
	return map[CheckID]string{
		checkPodNotFailed:       "The pod has not failed",
		checkPodNotDeleted:      "The pod is not being deleted",
		checkNoSchedulingGate:   "No gate keeps the scheduler from the pod",
		checkRuntimeClassExists: "The RuntimeClass of the pod exists",
		checkChosenPoolExists:   "The pool exists and stays",
		checkClusterHasNodes:    "The cluster has nodes",
		checkClusterNodeReady:   "A node is ready",
		checkPoolHasNodes:       "The pool has nodes",
		checkPoolNodeReady:      "A node of the pool is ready",
		checkPoolNodeLabelled:   "A node of the pool carries its labels",
		checkNodeSelected:       "A node matches the selector and the node affinity of the pod",
		checkNodeSchedulable:    "A node is not cordoned",
		checkTaintsTolerated:    "The pod tolerates the taints of a node",
		checkNodeLargeEnough:    "A node is large enough for the pod",
		checkNodeHasRoom:        "A node has enough room left for the pod",
		checkClaimsExist:        "The PersistentVolumeClaims exist",
		checkNodeFound:          "The scheduler has found a node",
		checkNodeOfPodExists:    "The node of the pod exists",
		checkNodeHasHandler:     "The node has the handler of the RuntimeClass",
		checkPodPrepared:        "The node can prepare the pod",
		checkContainersStarted:  "The containers have started",
		checkContainersReady:    "The containers are ready",
	}
}

func ownerTitles() map[CheckID]string {
	return map[CheckID]string{
		CheckPodsStarted:             "The pods have started",
		checkRolloutNotPaused:        "The rollout is not paused",
		checkPodsCurrentAndAvailable: "All pods run the current template and are available",
		checkExistingPodsAvailable:   "The pods that exist are available",
		checkNodeChosen:              "A node is chosen",
		checkJobCompleted:            "The Job has completed",
		checkJobNotFailed:            "The Job has not failed",
		checkJobNotSuspended:         "The Job is not suspended",
		checkAllPodsReady:            "All pods are ready",
		checkCronJobNotSuspended:     "The CronJob is not suspended",
		checkLastJobFine:             "Its last Job has not failed and does not wait",
		checkNameFree:                "No other object has the name",
		checkEnoughPodsAvailable:     "Enough pods are available",
		checkToolInstalled:           "The matching pods have the tool",
		checkNoPodLeftOut:            "spec.maxPods leaves no pod out",
	}
}

func nodeTitles() map[CheckID]string {
	return map[CheckID]string{
		checkNodeNotShort:      "The node is not short of resources",
		checkNodeNotCordoned:   "The node is not cordoned",
		checkNodeCarriesAll:    "The node carries what its pools want",
		checkPoolExists:        "The pool exists",
		checkPoolUnderstood:    "The pool can be understood",
		checkNodeGaveUp:        "The node has given up what it carried of the pool",
		checkNodeIsMember:      "The pool has chosen the node",
		checkPoolActs:          "The pool acts on its nodes",
		checkBatchCame:         "The batch of the node has come",
		checkNodeKeysFree:      "Nobody else holds a key of the pool on the node",
		checkNodeCarriesPool:   "The node carries what the pool wants",
		checkNoStartupTaint:    "The node has no start-up taint",
		checkFewNodesLeave:     "Not too many nodes leave at once",
		checkRuntimeClassReady: "The RuntimeClass is as the pool wants it",
		checkHandlerAvailable:  "The members have the handler",
		checkKeysFree:          "Nobody else holds a key of the pool",
		checkNodesDrained:      "The nodes that left are drained",
		checkNodesRolledOut:    "No node waits for its batch",
		checkNodesSynced:       "The nodes carry what the pool wants",
		checkAdmissionReady:    "Pods can choose the pool by label and default",
	}
}

func machineTitles() map[CheckID]string {
	return map[CheckID]string{
		checkHostAnswers:          "The host is configured and answers",
		checkImageOnHost:          "The image is on the host",
		checkMachineExists:        "The machine exists",
		checkPowerSynced:          "The machine runs, or is off, as declared",
		checkSizeSynced:           "The machine has the declared size",
		checkNoRestartWaits:       "No change waits for a restart",
		checkProcessorNotEmulated: "The host does not emulate the processor",
		checkRootDiskSupported:    "The driver supports the root disk",
		checkConfigUsable:         "The configuration can be used",
		checkConfigApplied:        "The tool has applied the configuration",
		checkKubeconfigStored:     "The kubeconfig is in its Secret",
		checkClusterAnswers:       "The cluster answers",
		checkLastChangeApplied:    "No later change has failed, and no machine was skipped",
		checkKubeconfigIssued:     "The credential is issued",
	}
}
