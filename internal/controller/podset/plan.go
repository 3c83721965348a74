// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// Kinds, as they are named in messages and owner references.
const (
	kindPodSet     = "PodSet"
	kindDeployment = "Deployment"
	kindBudget     = "PodDisruptionBudget"
)

// verb is what an action does.
type verb int

const (
	// create applies a child that is not there.
	create verb = iota
	// apply applies a child that is there and owned.
	apply
	// remove deletes a child that is owned.
	remove
	// retry has the ReplicaSet of an owned Deployment create its pods now.
	retry
)

// action is one write.
type action struct {
	verb verb
	// child is what create and apply send.
	child runtime.ApplyConfiguration
	// live is the object that apply and remove are about.
	live client.Object
	// clear is a merge patch that apply sends first: it takes away a field of somebody else's which server-side apply
	// would leave, and which the API server does not accept beside what the child says.
	clear string
	// answers says which failure it is that retry answers, and how often.
	answers string
	// repairs is true where the object carries what the PodSet describes now, and somebody else has changed it.
	repairs bool
	// event says that the action happened; nil if that is not worth an event.
	event *event.Event
}

// decision is what a pass has to do.
type decision struct {
	// actions are the writes, in order.
	actions []action
	// outcome is how the pass continues once they have succeeded.
	outcome flow.Outcome
	// conflict names the object that is in the way, and is empty without one.
	conflict string
	// again is when to look again whether pods have to be asked for once more, 0 for never.
	again time.Duration
}

// changes reports whether something that is there is to be changed or removed.
func (d decision) changes() bool {
	return slices.ContainsFunc(d.actions, func(a action) bool { return a.verb != create })
}

// plan compares what was observed with what the PodSet describes. A template that the cache does not keep changes nothing. The Deployment comes first; the budget waits until the
// Deployment's name is the PodSet's.
func plan(podSet *appsv1alpha1.PodSet, seen observation) (decision, error) {
	if size := kube.Dropped(podSet); size != "" {
		return decision{outcome: flow.Stall(appsv1alpha1.ReasonTemplateTooLarge, fmt.Errorf(
			"spec.template has %s bytes: must have at most %d; put what is large into ConfigMaps", size, appsv1alpha1.MaxTemplateBytes))}, nil
	}
	decided, err := planDeployment(podSet, seen.deployment)
	if err != nil {
		return decision{}, err
	}
	if decided.outcome.IsDone() {
		budget, err := planBudget(podSet, seen.budget)
		if err != nil {
			return decision{}, err
		}
		budget.actions = append(decided.actions, budget.actions...)
		decided = budget
	}
	if seen.futile != nil { // before anything is decided by whether there is something to write
		decided.actions = slices.DeleteFunc(decided.actions, seen.futile)
	}
	if decided.outcome.IsDone() && onlyRepairs(decided.actions) {
		retried := planRetry(podSet, seen)
		decided.actions, decided.again = slices.Concat(retried.actions, decided.actions), retried.again
	}
	if status.IsPaused(podSet) && len(decided.actions) > 0 {
		decided.actions, decided.again = nil, 0
		if decided.outcome.IsDone() {
			decided.outcome = flow.Wait(status.ReasonPaused,
				"the annotation "+status.PausedAnnotation+" to be removed", 0)
		}
	}
	return decided, nil
}

// onlyRepairs reports whether nothing is written that another pass follows. A repair can change nothing, and with the status of this pass, which says that the
// pool is there, nobody would ask for its pods any more.
func onlyRepairs(actions []action) bool {
	return !slices.ContainsFunc(actions, func(a action) bool { return !a.repairs })
}

func planDeployment(podSet *appsv1alpha1.PodSet, live *appsv1.Deployment) (decision, error) {
	desired, err := desiredDeployment(podSet)
	if err != nil {
		return decision{}, err
	}
	if live == nil {
		return decision{actions: []action{{verb: create, child: desired, event: created(podSet)}}}, nil
	}
	if inTheWay := standing(podSet, kindDeployment, live); !inTheWay.outcome.IsDone() {
		return inTheWay, nil
	}

	reset(desired.Spec, &live.Spec)
	current := *live
	current.APIVersion, current.Kind = *desired.APIVersion, *desired.Kind
	covered, err := patch.Covers(&current, desired)
	if err != nil {
		return decision{}, err
	}
	follows := live.Annotations[patch.AppliedHashAnnotation] == desired.Annotations[patch.AppliedHashAnnotation]
	if follows && covered {
		return decision{}, nil
	}
	change := action{verb: apply, child: desired, live: live, repairs: follows}
	if *desired.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && live.Spec.Strategy.RollingUpdate != nil {
		change.clear = `"strategy":{"type":"Recreate","rollingUpdate":null}`
	}
	if follows {
		change.event = repairedDeployment(podSet, live)
	} else if change.event, err = followed(podSet, live); err != nil {
		return decision{}, err
	}
	// The UID makes sure that the write reaches the object that was observed, and not another one of the same name.
	desired.WithUID(live.UID)
	return decision{actions: []action{change}}, nil
}

