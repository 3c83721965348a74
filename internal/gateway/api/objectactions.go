// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/action"
	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
)

// registerActions registers the actions of all kinds.
func (a *API) registerActions() {
	kind := func(plural string) *feed.Kind {
		k, _ := a.Hub.Kind(plural) // the table of kinds has it
		return k
	}
	a.registerMachineActions(a.machines)
	a.registerRollouts(kind("podsets"))
	a.registerNodeActions(a.nodes)
	a.registerConsents(a.pools, a.clusters)
	registerPause[nodesv1.NodePool](a, a.pools)
	registerPause[appsv1alpha1.PodBuggerTool](a, kind("podbuggertools"))
	registerPause[cloudnativev1alpha1.VirtualMachine](a, a.machines)
	registerPause[clusterprovisionerv1alpha1.Cluster](a, a.clusters)
	registerPause[clusterprovisionerv1alpha1.Kubeconfig](a, kind("kubeconfigs"))
	a.registerDrain(a.nodes)
	a.registerDownload(kind("kubeconfigs"))
}

func (a *API) registerMachineActions(machines *feed.Kind) {
	power := actionOf{name: "power", summary: "Turn a machine on or off, restart, suspend or resume it", about: "It sets spec.runStrategy, spec.powerOff and spec.restartAt."}
	registerAction(a, machines, power,
		func(_ context.Context, vm *cloudnativev1alpha1.VirtualMachine, in *actionBody[action.PowerRequest]) error {
			return action.Power(vm, &in.Body, a.Now())
		})
	resize := actionOf{name: "resize", summary: "Change the size of a machine", about: "It sets spec.resource. spec.updatePolicy says when the machine gets its new size."}
	registerAction(a, machines, resize,
		func(_ context.Context, vm *cloudnativev1alpha1.VirtualMachine, in *actionBody[action.ResizeRequest]) error {
			return action.Resize(vm, &in.Body)
		})
}

// registerRollouts registers the actions of what replaces pods.
func (a *API) registerRollouts(podSets *feed.Kind) {
	restart := actionOf{name: "restart", summary: "Replace all pods", about: "It sets the annotation of the pod template that kubectl rollout restart sets."}
	registerAction(a, a.deployments, restart, func(_ context.Context, of *appsv1.Deployment, _ *ActionInput) error {
		return action.RestartDeployment(of, a.Now())
	})
	registerAction(a, podSets, restart, func(_ context.Context, of *appsv1alpha1.PodSet, _ *ActionInput) error {
		return action.RestartPodSet(of, a.Now())
	})
	for name, hold := range map[string]bool{"pause": true, "resume": false} {
		of := actionOf{name: name, summary: "Hold back rollouts", about: "It sets spec.paused: a changed template replaces no pods."}
		if !hold {
			of.summary, of.about = "Let rollouts go on", "It unsets spec.paused."
		}
		registerAction(a, a.deployments, of, func(_ context.Context, of *appsv1.Deployment, _ *ActionInput) error {
			action.HoldDeployment(of, hold)
			return nil
		})
		registerAction(a, podSets, of, func(_ context.Context, of *appsv1alpha1.PodSet, _ *ActionInput) error {
			action.HoldPodSet(of, hold)
			return nil
		})
	}
	rollback := actionOf{name: "rollback", summary: "Go back to an earlier pod template", about: "It copies the template of a ReplicaSet, which the caller has to be able to list."}
	registerAction(a, a.deployments, rollback, a.rollbackDeployment)
	registerAction(a, podSets, rollback, a.rollbackPodSet)
}

func (a *API) rollbackDeployment(ctx context.Context, of *appsv1.Deployment, in *actionOption[action.RollbackRequest]) error {
	sets, err := a.replicaSets(ctx, of.Namespace)
	if err != nil {
		return err
	}
	return action.RollbackDeployment(of, sets, given(in.Body))
}

