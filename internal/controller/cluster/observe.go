// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/confine"
)

// refusal says why Windlass cannot use something until a person changes it.
type refusal struct{ reason, message string }

// observation is what a pass read besides the Cluster itself.
type observation struct {
	// raw is the configuration and config its content. Both are empty where problem says why it cannot be used.
	raw     []byte
	config  provision.Config
	problem *refusal
	// tool says how to call the tool, version is what it printed about itself.
	tool    provision.Tool
	version string
	// run is the tool's run that is under way, or the last; nil for none.
	run *provision.Run
	// outdated says that what this machine keeps of the cluster is from a run before the last one, which another manager had, or of a start that came to
	// nothing.
	outdated bool
	// left is what the run left behind; nil unless it has ended, and the status does not say so yet and has to.
	left *provision.Artifacts
	// stored is the content of the Secret with the tool's state, and storedIn that Secret; nil for none. holder is its metadata as it was read. unusable
	// says why there is no working with that Secret: nothing is read from it or written to it, and so no run can start or be recorded.
	stored   *store
	storedIn types.UID
	holder   *corev1.Secret
	unusable *refusal
	// regained says that stored is not in a Secret: that is gone, and the tool's state was found where the tool left it.
	regained bool
	// forbidden says why the tool must not be called at all; nil if it may.
	forbidden *refusal
	// claimant is another Cluster whose file this one names; empty for none. elsewhere says that this one was applied from another file, which
	// is for nobody else to remove.
	claimant  string
	elsewhere bool
	// health is what the prober found.
	health health
	// kubeconfig is the Secret for the cluster's kubeconfig. former is one that was, before the spec named another; nil for none.
	kubeconfig kubeconfigSecretState
	former     *corev1.Secret
	// owned is the Kubeconfig object of the cluster's name; nil for none.
	owned *clusterprovisionerv1alpha1.Kubeconfig
}

// probed returns the kubeconfig that the cluster is probed with: that of the Secret, or what the tool wrote if Windlass may not read or write the
// Secret. It is empty if there is no kubeconfig yet.
func (o *observation) probed() []byte {
	if o.kubeconfig.forbidden != nil && o.stored != nil {
		return o.stored.kubeconfig
	}
	return o.kubeconfig.content
}

// kubeconfigSecretState is the Secret that the kubeconfig goes to, as it is now.
type kubeconfigSecretState struct {
	ref corev1.SecretReference
	// uid is the UID of the Secret. It is empty if there is no Secret, or a foreign one.
	uid     types.UID
	foreign bool
	// forbidden says why Windlass may not read it, or may not write it; nil if it may.
	forbidden *refusal
	// content is the kubeconfig in it; empty if there is none, or if it is foreign.
	content []byte
}

// observe is the phase that reads.
func (r *Reconciler) observe(ctx context.Context, pass *scope) flow.Outcome {
	cluster := pass.Object
	seen := &observation{health: r.prober.healthOf(cluster.UID), forbidden: r.forbids(cluster)}
	var err error
	if seen.tool, err = toolOf(cluster); err != nil {
		return flow.Fail(err)
	}
	for _, read := range []func(context.Context, *clusterprovisionerv1alpha1.Cluster, *observation) error{
		r.observeStore, r.observeRun, r.observeConfig, r.observeClaims, r.observeLost, r.observeKubeconfig,
	} {
		if err := read(ctx, cluster, seen); err != nil {
			return flow.Fail(err)
		}
	}
	seen.version = r.observeVersion(ctx, cluster, seen)
	pass.seen = seen
	return flow.Done()
}

// forbids says why the Cluster's tool must not be called, before anything of it is.
func (r *Reconciler) forbids(cluster *clusterprovisionerv1alpha1.Cluster) *refusal {
	name := provisionerOf(cluster)
	if slices.Contains(r.provisioners, name) {
		return nil
	}
	return &refusal{
		clusterprovisionerv1alpha1.ReasonProvisionerNotAllowed,
		fmt.Sprintf("provisioner %q is not allowed: --allowed-provisioners allows %s", name, join(r.provisioners)),
	}
}