func planBudget(podSet *appsv1alpha1.PodSet, live *policyv1.PodDisruptionBudget) (decision, error) {
	desired, err := desiredBudget(podSet)
	switch {
	case err != nil:
		return decision{}, err
	case desired == nil && live != nil && live.DeletionTimestamp.IsZero() && metav1.IsControlledBy(live, podSet):
		return decision{actions: []action{{verb: remove, live: live}}}, nil
	case desired == nil:
		return decision{}, nil
	case live == nil:
		return decision{actions: []action{{verb: create, child: desired}}}, nil
	}
	if inTheWay := standing(podSet, kindBudget, live); !inTheWay.outcome.IsDone() {
		return inTheWay, nil
	}

	current := *live
	current.APIVersion, current.Kind = *desired.APIVersion, *desired.Kind
	covered, err := patch.Covers(&current, desired)
	if err != nil {
		return decision{}, err
	}
	follows := live.Annotations[patch.AppliedHashAnnotation] == desired.Annotations[patch.AppliedHashAnnotation]
	if follows && covered {
		return decision{}, nil
	}
	change := action{verb: apply, child: desired, live: live, repairs: follows}
	if live.Spec.MaxUnavailable != nil {
		change.clear = `"maxUnavailable":null`
	}
	if follows {
		change.event = repaired(podSet, fmt.Sprintf("Reverted %s %q to the PodSet", kindBudget, live.Name))
	}
	desired.WithUID(live.UID)
	return decision{actions: []action{change}}, nil
}

// standing says whether the PodSet can work with an object of its name: done if the PodSet owns it and the cache has all of it. What of it
// differs would otherwise be unknown, and it would be applied in each pass.
func standing(podSet *appsv1alpha1.PodSet, kind string, live client.Object) decision {
	switch {
	case !live.GetDeletionTimestamp().IsZero() || ownedByPredecessor(podSet, live):
		return decision{outcome: flow.Wait(appsv1alpha1.ReasonDeploymentTerminating,
			fmt.Sprintf("%s %q to be deleted", kind, live.GetName()), 0)}
	case !metav1.IsControlledBy(live, podSet):
		text := fmt.Sprintf("%s %q exists and does not belong to this PodSet", kind, live.GetName())
		return decision{outcome: flow.Stall(appsv1alpha1.ReasonNameTaken, errors.New(text)), conflict: text}
	case kube.Dropped(live) != "":
		return decision{outcome: flow.Stall(appsv1alpha1.ReasonTemplateTooLarge, fmt.Errorf(
			"%s %q has %s bytes: must have at most %d; take away what others have added to it", kind, live.GetName(), kube.Dropped(live), kube.MaxChildBytes))}
	}
	return decision{}
}

// ownedByPredecessor reports whether an object belongs to a PodSet of the same name that is gone: the garbage collector
// is about to take it away.
func ownedByPredecessor(podSet *appsv1alpha1.PodSet, live client.Object) bool {
	owner := metav1.GetControllerOf(live)
	return owner != nil && owner.Kind == kindPodSet && owner.Name == podSet.Name && owner.UID != podSet.UID &&
		schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).Group == appsv1alpha1.GroupName
}

// reset asks for a zero where the live object has something else and the PodSet nothing: without it, server-side apply
// would keep what others have set, such as the pause of "kubectl rollout pause", and what the API server has: it copies the name of a
// ServiceAccount into a field that has no owner, and from there back when the PodSet drops it. It is not part of the hash, because the
// next pass will not ask for it again.
func reset(desired *appsv1ac.DeploymentSpecApplyConfiguration, live *appsv1.DeploymentSpec) {
	if desired.Paused == nil && live.Paused {
		desired.WithPaused(false)
	}
	if desired.MinReadySeconds == nil && live.MinReadySeconds != 0 {
		desired.WithMinReadySeconds(0)
	}
	has := &live.Template.Spec
	if wanted := desired.Template.Spec; wanted.ServiceAccountName == nil && cmp.Or(has.ServiceAccountName, has.DeprecatedServiceAccount) != "" {
		wanted.WithServiceAccountName("").WithDeprecatedServiceAccount("")
	}
}

// followed returns the event for a Deployment that follows a changed PodSet: whether only the number of pods differs is
// seen by the hash, which is then that of the same Deployment with the number it had.
func followed(
	podSet *appsv1alpha1.PodSet, live *appsv1.Deployment,
) (*event.Event, error) {
	from := or(live.Spec.Replicas, 1)
	if from == podSet.Spec.Size {
		return updated(podSet), nil
	}
	earlier := podSet.DeepCopy()
	earlier.Spec.Size = from
	before, err := desiredDeployment(earlier)
	if err != nil {
		return nil, err
	}
	if before.Annotations[patch.AppliedHashAnnotation] == live.Annotations[patch.AppliedHashAnnotation] {
		return scaled(podSet, from), nil
	}
	return updatedAndScaled(podSet, from), nil
}
