// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// The keys of the Secret that holds a cluster's state.
const (
	keyConfig  = "config"
	keyApplied = "applied"
	keyState   = "state." // followed by the name of a file
)

// maxStore bounds what the Secret holds, in bytes: the API server takes 1 MiB with everything around it.
const maxStore = 900 << 10

// store is what has to survive the machine that tools run on.
type store struct {
	// config is the configuration that the tool was given last, applied the one that it last applied.
	config, applied []byte
	// state holds the tool's files.
	state map[string][]byte
}

// readStore reads the Secret, nil where there is none.
func (r *Reconciler) readStore(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster) (*store, error) {
	name := cluster.Name + clusterprovisionerv1alpha1.StateSecretSuffix
	var secret corev1.Secret
	if err := r.direct.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: name}, &secret); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if secret.Labels[clusterprovisionerv1alpha1.ClusterUIDLabel] != string(cluster.UID) {
		return nil, fmt.Errorf("cannot keep state in Secret %s/%s: it belongs to somebody else", r.namespace, name)
	}
	kept := &store{config: secret.Data[keyConfig], applied: secret.Data[keyApplied], state: map[string][]byte{}}
	for key, packed := range secret.Data {
		file, isState := strings.CutPrefix(key, keyState)
		if !isState {
			continue
		}
		content, err := unpack(packed)
		if err != nil {
			return nil, fmt.Errorf("cannot read %q of Secret %s/%s: %w", key, r.namespace, name, err)
		}
		kept.state[file] = content
	}
	return kept, nil
}

// dataKey is what a key of a Secret may look like.
var dataKey = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)

// writeStore writes the Secret for a run.
func (r *Reconciler) writeStore(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, kept *store, operation string) error {
	name := cluster.Name + clusterprovisionerv1alpha1.StateSecretSuffix
	data := map[string][]byte{keyConfig: kept.config}
	if len(kept.applied) > 0 {
		data[keyApplied] = kept.applied
	}
	size := len(kept.config) + len(kept.applied)
	for _, file := range slices.Sorted(maps.Keys(kept.state)) {
		if !dataKey.MatchString(file) {
			return fmt.Errorf("cannot keep state file %q: its name cannot be the key of a Secret", file)
		}
		packed, err := pack(kept.state[file])
		if err != nil {
			return fmt.Errorf("cannot keep state file %q: %w", file, err)
		}
		data[keyState+file] = packed
		size += len(packed)
	}
	if size > maxStore {
		return fmt.Errorf("cannot keep the state in Secret %s/%s: it has %d bytes and may have %d", r.namespace, name, size, maxStore)
	}
	secret := corev1ac.Secret(name, r.namespace).WithLabels(labels(cluster)).WithOwnerReferences(owner(cluster)).
		WithAnnotations(map[string]string{clusterprovisionerv1alpha1.OperationAnnotation: operation}).
		WithType(corev1.SecretTypeOpaque).WithData(data)
	if err := patch.Apply(ctx, r.direct, secret); err != nil {
		return fmt.Errorf("cannot keep the state in Secret %s/%s: %w", r.namespace, name, err)
	}
	return nil
}

// writeLog writes the end of a run's log into a ConfigMap. It is redacted.
func (r *Reconciler) writeLog(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, operation, log string) error {
	name := cluster.Name + clusterprovisionerv1alpha1.LogSuffix
	kept := corev1ac.ConfigMap(name, r.namespace).WithLabels(labels(cluster)).WithOwnerReferences(owner(cluster)).
		WithAnnotations(map[string]string{clusterprovisionerv1alpha1.OperationAnnotation: operation}).
		WithData(map[string]string{"log": log})
	if err := patch.Apply(ctx, r.direct, kept); err != nil {
		return fmt.Errorf("cannot keep the log in ConfigMap %s/%s: %w", r.namespace, name, err)
	}
	return nil
}

// writeKubeconfig writes the cluster's kubeconfig in the form that Cluster API, Flux and Argo CD read. It returns why not, where a
// Secret of somebody else's is in the way.
func (r *Reconciler) writeKubeconfig(
	ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, kubeconfig []byte,
) (*corev1.SecretReference, *refusal, error) {
	ref := r.kubeconfigRef(cluster)
	var live corev1.Secret
	err := r.direct.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &live)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return nil, nil, fmt.Errorf("cannot read Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	case err == nil && live.Labels[clusterprovisionerv1alpha1.ClusterUIDLabel] != string(cluster.UID):
		return nil, &refusal{
			clusterprovisionerv1alpha1.ReasonSecretConflict,
			fmt.Sprintf("Secret %s/%s exists and does not belong to this Cluster", ref.Namespace, ref.Name),
		}, nil
	}
	with := labels(cluster)
	with[clusterprovisionerv1alpha1.ClusterNameLabel] = cluster.Name
	secret := corev1ac.Secret(ref.Name, ref.Namespace).WithLabels(with).WithOwnerReferences(owner(cluster)).
		WithType("cluster.x-k8s.io/secret").
		WithData(map[string][]byte{clusterprovisionerv1alpha1.KubeconfigSecretKey: kubeconfig})
	if err := patch.Apply(ctx, r.direct, secret); err != nil {
		return nil, nil, fmt.Errorf("cannot write the kubeconfig to Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return ref, nil, nil
}

// kubeconfigRef returns where the kubeconfig goes.
func (r *Reconciler) kubeconfigRef(cluster *clusterprovisionerv1alpha1.Cluster) *corev1.SecretReference {
	ref := corev1.SecretReference{}
	if cluster.Spec.KubeconfigSecretRef != nil {
		ref = *cluster.Spec.KubeconfigSecretRef
	}
	if ref.Name == "" {
		ref.Name = cluster.Name + clusterprovisionerv1alpha1.KubeconfigSecretSuffix
	}
	if ref.Namespace == "" {
		ref.Namespace = r.namespace
	}
	return &ref
}

// labels are on everything that is kept for a cluster.
func labels(cluster *clusterprovisionerv1alpha1.Cluster) map[string]string {
	return map[string]string{
		"app.kubernetes.io/managed-by":             "windlass",
		clusterprovisionerv1alpha1.ClusterUIDLabel: string(cluster.UID),
	}
}

// owner makes the garbage collector take what is kept, once the Cluster is gone.
func owner(cluster *clusterprovisionerv1alpha1.Cluster) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(clusterprovisionerv1alpha1.SchemeGroupVersion.String()).WithKind("Cluster").
		WithName(cluster.Name).WithUID(cluster.UID).WithController(true).WithBlockOwnerDeletion(true)
}

// pack compresses a file: RKE's state has 120 KB of certificates in it.
func pack(content []byte) ([]byte, error) {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, err := writer.Write(content)
	err = errors.Join(err, writer.Close())
	return out.Bytes(), err
}

// maxUnpacked bounds what a compressed file may become, in bytes.
const maxUnpacked = 8 << 20

func unpack(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(reader, maxUnpacked))
}