// join lists provisioners for people.
func join(provisioners []clusterprovisionerv1alpha1.Provisioner) string {
	if len(provisioners) == 0 {
		return "none"
	}
	names := make([]string, 0, len(provisioners))
	for _, name := range provisioners {
		names = append(names, string(name))
	}
	return strings.Join(names, ", ")
}

// observeStore reads the Secret with the tool's state. One that cannot be used is part of the observation and not an error, so that a Cluster
// which does not need it can be deleted.
func (r *Reconciler) observeStore(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) error {
	key := client.ObjectKey{Namespace: r.namespace, Name: cluster.Name + clusterprovisionerv1alpha1.StateSecretSuffix}
	var secret corev1.Secret
	if err := r.direct.Get(ctx, key, &secret); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !belongsTo(cluster, &secret) {
		seen.unusable = &refusal{
			clusterprovisionerv1alpha1.ReasonSecretConflict,
			fmt.Sprintf("Secret %s exists and does not belong to this Cluster. Delete or rename it", key),
		}
		return nil
	}
	kept, err := decodeStore(&secret, cluster.Spec.ConfigPath)
	if err != nil {
		// An empty one, and not none: somebody has worked on the Cluster.
		kept, seen.unusable = &store{}, &refusal{clusterprovisionerv1alpha1.ReasonStateLost, err.Error() + ". Restore the Secret"}
	}
	seen.stored, seen.storedIn = kept, secret.UID
	seen.holder = &corev1.Secret{ObjectMeta: secret.ObjectMeta}
	return nil
}

// observeRun reads the tool's run, and what it left if it has ended and nobody has recorded that. It looks where the run was started, and
// not where the spec leads by now.
func (r *Reconciler) observeRun(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) error {
	run, err := r.provisioner.Observe(ctx, string(cluster.UID))
	none := errors.Is(err, provision.ErrNoRun)
	if err != nil && !none {
		return fmt.Errorf("cannot read the tool's run: %w", err)
	}
	if seen.outdated = outdated(cluster, seen.stored, &run, none); none || seen.outdated {
		if seen.run = lostRun(cluster); seen.run != nil {
			seen.left = &provision.Artifacts{} // what is here is not of that run
		}
		return nil
	}
	seen.run = &run
	if run.Phase == provision.Running || recorded(cluster, &run) || seen.unusable != nil || orphaned(cluster) {
		return nil
	}
	path := cluster.Spec.ConfigPath
	if seen.stored != nil && run.Action == provision.Remove {
		path = seen.stored.toRemove().path
	} else if seen.stored != nil {
		path = seen.stored.given.path
	}
	left, err := r.provisioner.Collect(ctx, placeOf(cluster, path), seen.tool)
	if err != nil && !errors.Is(err, provision.ErrPathRefused) {
		return fmt.Errorf("cannot read what the tool left: %w", err)
	}
	seen.left = &left
	return nil
}

// observeConfig reads the configuration. A mistake in it is part of the observation and not an error.
func (r *Reconciler) observeConfig(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) error {
	raw, problem, err := r.readConfig(ctx, cluster)
	if err != nil {
		return err
	}
	if problem == nil {
		seen.config, problem = parseConfig(cluster, raw)
	}
	if problem == nil {
		problem = checkTool(cluster, seen.tool)
	}
	if seen.problem = problem; problem == nil {
		seen.raw = raw
	}
	return nil
}

// parseConfig returns the content of a configuration, and why it cannot be used.
func parseConfig(cluster *clusterprovisionerv1alpha1.Cluster, raw []byte) (provision.Config, *refusal) {
	config, err := provision.ReadConfig(raw)
	if err != nil {
		return provision.Config{}, &refusal{clusterprovisionerv1alpha1.ReasonConfigUnreadable, err.Error()}
	}
	if source := cluster.Spec.Config; source != nil && source.SecretRef == nil && len(config.SecretKeys) > 0 {
		return config, &refusal{
			clusterprovisionerv1alpha1.ReasonSecretInPlainSight,
			config.SecretKeys[0] + " of the configuration is a secret, and anyone who can read the Cluster or the ConfigMap can read it. " +
				"Put the configuration into a Secret and name that in spec.config.secretRef",
		}
	}
	return config, nil
}

