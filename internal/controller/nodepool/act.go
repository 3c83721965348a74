// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"

	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	nodev1ac "k8s.io/client-go/applyconfigurations/node/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// addFinalizer makes sure that the pool cannot vanish without its nodes being cleaned.
func (r *Reconciler) addFinalizer(ctx context.Context, s *scope) flow.Outcome {
	_, err := patch.AddFinalizer(ctx, r.client, s.pool, nodesv1.Finalizer)
	return flow.Fail(client.IgnoreNotFound(err))
}

// writeRuntimeClass brings the RuntimeClass to what the pool wants. A foreign one stays, and does not keep the nodes from
// getting their labels and taints: the status tells of it.
func (r *Reconciler) writeRuntimeClass(ctx context.Context, s *scope) flow.Outcome {
	wanted := wantedClass(s.pool, s.seen.runtimeClass, s.seen.nodes)
	have := s.seen.runtimeClass
	action := planClass(s.pool, have, wanted)
	if action == classCreate && s.access.Open {
		return flow.Done() // namespaces that may not use the pool could choose it by the RuntimeClass
	}
	var err error
	switch action {
	case classFine, classForeign:
		return flow.Done()
	case classCreate:
		err = patch.Create(ctx, r.client, r.classConfig(s.pool, wanted))
	case classUpdate:
		err = patch.Apply(ctx, r.client, r.classConfig(s.pool, wanted).WithUID(have.UID))
	case classRecreate:
		err = r.recreateClass(ctx, s, wanted)
	}
	if err != nil {
		return flow.Refused(nodesv1.ReasonRuntimeClassRefused, err)
	}
	s.seen.runtimeClass = wanted.object(s.pool)
	s.events = append(s.events, classWritten(s.pool, action, wanted))
	return flow.Done()
}

// recreateClass replaces the RuntimeClass. Until the new one is there, pods that name it are refused; pods that run are not
// touched. A crash in between leaves a pool without a RuntimeClass, which the next pass creates.
func (r *Reconciler) recreateClass(ctx context.Context, s *scope, wanted class) error {
	if err := r.deleteClass(ctx, s.seen.runtimeClass, s.pool); err != nil {
		return err
	}
	s.seen.runtimeClass = nil
	return patch.Create(ctx, r.client, r.classConfig(s.pool, wanted))
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
	owner := metav1ac.OwnerReference().
		WithAPIVersion(nodesv1.SchemeGroupVersion.String()).WithKind("NodePool").
		WithName(pool.Name).WithUID(pool.UID).
		WithController(true).WithBlockOwnerDeletion(true)
	return nodev1ac.RuntimeClass(pool.Name).
		WithOwnerReferences(owner).WithHandler(wanted.handler).WithScheduling(scheduling)
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

// keepLedger enters into the pool's status, which is written at the end of the pass, what may be put on nodes from then on, and
// what has to be put back one day.
func keepLedger(_ context.Context, s *scope) flow.Outcome {
	s.pool.Status.Originals = planOriginals(s.pool, s.seen.nodes)
	s.pool.Status.Ledger = planLedger(s.pool, s.seen.nodes)
	return flow.Done()
}

// dryRun reports what would change, and leaves it at that.
func (r *Reconciler) dryRun(_ context.Context, s *scope) flow.Outcome {
	r.clearances.Withdraw(s.pool.Name)
	report := s.seen.nodes.preview.report(s.seen.podsToEvict)
	s.pool.Status.DryRun = report
	return flow.Wait(nodesv1.ReasonDryRun,
		fmt.Sprintf("spec.dryRun to be switched off: %s would change, see status.dryRun", inWords(int(report.AffectedNodes))), 0)
}

// release removes the finalizers once no node carries anything of the pool: by the cache, and by the API server itself,
// because a cache may be behind and nobody would clean up after a pool that is gone. Nothing is taken away while running
// pods name the pool, because their controllers could not replace them.
func (r *Reconciler) release(ctx context.Context, s *scope) flow.Outcome {
	s.pool.Status.Originals = planOriginals(s.pool, s.seen.nodes)
	s.pool.Status.Rollout = nil
	if outcome := r.emptyNodes(ctx, s); !outcome.IsDone() {
		return outcome
	}
	if len(s.seen.nodes.carrying) > 0 {
		return flow.Wait(nodesv1.ReasonCleaningNodes, cleaning(s.seen.nodes), 0)
	}
	left, err := r.carriesAny(ctx, s.pool.Name)
	if err != nil {
		return flow.Fail(err)
	}
	if left {
		return flow.Wait(nodesv1.ReasonCleaningNodes, "the cache to see the nodes that are left to clean", recheckRelease)
	}
	if err := r.deleteClass(ctx, s.seen.runtimeClass, s.pool); err != nil {
		return flow.Fail(err)
	}
	wrote, err := patch.RemoveFinalizers(ctx, r.client, s.pool, nodesv1.Finalizer, nodesv1.LegacyFinalizer)
	if err != nil {
		return flow.Fail(err)
	}
	if wrote {
		s.events = append(s.events, cleaned(s.pool))
	}
	return flow.Done()
}

// emptyNodes lets nodes be cleaned once nobody is on them who chose the pool: those that are drained, or all of them when the pods
// have ended by themselves.
func (r *Reconciler) emptyNodes(ctx context.Context, s *scope) flow.Outcome {
	if outcome := r.drain(ctx, s); !outcome.IsDone() {
		return outcome
	}
	if drains(s.pool) {
		return s.waits
	}
	if outcome := r.awaitUsers(ctx, s); !outcome.IsDone() {
		r.clearances.Withdraw(s.pool.Name)
		return outcome
	}
	r.clearances.Grant(s.pool.Name, s.seen.nodes.carrying)
	return flow.Done()
}

// awaitUsers waits for the pods that name the pool, unless somebody insists.
func (r *Reconciler) awaitUsers(ctx context.Context, s *scope) flow.Outcome {
	class := s.seen.runtimeClass
	forced := s.pool.Annotations[nodesv1.ForceDeleteAnnotation] == "true"
	if forced || class == nil || !metav1.IsControlledBy(class, s.pool) {
		return flow.Done()
	}
	users, err := r.podsInUse(ctx, class.Name)
	if err != nil {
		return flow.Fail(err)
	}
	if users == 0 {
		return flow.Done()
	}
	return flow.Wait(nodesv1.ReasonInUse, fmt.Sprintf("running pods that name pool %s to end: %d are left; annotate the pool with %s=true to delete it nevertheless",
		class.Name, users, nodesv1.ForceDeleteAnnotation), recheckUsers)
}
