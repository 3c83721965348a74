// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/provision"
)

// act is the phase that writes.
func (r *Reconciler) act(ctx context.Context, pass *scope) flow.Outcome {
	decided := pass.decision
	if decided.release {
		return r.release(ctx, pass)
	}
	if err := r.disownStore(ctx, pass); err != nil {
		return flow.Fail(err)
	}
	if decided.regain {
		if err := r.keepRegained(ctx, pass); err != nil {
			return flow.Fail(err)
		}
	}
	if decided.save != nil {
		if err := r.save(ctx, pass); err != nil {
			return flow.Fail(err)
		}
	}
	if err := r.moveKubeconfig(ctx, pass); err != nil {
		return flow.Fail(err)
	}
	if decided.cancel {
		if err := r.cancel(ctx, pass.Object); err != nil {
			return flow.Fail(err)
		}
	}
	if err := r.ensure(ctx, pass); err != nil {
		return flow.Fail(err)
	}
	if decided.start != nil {
		return r.start(ctx, pass)
	}
	r.publish(ctx, pass)
	return decided.outcome
}

// release lets the Cluster go.
func (r *Reconciler) release(ctx context.Context, pass *scope) flow.Outcome {
	cluster := pass.Object
	r.prober.Forget(cluster.UID)
	r.published.drop(cluster.UID)
	err := r.provisioner.Forget(ctx, string(cluster.UID))
	if errors.Is(err, provision.ErrBusy) {
		return flow.Wait(clusterprovisionerv1alpha1.ReasonRemoving, endOf(err), lookAgain/3)
	}
	if err != nil {
		return flow.Fail(fmt.Errorf("cannot remove what is kept of the tool's runs: %w", err))
	}
	if err := r.ownStore(ctx, pass); err != nil { // before the finalizer goes: nobody would come back to do it
		return flow.Fail(err)
	}
	_, err = patch.RemoveFinalizers(ctx, r.client, cluster,
		clusterprovisionerv1alpha1.ClusterFinalizer, clusterprovisionerv1alpha1.LegacyFinalizer)
	if err != nil {
		return flow.Fail(err)
	}
	pass.Release()
	return flow.Done()
}

// cancel tells the tool to stop.
func (r *Reconciler) cancel(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster) error {
	if err := r.provisioner.Cancel(ctx, string(cluster.UID)); err != nil && !errors.Is(err, provision.ErrBusy) {
		return fmt.Errorf("cannot stop the tool: %w", err)
	}
	return nil
}

// save stores what a run left behind, before the status says that it has ended.
func (r *Reconciler) save(ctx context.Context, pass *scope) error {
	run := pass.seen.run
	if lost := pass.decision.lost; lost != nil {
		failed := *run
		failed.Phase, failed.Failure = provision.Failed, lost
		run, pass.seen.run = &failed, &failed
	}
	if err := r.writeStore(ctx, pass, pass.decision.save, run.ID); err != nil {
		return err
	}
	if err := unlessRefused(ctx, r.keepLog(ctx, pass.Object, *run)); err != nil {
		return err
	}
	if err := unlessRefused(ctx, r.unpublish(ctx, pass.Object, *run)); err != nil {
		return err
	}
	pass.finished = run
	return nil
}

// keepRegained stores the state that was found where its Secret is gone, before anything is done with it.
func (r *Reconciler) keepRegained(ctx context.Context, pass *scope) error {
	run := ""
	if last := pass.Object.Status.LastOperation; last != nil {
		run = last.ID
	}
	return r.writeStore(ctx, pass, pass.seen.stored, run)
}

// writeStore writes the Secret with the tool's state, as of a run.
func (r *Reconciler) writeStore(ctx context.Context, pass *scope, kept *store, run string) error {
	secret, err := stateSecret(pass.Object, r.namespace, run, kept)
	if err != nil {
		return err
	}
	if err := patch.Write(ctx, r.direct, secret, pass.seen.storedIn); err != nil {
		return fmt.Errorf("cannot store the state in Secret %s/%s: %w", r.namespace, *secret.Name, err)
	}
	pass.seen.stored, pass.seen.storedIn = kept, ptr.Deref(secret.UID, "")
	return nil
}

// ensure keeps what belongs to a cluster that exists: its probe, its Kubeconfig object, and the annotation with its version.
func (r *Reconciler) ensure(ctx context.Context, pass *scope) error {
	cluster, kubeconfig := pass.Object, pass.seen.probed()
	if len(kubeconfig) == 0 || !cluster.DeletionTimestamp.IsZero() {
		r.prober.Forget(cluster.UID)
		return nil
	}
	if err := r.prober.Watch(cluster, kubeconfig); err != nil && pass.decision.refused == nil { // the tool may have to run for a better one
		pass.decision.refused = &refusal{clusterprovisionerv1alpha1.ReasonKubeconfigInvalid, provision.Redact(err.Error())}
	}
	if err := r.ensureKubeconfigObject(ctx, cluster, pass.seen); err != nil {
		return err
	}
	return r.annotateVersion(ctx, pass)
}