// readConfig reads the text of the configuration.
func (r *Reconciler) readConfig(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster) ([]byte, *refusal, error) {
	source := cluster.Spec.Config
	switch {
	case source == nil:
		raw, problem := r.readFile(cluster.Spec.ConfigPath)
		return raw, problem, nil
	case source.Inline != "":
		return []byte(source.Inline), nil, nil
	case source.SecretRef != nil:
		return r.readSecretKey(ctx, *source.SecretRef)
	case source.ConfigMapRef != nil:
		return r.readConfigMapKey(ctx, *source.ConfigMapRef)
	}
	return nil, &refusal{
		clusterprovisionerv1alpha1.ReasonConfigNotFound, "spec.config sets none of inline, secretRef and configMapRef",
	}, nil
}

// readFile reads the user's file, inside the root if one is set.
func (r *Reconciler) readFile(path string) ([]byte, *refusal) {
	raw, err := r.configRoot.ReadFile(path, provision.MaxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &refusal{
			clusterprovisionerv1alpha1.ReasonConfigNotFound, fmt.Sprintf("file %q does not exist on the machine that runs Windlass", path),
		}
	case errors.Is(err, confine.ErrOutside):
		return nil, &refusal{
			clusterprovisionerv1alpha1.ReasonConfigPathRefused,
			fmt.Sprintf("file %q is outside of %q, the directory that --config-root allows", path, r.configRoot),
		}
	case err != nil:
		return nil, &refusal{clusterprovisionerv1alpha1.ReasonConfigUnreadable, err.Error()}
	}
	return raw, nil
}

// observeClaims looks for another Cluster that has the same file. Two of them would provision one cluster, and whichever is deleted first
// would remove the other's.
func (r *Reconciler) observeClaims(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) error {
	if cluster.Spec.ConfigPath == "" {
		return nil
	}
	var clusters clusterprovisionerv1alpha1.ClusterList
	if err := r.client.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list Clusters: %w", err)
	}
	name, err := r.claimant(ctx, cluster, seen.stored, clusters.Items)
	if seen.claimant = name; name != "" {
		seen.raw, seen.problem = nil, inUse(cluster.Spec.ConfigPath, name)
		seen.elsewhere = seen.stored.appliedElsewhere(cluster, r.configRoot)
	}
	return err
}

// observeKubeconfig reads the Secret and the object for the cluster's kubeconfig.
func (r *Reconciler) observeKubeconfig(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) error {
	ref := cluster.KubeconfigSecret(r.namespace)
	seen.kubeconfig.ref = ref
	var secret corev1.Secret
	err := kube.Read(ctx, r.direct, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &secret)
	switch {
	case apierrors.IsForbidden(err): // part of the observation: without it, the Cluster could not be deleted either
		seen.kubeconfig.forbidden = &refusal{
			clusterprovisionerv1alpha1.ReasonSecretForbidden, kube.Forbidden(ref, "spec.kubeconfigSecretRef", r.subject),
		}
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("cannot read Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	case err == nil && !belongsTo(cluster, &secret):
		seen.kubeconfig.foreign = true
	case err == nil:
		seen.kubeconfig.uid, seen.kubeconfig.content = secret.UID, secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey]
	}
	if err := r.observeFormer(ctx, cluster, seen); err != nil {
		return err
	}
	owned := &clusterprovisionerv1alpha1.Kubeconfig{}
	err = r.client.Get(ctx, client.ObjectKey{Name: cluster.Name}, owned)
	if err == nil {
		seen.owned = owned
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot read Kubeconfig %q: %w", cluster.Name, err)
	}
	return nil
}

// observeFormer reads the Secret that the kubeconfig went to before the spec named another.
func (r *Reconciler) observeFormer(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) error {
	ref := cluster.Status.KubeconfigRef
	if ref == nil || *ref == seen.kubeconfig.ref {
		return nil
	}
	var secret corev1.Secret
	err := kube.Read(ctx, r.direct, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &secret)
	switch {
	case err == nil && belongsTo(cluster, &secret):
		seen.former = &secret
	case err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err):
		return fmt.Errorf("cannot read Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return nil
}
