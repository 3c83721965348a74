// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"maps"

	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	nodev1ac "k8s.io/client-go/applyconfigurations/node/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// letLeave clears the nodes that may leave, and enters those that have to be drained first into the status. An acknowledgement is used up
// when the nodes that it is about have left, or when others leave besides.
func (r *Reconciler) letLeave(ctx context.Context, s *scope) flow.Outcome {
	agreed := s.decided.consent
	if usedUp(s.Object, s.seen.nodes, s.decided.held) {
		if err := r.dropAcknowledgement(ctx, s); err != nil {
			return flow.Fail(err)
		}
		agreed = agreed.taken()
	}
	r.consents.keep(s.Object.Name, agreed)
	r.clear(s)
	return flow.Done()
}

func (r *Reconciler) dropAcknowledgement(ctx context.Context, s *scope) error {
	before := s.Object.DeepCopy()
	s.Object.Annotations = maps.Clone(s.Object.Annotations)
	delete(s.Object.Annotations, nodesv1.AcknowledgeAnnotation)
	base := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.client.Patch(ctx, s.Object, base, patch.FieldOwner); err != nil {
		return fmt.Errorf("cannot remove the acknowledgement that is used up: %w", err)
	}
	s.Rebase()
	return nil
}

// clear grants the clearances that the pass has decided on, and goes on with the drains.
func (r *Reconciler) clear(s *scope) {
	var drains []clearance.Drain
	for _, entry := range s.decided.draining {
		drains = append(drains, clearance.Drain{Pool: s.Object.Name, Node: entry.UID, Start: entry.StartTime.Time})
	}
	r.drains.Keep(s.Object.Name, drains...)
	s.Object.Status.Draining = s.decided.draining
	for _, entry := range s.decided.timedOut {
		s.Tell(drainTimedOut(s.Object, entry))
	}
	r.clearances.Grant(s.Object.Name, s.decided.cleared)
}

// writeRuntimeClass brings the RuntimeClass to what the pool wants. A foreign one stays, and does not keep the nodes from
// getting their labels and taints: the status tells of it.
func (r *Reconciler) writeRuntimeClass(ctx context.Context, s *scope) flow.Outcome {
	wanted, have := s.decided.class, s.seen.runtimeClass
	action := planClass(s.Object, have, wanted)
	if action == classCreate && s.access.Open {
		return flow.Done() // namespaces that may not use the pool could choose it by the RuntimeClass
	}
	var err error
	switch action {
	case classFine, classForeign:
		return flow.Done()
	case classCreate:
		err = patch.Create(ctx, r.client, r.classConfig(s.Object, wanted))
	case classUpdate:
		err = patch.Apply(ctx, r.client, r.classConfig(s.Object, wanted).WithUID(have.UID))
	case classRecreate:
		err = r.recreateClass(ctx, s, wanted)
	}
	if err != nil {
		return flow.Refused(nodesv1.ReasonRuntimeClassRefused, err)
	}
	s.seen.runtimeClass = wanted.object(s.Object)
	s.Did(classWritten(s.Object, action, wanted))
	return flow.Done()
}

// recreateClass replaces the RuntimeClass. Until the new one is there, pods that name it are refused; pods that run are not
// touched. A crash in between leaves a pool without a RuntimeClass, which the next pass creates.
func (r *Reconciler) recreateClass(ctx context.Context, s *scope, wanted class) error {
	if err := r.deleteClass(ctx, s.seen.runtimeClass, s.Object); err != nil {
		return err
	}
	s.seen.runtimeClass = nil
	return patch.Create(ctx, r.client, r.classConfig(s.Object, wanted))
}

// deleteClass deletes the pool's own RuntimeClass, if there is one. The garbage collector would do so after the pool too, but
// takes a minute to learn of a kind that is new to the cluster.
func (r *Reconciler) deleteClass(ctx context.Context, class *nodev1.RuntimeClass, pool *nodesv1.NodePool) error {
	if class == nil || !metav1.IsControlledBy(class, pool) {
		return nil
	}
	target := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: class.Name}}
	err := r.client.Delete(ctx, target, client.Preconditions{UID: &class.UID})
	return client.IgnoreNotFound(err)
}

