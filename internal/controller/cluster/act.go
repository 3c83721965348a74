// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	clusterprovisionerv1alpha1ac "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1/applyconfiguration/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/provision"
)

// act is the phase that works.
func (r *Reconciler) act(ctx context.Context, pass *scope) flow.Outcome {
	decided := pass.decision
	if decided.letGo {
		return r.letGo(ctx, pass)
	}
	if decided.finish {
		if err := r.takeCare(ctx, pass); err != nil {
			return flow.Fail(err)
		}
	}
	if decided.cancel {
		if err := r.provisioner.Cancel(ctx, pass.seen.place.Cluster); err != nil && !errors.Is(err, provision.ErrBusy) {
			return flow.Fail(fmt.Errorf("cannot end the tool's run: %w", err))
		}
	}
	if err := r.tend(ctx, pass); err != nil {
		return flow.Fail(err)
	}
	if decided.start != nil {
		return r.start(ctx, pass)
	}
	return decided.outcome
}

// start has the tool started. What it will need to remove the cluster is stored before.
func (r *Reconciler) start(ctx context.Context, pass *scope) flow.Outcome {
	cluster, next := pass.cluster, pass.decision.start
	kept := pass.seen.stored
	if kept == nil {
		kept = &store{}
	}
	if !bytes.Equal(kept.config, next.raw) {
		kept.config = next.raw
		if err := r.writeStore(ctx, cluster, kept, next.id); err != nil {
			return flow.Fail(err)
		}
	}
	request := provision.Request{
		Place: pass.seen.place, ID: next.id, Action: next.action, Tool: pass.seen.tool, Config: next.raw, State: kept.state,
		Timeout: cmp.Or(cluster.Spec.Timeouts.Up.Duration, clusterprovisionerv1alpha1.DefaultUpTimeout),
		Grace:   cmp.Or(cluster.Spec.Timeouts.Grace.Duration, clusterprovisionerv1alpha1.DefaultGrace),
	}
	if next.action == provision.Remove {
		request.Timeout = cmp.Or(cluster.Spec.Timeouts.Remove.Duration, clusterprovisionerv1alpha1.DefaultRemoveTimeout)
	}
	if config, err := provision.ReadConfig(next.raw); err == nil {
		request.Secrets = config.Secrets
	}
	if refused, err := r.authenticate(ctx, cluster, &request); refused != nil || err != nil {
		if err != nil {
			return flow.Fail(err)
		}
		return flow.Stall(refused.reason, errors.New(refused.message))
	}
	err := r.provisioner.Start(ctx, request)
	switch {
	case errors.Is(err, provision.ErrToolMissing):
		return flow.Stall(clusterprovisionerv1alpha1.ReasonBinaryMissing, err)
	case errors.Is(err, provision.ErrLimit):
		return flow.Wait(clusterprovisionerv1alpha1.ReasonQueued, "a run of another cluster to end", lookAgain/3)
	case errors.Is(err, provision.ErrBusy):
		return flow.Wait(applying(next.action), "another run of the tool to end", lookAgain/3)
	case errors.Is(err, provision.ErrDiskFull):
		return flow.Wait(clusterprovisionerv1alpha1.ReasonDiskFull, "room on the disk of the machine that Windlass runs on", lookAgain)
	case err != nil:
		return flow.Fail(fmt.Errorf("cannot start the tool: %w", err))
	}
	pass.started = true
	pass.events = append(pass.events, runStarted(cluster, next))
	return pass.decision.outcome
}

// authenticate adds the SSH key and the host keys.
func (r *Reconciler) authenticate(
	ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, request *provision.Request,
) (*refusal, error) {
	auth := cluster.Spec.SSHAuth
	if auth == nil {
		return nil, nil //nolint:nilnil // nothing is refused, and nothing went wrong
	}
	if auth.PrivateKeySecretRef != nil {
		key, refused, err := r.readKey(ctx, &corev1.Secret{}, *auth.PrivateKeySecretRef)
		if refused != nil || err != nil {
			return refused, err
		}
		request.PrivateKey = key
	}
	if auth.KnownHostsRef != nil {
		hosts, refused, err := r.readKey(ctx, &corev1.ConfigMap{}, *auth.KnownHostsRef)
		if refused != nil || err != nil {
			return refused, err
		}
		request.KnownHosts = hosts
	}
	return nil, nil //nolint:nilnil // nothing is refused, and nothing went wrong
}