func (a *API) rollbackPodSet(ctx context.Context, of *appsv1alpha1.PodSet, in *actionOption[action.RollbackRequest]) error {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return err
	}
	child, err := readAs[appsv1.Deployment](ctx, a, who, a.deployments.Path(of.Namespace, of.Name, ""))
	if err != nil {
		return err
	}
	sets, err := a.replicaSets(ctx, of.Namespace)
	if err != nil {
		return err
	}
	return action.RollbackPodSet(of, child, sets, given(in.Body))
}

// replicaSets lists the ReplicaSets of a namespace as the caller.
func (a *API) replicaSets(ctx context.Context, namespace string) ([]appsv1.ReplicaSet, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	k, _ := a.Hub.Kind("replicasets") // the table of kinds has it
	return listAs[appsv1.ReplicaSet](ctx, a, who, k, namespace, Selection{})
}

func (a *API) registerNodeActions(nodes *feed.Kind) {
	for name, off := range map[string]bool{"cordon": true, "uncordon": false} {
		of := actionOf{name: name, summary: "Keep new pods from a node", about: "It sets spec.unschedulable."}
		if !off {
			of.summary, of.about = "Let new pods onto a node", "It unsets spec.unschedulable."
		}
		registerAction(a, nodes, of, func(_ context.Context, node *corev1.Node, _ *ActionInput) error {
			node.Spec.Unschedulable = off
			return nil
		})
	}
}

// registerConsents registers the actions by which a person consents to what NodePools and Clusters wait for.
func (a *API) registerConsents(pools, clusters *feed.Kind) {
	acknowledge := actionOf{name: "acknowledge", summary: "Let the nodes go that the safety brake holds", about: "It sets the annotation nodes.lailin.xyz/acknowledge, if the pool is as the caller has seen it."}
	registerAction(a, pools, acknowledge, func(_ context.Context, pool *nodesv1.NodePool, in *actionBody[action.AcknowledgeRequest]) error {
		return action.Acknowledge(pool, in.Body)
	})
	approve := actionOf{name: "approve", summary: "Approve the plan of a Cluster", about: "It sets the annotation clusterprovisioner.rke.io/approve, if the plan is the one that the caller has seen."}
	registerAction(a, clusters, approve,
		func(_ context.Context, of *clusterprovisionerv1alpha1.Cluster, in *actionBody[action.ApproveRequest]) error {
			return action.Approve(of, in.Body)
		})
	retry := actionOf{
		name: "retry", summary: "Run the tool again", about: "It sets the annotation clusterprovisioner.rke.io/retry.",
		ending: true, // a removal is repeated as well
	}
	registerAction(a, clusters, retry, func(_ context.Context, of *clusterprovisionerv1alpha1.Cluster, _ *ActionInput) error {
		return action.Retry(of, a.Now())
	})
	accept := actionOf{
		name: "accept-skipped-nodes", summary: "Let a Cluster go although machines were skipped", ending: true,
		about: "It sets the annotation clusterprovisioner.rke.io/accept-skipped-nodes, if the skipped machines are those that the caller has seen.",
	}
	registerAction(a, clusters, accept,
		func(_ context.Context, of *clusterprovisionerv1alpha1.Cluster, in *actionBody[action.AcceptRequest]) error {
			return action.AcceptSkipped(of, in.Body)
		})
}

// registerPause registers the actions that pause an object of Windlass and let it go on.
func registerPause[T any, O objectPointer[T]](a *API, k *feed.Kind) {
	pause := actionOf{
		name: "pause", summary: "Stop Windlass from acting on it",
		about: "It sets the annotation windlass.io/paused, to a time if the pause is to end by itself.",
	}
	registerAction(a, k, pause, func(_ context.Context, object O, in *actionOption[action.PauseRequest]) error {
		return action.Pause(object, given(in.Body), a.Now())
	})
	resume := actionOf{
		name: "resume", summary: "Let Windlass act on it again", about: "It removes the annotation windlass.io/paused.",
		ending: true, // a paused Cluster waits with its deletion
	}
	registerAction(a, k, resume, func(_ context.Context, object O, _ *ActionInput) error {
		action.Resume(object)
		return nil
	})
}
