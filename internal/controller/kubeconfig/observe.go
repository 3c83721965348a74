// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/provision/confine"
)

// maxFile bounds a kubeconfig, in bytes.
const maxFile = 256 << 10

// observation is what a pass read besides the Kubeconfig itself.
type observation struct {
	// cluster is the Cluster of clusterRef; nil if it does not exist.
	cluster *clusterprovisionerv1alpha1.Cluster
	// admin is the kubeconfig that the tool wrote; empty if it has not written one yet.
	admin []byte
	// forbidden says why Windlass may not read the Secret of this object, and adminForbidden why that of the Cluster; nil if it may.
	forbidden, adminForbidden error
	// outside says that the file of the kubeconfig is outside of the directory that is allowed.
	outside bool
	// ref is the Secret of this object; shared says that it is the Cluster's own, which the controller of Clusters writes.
	ref    corev1.SecretReference
	shared bool
	// secret is that Secret; nil if it does not exist. rejected says that the cluster does not accept the token in it, unbound that the token
	// has not the role that it is for.
	secret            *corev1.Secret
	rejected, unbound bool
	// former is the Secret that the kubeconfig went to before the spec named another; nil if there is none of this object.
	former *corev1.Secret
	// issuer is the Cluster that a token was issued in, if the spec names another by now, and issuerAdmin the kubeconfig of its tool. issuerForbidden says
	// why Windlass may not read that; nil if it may.
	issuer          *clusterprovisionerv1alpha1.Cluster
	issuerAdmin     []byte
	issuerForbidden error
}

// observe is the phase that reads.
func (r *Reconciler) observe(ctx context.Context, pass *scope) flow.Outcome {
	config, seen := pass.Object, &observation{}
	var err error
	if seen.cluster, err = r.readCluster(ctx, clusterOf(config)); err != nil {
		return flow.Fail(err)
	}
	if err := r.observeAdmin(ctx, config, seen); err != nil {
		return flow.Fail(err)
	}
	seen.ref, seen.shared = r.refOf(config, seen.cluster)
	if err := r.observeSecret(ctx, seen); err != nil {
		return flow.Fail(err)
	}
	if seen.former, err = r.readFormer(ctx, config, seen.ref); err != nil {
		return flow.Fail(err)
	}
	if was := recordOf(config, *seen); was != nil && was.cluster != clusterOf(config) {
		if seen.issuer, err = r.readCluster(ctx, was.cluster); err != nil {
			return flow.Fail(err)
		}
		if seen.issuerAdmin, seen.issuerForbidden, err = r.lookForAdmin(ctx, seen.issuer); err != nil {
			return flow.Fail(err)
		}
	}
	if secret := seen.secret; isToken(config) && config.DeletionTimestamp.IsZero() && secret != nil && belongsTo(config, secret) {
		r.observeToken(ctx, config, seen)
	}
	pass.seen = seen
	return flow.Done()
}

// observeToken asks the cluster about the token in the Secret. One that does not answer, or is another cluster than the Secret leads to, is not
// asked a second time.
func (r *Reconciler) observeToken(ctx context.Context, config *clusterprovisionerv1alpha1.Kubeconfig, seen *observation) {
	issued := seen.secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey]
	err := r.enter(ctx, issued)
	if seen.rejected = apierrors.IsUnauthorized(err); err != nil || !leads(issued, seen.admin) {
		return
	}
	if cluster, err := r.newTarget(seen.admin); err == nil {
		seen.unbound = cluster.unbound(ctx, config, accountOf(config))
	}
}

// observeAdmin reads the kubeconfig that the tool wrote: from the Cluster's Secret, or from the file that the article names.
func (r *Reconciler) observeAdmin(ctx context.Context, config *clusterprovisionerv1alpha1.Kubeconfig, seen *observation) error {
	if namesNothing(config) {
		return nil
	}
	if config.Spec.ClusterRef == nil {
		var err error
		seen.admin, err = r.configRoot.ReadFile(config.Spec.ConfigPath, maxFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, confine.ErrOutside):
			seen.outside = true
			return nil
		}
		return err
	}
	var err error
	seen.admin, seen.adminForbidden, err = r.lookForAdmin(ctx, seen.cluster)
	return err
}

