// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/provision"
)

// keepLog adds a run that has ended to the ConfigMap that keeps the last ones. One that belongs to somebody else is left alone, and the run has no log
// then: nothing waits for that.
func (r *Reconciler) keepLog(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, run provision.Run) error {
	live, err := r.readLines(ctx, cluster, clusterprovisionerv1alpha1.LogSuffix)
	if err != nil {
		return err
	}
	var before provision.History
	var seen types.UID
	if live != nil {
		if !belongsTo(cluster, live) {
			log.FromContext(ctx).Info("Cannot keep the log of the run: the ConfigMap for it belongs to somebody else", "ConfigMap", client.ObjectKeyFromObject(live))
			return nil
		}
		before, seen = provision.DecodeHistory(live.Data), live.UID
	}
	kept, err := logConfigMap(cluster, r.namespace, before.With(run))
	if err != nil {
		return err
	}
	if err := patch.Write(ctx, r.direct, kept, seen); err != nil {
		return fmt.Errorf("cannot write the log to ConfigMap %s/%s: %w", r.namespace, *kept.Name, err)
	}
	return nil
}

// unlessRefused returns the error of a log that could not be written, unless a person has to change something before it can be: the run counts without its
// log, or its Cluster could not even be deleted.
func unlessRefused(ctx context.Context, err error) error {
	refused := kube.IsRefused(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
	if err == nil || !refused {
		return err
	}
	log.FromContext(ctx).Error(err, "Cannot keep the log of the run")
	return nil
}

// readLines reads the ConfigMap with that suffix, which holds what the tool prints. It returns nil if there is no such ConfigMap.
func (r *Reconciler) readLines(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, suffix string) (*corev1.ConfigMap, error) {
	key := client.ObjectKey{Namespace: r.namespace, Name: cluster.Name + suffix}
	live := &corev1.ConfigMap{}
	switch err := r.direct.Get(ctx, key, live); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // a missing ConfigMap is no error
	case err != nil:
		return nil, fmt.Errorf("cannot read ConfigMap %s: %w", key, err)
	}
	return live, nil
}
