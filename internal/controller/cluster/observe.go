// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision"
)

// observation is what a pass has seen besides the Cluster itself.
type observation struct {
	// raw is the configuration, config what it says. Both are empty where problem says why it cannot be used.
	raw     []byte
	config  provision.Config
	problem *refusal
	// tool is how the tool is called, version what it says of itself, missing why it cannot be called.
	tool    provision.Tool
	version string
	missing error
	// run is the tool's run that is under way, or the last; nil where there is none.
	run *provision.Run
	// stored is the Secret with the tool's state, nil where there is none.
	stored *store
	// place is where the configuration is.
	place provision.Place
	// health is what the prober has found.
	health health
	// kubeconfig is what the Secret of the cluster holds.
	kubeconfig []byte
	// owned is the Kubeconfig object of the cluster's name, nil where there is none.
	owned *clusterprovisionerv1alpha1.Kubeconfig
}

// observe is the phase that reads.
func (r *Reconciler) observe(ctx context.Context, pass *scope) flow.Outcome {
	seen := &observation{place: provision.Place{
		Cluster: string(pass.cluster.UID), Name: pass.cluster.Name, ConfigPath: pass.cluster.Spec.ConfigPath,
	}}
	var err error
	if seen.tool, err = toolOf(pass.cluster); err != nil {
		return flow.Fail(err)
	}
	run, err := r.provisioner.Observe(ctx, seen.place.Cluster)
	switch {
	case err == nil:
		seen.run = &run
	case !errors.Is(err, provision.ErrNoRun):
		return flow.Fail(fmt.Errorf("cannot look at the run of the tool: %w", err))
	}
	if seen.stored, err = r.readStore(ctx, pass.cluster); err != nil {
		return flow.Fail(err)
	}
	if err := r.observeConfig(ctx, pass.cluster, seen); err != nil {
		return flow.Fail(err)
	}
	if pass.cluster.Status.LastOperation == nil {
		seen.version, seen.missing = r.provisioner.Version(ctx, seen.tool)
	}
	if err := r.observeKubeconfig(ctx, pass.cluster, seen); err != nil {
		return flow.Fail(err)
	}
	seen.health = r.prober.healthOf(pass.cluster.UID)
	pass.seen = seen
	return flow.Done()
}

// toolOf returns the tool of the spec.
func toolOf(cluster *clusterprovisionerv1alpha1.Cluster) (provision.Tool, error) {
	spec := cluster.Spec.Exec
	if spec == nil {
		name := cluster.Spec.Provisioner
		if name == "" {
			name = clusterprovisionerv1alpha1.ProvisionerRKE
		}
		return provision.Preset(string(name))
	}
	tool := provision.Tool{
		Name: string(clusterprovisionerv1alpha1.ProvisionerExec), ConfigName: "config.yaml",
		Up: spec.Up, Remove: spec.Remove, Version: spec.Version, StateFiles: spec.StateFiles, KubeconfigFile: spec.KubeconfigFile,
	}
	for _, variable := range spec.Env {
		tool.Env = append(tool.Env, variable.Name+"="+variable.Value)
	}
	return tool, nil
}

// observeConfig reads the configuration. What is wrong with it is seen, not an error.
func (r *Reconciler) observeConfig(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) error {
	var err error
	seen.raw, seen.problem, err = r.readConfig(ctx, cluster)
	if err != nil || seen.problem != nil {
		return err
	}
	if seen.config, err = provision.ReadConfig(seen.raw); err != nil {
		seen.raw, seen.problem = nil, &refusal{clusterprovisionerv1alpha1.ReasonConfigUnreadable, err.Error()}
		return nil //nolint:nilerr // what the user wrote is told in the status, and no error of ours
	}
	source := cluster.Spec.Config
	if source != nil && source.SecretRef == nil && len(seen.config.SecretKeys) > 0 {
		seen.raw, seen.problem = nil, &refusal{
			clusterprovisionerv1alpha1.ReasonSecretInPlainSight,
			fmt.Sprintf("%s of the configuration is a secret, and everybody who may read the Cluster or the ConfigMap could read it: "+
				"put the configuration into a Secret and name it in spec.config.secretRef", seen.config.SecretKeys[0]),
		}
	}
	return nil
}