// classConfig returns the RuntimeClass to apply.
func (r *Reconciler) classConfig(pool *nodesv1.NodePool, wanted class) *nodev1ac.RuntimeClassApplyConfiguration {
	scheduling := nodev1ac.Scheduling().WithNodeSelector(wanted.nodeSelector)
	for _, t := range wanted.tolerations {
		scheduling.WithTolerations(corev1ac.Toleration().
			WithKey(t.Key).WithOperator(t.Operator).WithValue(t.Value).WithEffect(t.Effect))
	}
	return nodev1ac.RuntimeClass(pool.Name).
		WithOwnerReferences(patch.Owner(pool, nodesv1.SchemeGroupVersion.WithKind("NodePool"))).WithHandler(wanted.handler).WithScheduling(scheduling)
}

// object returns the class as the API server has it after the write, as far as the status needs it.
func (c class) object(pool *nodesv1.NodePool) *nodev1.RuntimeClass {
	owner := metav1.NewControllerRef(pool, nodesv1.SchemeGroupVersion.WithKind("NodePool"))
	return &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: pool.Name, OwnerReferences: []metav1.OwnerReference{*owner}},
		Handler:    c.handler,
		Scheduling: &nodev1.Scheduling{NodeSelector: c.nodeSelector, Tolerations: c.tolerations},
	}
}

// letFollow enters into the pool's status, which is written at the end of the pass, what may be put on nodes from then on, what has to
// be put back one day, the label that the RuntimeClass selects, and the batch of nodes that may follow.
func (r *Reconciler) letFollow(_ context.Context, s *scope) flow.Outcome {
	r.turns.keep(s.Object, s.decided.rollout, s.seen.lastTurn)
	s.Object.Status.Originals = s.decided.originals
	s.Object.Status.MemberLabel = s.decided.class.memberLabel
	s.Object.Status.Ledger = s.decided.ledger
	s.Object.Status.Rollout = s.decided.rollout
	s.LookAgain(s.decided.pause)
	return flow.Done()
}

// dryRun reports what would change, and leaves it at that.
func (r *Reconciler) dryRun(_ context.Context, s *scope) flow.Outcome {
	r.clearances.Withdraw(s.Object.Name)
	report := s.seen.nodes.preview.report(s.seen.podsToEvict)
	s.Object.Status.DryRun = report
	return flow.Wait(nodesv1.ReasonDryRun,
		fmt.Sprintf("spec.dryRun to be switched off: %s would change, see status.dryRun", inNodes(int(report.AffectedNodes))), 0)
}

// release removes the finalizers once no node carries anything of the pool. Nothing is taken off a node while running pods name the
// pool, because their controllers could not replace them.
func (r *Reconciler) release(ctx context.Context, s *scope) flow.Outcome {
	s.Object.Status.Originals = s.decided.originals
	s.Object.Status.Rollout = nil
	r.clear(s)
	if outcome := awaitNodes(s.Object, s.seen, s.decided); !outcome.IsDone() {
		return outcome
	}
	if err := r.deleteClass(ctx, s.seen.runtimeClass, s.Object); err != nil {
		return flow.Fail(err)
	}
	if _, err := patch.RemoveFinalizers(ctx, r.client, s.Object, nodesv1.Finalizer, nodesv1.LegacyFinalizer); err != nil {
		return flow.Fail(err)
	}
	s.Tell(cleaned(s.Object))
	s.Release()
	return flow.Done()
}

// awaitNodes says what a pool that is being deleted waits for.
func awaitNodes(pool *nodesv1.NodePool, seen *observation, decided decision) flow.Outcome {
	switch {
	case len(undrained(decided.draining)) > 0:
		return flow.Wait(nodesv1.ReasonDraining, "nodes that left the pool to be drained", 0)
	case seen.users > 0:
		return flow.Wait(nodesv1.ReasonInUse,
			fmt.Sprintf("running pods that name pool %s to end: %d are left (%s); annotate the pool with %s=true to delete it anyway",
				pool.Name, seen.users, firstUsers(seen.userNames, seen.users), nodesv1.ForceDeleteAnnotation), recountPods)
	case len(seen.nodes.carrying) > 0:
		return flow.Wait(nodesv1.ReasonCleaningNodes, toClean(seen.nodes), 0)
	case seen.outrun:
		return flow.Wait(nodesv1.ReasonCleaningNodes, "the writes to nodes to end that began before the deletion", recheckRelease)
	case seen.unseen:
		return flow.Wait(nodesv1.ReasonCleaningNodes, "the cache to see the nodes that are left to clean", recheckRelease)
	}
	return flow.Done()
}