// takeCare saves what a run left behind, before the status says that it has ended.
func (r *Reconciler) takeCare(ctx context.Context, pass *scope) error {
	run := pass.seen.run
	left, err := r.provisioner.Collect(ctx, pass.seen.place, pass.seen.tool)
	if err != nil {
		return fmt.Errorf("cannot read what the tool left: %w", err)
	}
	kept := pass.seen.stored
	if kept == nil {
		kept = &store{config: pass.seen.raw}
	}
	for _, name := range left.Torn {
		if whole, ok := kept.state[name]; ok {
			left.State[name] = whole
		}
	}
	if len(left.State) > 0 {
		kept.state = left.State // an empty directory is no state: what was kept stays
	}
	if run.Action == provision.Up && run.Phase == provision.Succeeded {
		kept.applied = kept.config
	}
	if err := r.writeStore(ctx, pass.cluster, kept, run.ID); err != nil {
		return err
	}
	pass.seen.stored = kept
	if err := r.writeLog(ctx, pass.cluster, run.ID, run.Log); err != nil {
		return err
	}
	if run.Action == provision.Up && len(left.Kubeconfig) > 0 {
		if err := r.keepKubeconfig(ctx, pass, left.Kubeconfig); err != nil {
			return err
		}
	}
	pass.finished = run
	return nil
}

// keepKubeconfig checks the kubeconfig that the tool wrote, and keeps it.
func (r *Reconciler) keepKubeconfig(ctx context.Context, pass *scope, kubeconfig []byte) error {
	_, err := kube.Target(kubeconfig)
	if err != nil {
		pass.refused = &refusal{clusterprovisionerv1alpha1.ReasonKubeconfigInvalid, err.Error()}
		return nil //nolint:nilerr // what the tool wrote is told in the status, and no error of ours
	}
	pass.written, pass.refused, err = r.writeKubeconfig(ctx, pass.cluster, kubeconfig)
	if err == nil && pass.written != nil {
		pass.seen.kubeconfig = kubeconfig
	}
	return err
}

// tend keeps what belongs to a cluster that exists: its probe, its Kubeconfig object, and the annotation with its version.
func (r *Reconciler) tend(ctx context.Context, pass *scope) error {
	cluster, seen := pass.cluster, pass.seen
	if len(seen.kubeconfig) == 0 || !cluster.DeletionTimestamp.IsZero() {
		r.prober.Forget(cluster.UID)
		return nil
	}
	if err := r.prober.Watch(cluster, seen.kubeconfig); err != nil { //nolint:contextcheck // a probe outlives the pass that begins it
		return err
	}
	if err := r.ensureKubeconfig(ctx, cluster, seen); err != nil {
		return err
	}
	version := seen.health.version
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
	cluster.ResourceVersion, pass.before.ResourceVersion = target.ResourceVersion, target.ResourceVersion
	cluster.Annotations, pass.before.Annotations = target.Annotations, target.Annotations
	return nil
}

// ensureKubeconfig makes the Kubeconfig object of the cluster's name. One that belongs to somebody else is left alone.
func (r *Reconciler) ensureKubeconfig(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) error {
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
	spec := clusterprovisionerv1alpha1ac.KubeconfigSpec().
		WithClusterRef(clusterprovisionerv1alpha1ac.ClusterReference().WithName(cluster.Name)).
		WithType(clusterprovisionerv1alpha1.KubeconfigAdmin)
	if path != "" {
		spec = spec.WithConfigPath(path)
	}
	child := clusterprovisionerv1alpha1ac.Kubeconfig(cluster.Name).WithOwnerReferences(owner(cluster)).WithSpec(spec)
	if err := patch.Apply(ctx, r.client, child); err != nil {
		return fmt.Errorf("cannot write Kubeconfig %q: %w", cluster.Name, err)
	}
	return nil
}

// letGo ends the object's life: nothing of the cluster is left, or what is left shall stay.
func (r *Reconciler) letGo(ctx context.Context, pass *scope) flow.Outcome {
	cluster := pass.cluster
	r.prober.Forget(cluster.UID)
	if cluster.Spec.DeletionPolicy == clusterprovisionerv1alpha1.DeletionOrphan && pass.seen.run != nil &&
		pass.seen.run.Phase == provision.Running {
		if err := r.provisioner.Cancel(ctx, string(cluster.UID)); err != nil && !errors.Is(err, provision.ErrBusy) {
			return flow.Fail(fmt.Errorf("cannot end the tool's run: %w", err))
		}
		return flow.Wait(clusterprovisionerv1alpha1.ReasonRemoving, "the tool's run to end", lookAgain/3)
	}
	if err := r.provisioner.Forget(ctx, string(cluster.UID)); err != nil {
		return flow.Fail(fmt.Errorf("cannot remove the tool's directory: %w", err))
	}
	_, err := patch.RemoveFinalizers(ctx, r.client, cluster,
		clusterprovisionerv1alpha1.ClusterFinalizer, clusterprovisionerv1alpha1.LegacyFinalizer)
	if err != nil {
		return flow.Fail(err)
	}
	pass.gone = true
	return flow.Done()
}