// lookForAdmin reads the kubeconfig that the Cluster has written, or says why Windlass may not read it.
func (r *Reconciler) lookForAdmin(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster) (admin []byte, forbidden, err error) {
	admin, err = r.readAdmin(ctx, cluster)
	if apierrors.IsForbidden(err) {
		return nil, errors.New(kube.Forbidden(cluster.KubeconfigSecret(r.namespace), "spec.kubeconfigSecretRef of the Cluster", r.subject)), nil
	}
	return admin, nil, err
}

// observeSecret reads the Secret of the object. One that Windlass may not read is part of the observation and not an error: without it, the object
// could not be deleted either.
func (r *Reconciler) observeSecret(ctx context.Context, seen *observation) error {
	var err error
	if seen.secret, err = r.readSecret(ctx, seen.ref); !apierrors.IsForbidden(err) {
		return err
	}
	field := "spec.writeSecretToRef"
	if seen.shared {
		field = "spec.kubeconfigSecretRef of the Cluster"
	}
	seen.forbidden = errors.New(kube.Forbidden(seen.ref, field, r.subject))
	return nil
}

// readCluster reads a Cluster. It returns nil if there is none, or no name.
func (r *Reconciler) readCluster(ctx context.Context, name string) (*clusterprovisionerv1alpha1.Cluster, error) {
	if name == "" {
		return nil, nil
	}
	cluster := &clusterprovisionerv1alpha1.Cluster{}
	err := r.client.Get(ctx, client.ObjectKey{Name: name}, cluster)
	if err != nil {
		cluster = nil
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cannot read Cluster %q: %w", name, err)
	}
	return cluster, nil
}

// readAdmin reads the kubeconfig that the Cluster has written. It returns nil if there is none.
func (r *Reconciler) readAdmin(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster) ([]byte, error) {
	if cluster == nil {
		return nil, nil
	}
	secret, err := r.readSecret(ctx, cluster.KubeconfigSecret(r.namespace))
	if err != nil || secret == nil || !wroteIt(cluster, secret) {
		return nil, err
	}
	return secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey], nil
}

// readSecret reads a Secret. It returns nil if there is none.
func (r *Reconciler) readSecret(ctx context.Context, ref corev1.SecretReference) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := kube.Read(ctx, r.direct, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, secret)
	if err != nil {
		secret = nil
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("cannot read Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return secret, nil
}

// readFormer reads the Secret that the kubeconfig went to before the spec named another. The right to write a status is not the right to
// choose Secrets: one that was not written for this object is none. Nor is one in a namespace that Windlass can no longer read.
func (r *Reconciler) readFormer(
	ctx context.Context, config *clusterprovisionerv1alpha1.Kubeconfig, now corev1.SecretReference,
) (*corev1.Secret, error) {
	ref := config.Status.SecretRef
	if ref == nil || *ref == now {
		return nil, nil
	}
	secret, err := r.readSecret(ctx, *ref)
	switch {
	case apierrors.IsForbidden(err) || secret != nil && !belongsTo(config, secret):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return secret, nil
}

// refOf returns the Secret of the object: the one that the spec names, or that of the Cluster, which holds the same, or one of the
// object's name.
func (r *Reconciler) refOf(
	config *clusterprovisionerv1alpha1.Kubeconfig, cluster *clusterprovisionerv1alpha1.Cluster,
) (ref corev1.SecretReference, shared bool) {
	own := config.Spec.WriteSecretToRef
	if own == nil && !isToken(config) && cluster != nil {
		return cluster.KubeconfigSecret(r.namespace), true
	}
	if own != nil {
		ref = *own
	}
	if ref.Name == "" {
		ref.Name = config.Name + clusterprovisionerv1alpha1.KubeconfigSecretSuffix
	}
	if ref.Namespace == "" {
		ref.Namespace = r.namespace
	}
	return ref, !isToken(config) && cluster != nil && ref == cluster.KubeconfigSecret(r.namespace)
}

// wroteIt reports whether the Secret was written for this very Cluster, and is not one that its spec only names.
func wroteIt(cluster *clusterprovisionerv1alpha1.Cluster, secret *corev1.Secret) bool {
	return secret.Labels[clusterprovisionerv1alpha1.ClusterUIDLabel] == string(cluster.UID)
}