// ensureKubeconfigObject writes the Kubeconfig object of the Cluster's name. One that belongs to somebody else is left alone.
func (r *Reconciler) ensureKubeconfigObject(
	ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation,
) error {
	path := ""
	if cluster.Spec.ConfigPath != "" {
		path = seen.tool.KubeconfigPath(cluster.Name, cluster.Spec.ConfigPath)
	}
	if live := seen.owned; live != nil {
		ours := len(live.OwnerReferences) > 0 && live.OwnerReferences[0].UID == cluster.UID
		same := live.Spec.ConfigPath == path && live.Spec.ClusterRef != nil && live.Spec.ClusterRef.Name == cluster.Name
		if !ours || same || !live.DeletionTimestamp.IsZero() {
			return nil
		}
	}
	if err := patch.Apply(ctx, r.client, kubeconfigObject(cluster, path)); err != nil {
		return fmt.Errorf("cannot write Kubeconfig %q: %w", cluster.Name, err)
	}
	return nil
}

// annotateVersion writes the cluster's Kubernetes version into the annotation. A version that is not known changes nothing.
func (r *Reconciler) annotateVersion(ctx context.Context, pass *scope) error {
	cluster, version := pass.Object, pass.seen.health.version
	if version == "" || cluster.Annotations[clusterprovisionerv1alpha1.VersionAnnotation] == version {
		return nil
	}
	body := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, clusterprovisionerv1alpha1.VersionAnnotation, version)
	target := &clusterprovisionerv1alpha1.Cluster{}
	target.Name = cluster.Name
	if err := r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, []byte(body)), patch.FieldOwner); err != nil {
		return fmt.Errorf("cannot annotate the Cluster with its version: %w", err)
	}
	// The status is written with the version of the object that carries the annotation.
	cluster.ResourceVersion, cluster.Annotations = target.ResourceVersion, target.Annotations
	pass.Rebase()
	return nil
}

// start has the tool started. What it will need to remove the cluster is stored right before, and not for a run that only waits or is refused: what the
// tool was never given must not decide what it removes.
func (r *Reconciler) start(ctx context.Context, pass *scope) flow.Outcome {
	next := pass.decision.start
	if problem := cmp.Or(pass.taken, pass.credentials.problem); problem != nil {
		return next.stall(problem.reason, errors.New(problem.message))
	}
	kept := pass.seen.stored.before(next, pass.Object.Status.LastOperation)
	wanted := request(pass, kept.from)
	if kept != pass.seen.stored {
		wanted.Before = func(ctx context.Context) error { return r.writeStore(ctx, pass, kept, next.id) }
	}
	switch err := r.provisioner.Start(ctx, wanted); {
	case errors.Is(err, provision.ErrToolMissing):
		return next.stall(clusterprovisionerv1alpha1.ReasonBinaryMissing, err)
	case errors.Is(err, provision.ErrPathRefused):
		return next.stall(clusterprovisionerv1alpha1.ReasonConfigPathRefused, err)
	case errors.Is(err, provision.ErrLimit):
		return flow.Wait(clusterprovisionerv1alpha1.ReasonQueued, "a run of another Cluster to end", lookAgain)
	case errors.Is(err, provision.ErrBusy):
		return flow.Wait(reasonFor(next.action), endOf(err), lookAgain/3)
	case errors.Is(err, provision.ErrDiskFull):
		return flow.Wait(clusterprovisionerv1alpha1.ReasonDiskFull, "free space on the disk of the machine that runs Windlass", lookAgain)
	case err != nil:
		return flow.Fail(fmt.Errorf("cannot start the tool: %w", err))
	}
	pass.started = true
	pass.Did(runStarted(pass.Object, next))
	return pass.decision.outcome
}

// endOf says what a pass waits for that found another run under way, and what the error adds: a run that nobody follows any more is for a person to end.
func endOf(busy error) string {
	_, where, _ := strings.Cut(busy.Error(), provision.ErrBusy.Error())
	return "another run of the tool to end" + where
}

// request describes the run to start. The run that left the state which is stored began at that time.
func request(pass *scope, from time.Time) provision.Request {
	next, timeouts := pass.decision.start, pass.Object.Spec.Timeouts
	wanted := provision.Request{
		Place: placeOf(pass.Object, next.document.path), ID: next.id, Action: next.action, Tool: pass.seen.tool,
		Config: next.document.text, State: pass.seen.stored.stateFor(pass.seen.tool, pass.Object.Name, next.document.path),
		PrivateKey: pass.credentials.privateKey, KnownHosts: pass.credentials.knownHosts,
		Timeout: cmp.Or(timeouts.Up.Duration, clusterprovisionerv1alpha1.DefaultUpTimeout),
		Grace:   cmp.Or(timeouts.Grace.Duration, clusterprovisionerv1alpha1.DefaultGrace),
	}
	if pass.seen.outdated { // or the tool would work on an old state, and a run of the same name would count as this one
		wanted.Since, wanted.StateFrom = pass.Object.Status.LastOperation.StartTime.Time, from
	}
	if next.action == provision.Remove {
		wanted.Timeout = cmp.Or(timeouts.Remove.Duration, clusterprovisionerv1alpha1.DefaultRemoveTimeout)
	}
	if config, err := provision.ReadConfig(next.document.text); err == nil {
		wanted.Secrets = config.Secrets
	}
	return wanted
}