// readConfig reads the text of the configuration, wherever it is.
func (r *Reconciler) readConfig(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster) ([]byte, *refusal, error) {
	source := cluster.Spec.Config
	switch {
	case source == nil:
		return r.readFile(cluster.Spec.ConfigPath)
	case source.Inline != "":
		return []byte(source.Inline), nil, nil
	case source.SecretRef != nil:
		return r.readKey(ctx, &corev1.Secret{}, *source.SecretRef)
	case source.ConfigMapRef != nil:
		return r.readKey(ctx, &corev1.ConfigMap{}, *source.ConfigMapRef)
	}
	return nil, &refusal{clusterprovisionerv1alpha1.ReasonConfigNotFound, "spec.config names nothing"}, nil
}

// readKey reads a key of a Secret or ConfigMap.
func (r *Reconciler) readKey(
	ctx context.Context, object client.Object, ref clusterprovisionerv1alpha1.KeyReference,
) ([]byte, *refusal, error) {
	kind := "ConfigMap"
	if _, secret := object.(*corev1.Secret); secret {
		kind = "Secret"
	}
	err := r.direct.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, object)
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		return nil, &refusal{clusterprovisionerv1alpha1.ReasonConfigNotFound, err.Error()}, nil
	case err != nil:
		return nil, nil, fmt.Errorf("cannot read %s %s/%s: %w", kind, ref.Namespace, ref.Name, err)
	}
	var content []byte
	var found bool
	switch typed := object.(type) {
	case *corev1.Secret:
		content, found = typed.Data[ref.Key]
	case *corev1.ConfigMap:
		var text string
		text, found = typed.Data[ref.Key]
		content = []byte(text)
	}
	if !found {
		return nil, &refusal{
			clusterprovisionerv1alpha1.ReasonConfigNotFound,
			fmt.Sprintf("%s %s/%s has no key %q", kind, ref.Namespace, ref.Name, ref.Key),
		}, nil
	}
	return content, nil, nil
}

// readFile reads the user's file, within the root where one is set. Links are followed before they are judged.
func (r *Reconciler) readFile(path string) ([]byte, *refusal, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, &refusal{clusterprovisionerv1alpha1.ReasonConfigNotFound, fmt.Sprintf("file %q does not exist where Windlass runs", path)}, nil
	}
	if err != nil {
		return nil, &refusal{clusterprovisionerv1alpha1.ReasonConfigNotFound, err.Error()}, nil
	}
	if r.configRoot != "" && !strings.HasPrefix(target, filepath.Clean(r.configRoot)+string(filepath.Separator)) {
		return nil, &refusal{
			clusterprovisionerv1alpha1.ReasonConfigPathRefused,
			fmt.Sprintf("file %q does not lie in %q, which --config-root names", path, r.configRoot),
		}, nil
	}
	file, err := os.Open(target)
	if err != nil {
		return nil, &refusal{clusterprovisionerv1alpha1.ReasonConfigUnreadable, err.Error()}, nil
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.LimitReader(file, provision.MaxConfig+1))
	if err != nil {
		return nil, &refusal{clusterprovisionerv1alpha1.ReasonConfigUnreadable, err.Error()}, nil
	}
	return raw, nil, nil
}

// observeKubeconfig reads the Secret and the object that hold the cluster's kubeconfig.
func (r *Reconciler) observeKubeconfig(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) error {
	if ref := cluster.Status.KubeconfigRef; ref != nil {
		var secret corev1.Secret
		err := r.direct.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &secret)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cannot read Secret %s/%s: %w", ref.Namespace, ref.Name, err)
		}
		seen.kubeconfig = secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey]
	}
	owned := &clusterprovisionerv1alpha1.Kubeconfig{}
	err := r.client.Get(ctx, client.ObjectKey{Name: cluster.Name}, owned)
	if err == nil {
		seen.owned = owned
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot read Kubeconfig %q: %w", cluster.Name, err)
	}
	return nil
}
