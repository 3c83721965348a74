// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/provision"
)

// run is what the Secret of a cluster says about its last run.
type run struct {
	// cluster is the UID, name the name of the Cluster.
	cluster, name string
	id            string
	action        provision.Action
	// job is the UID of the Job; empty until it is known to exist.
	job string
	// request is what the Pod is given, packed; empty once there is a result.
	request []byte
	// result is how the run ended and what it left; nil until then.
	result *Report
}

// settled reports whether the Job is that of a run whose result is stored.
func (k *run) settled(of *batchv1.Job) bool {
	return k != nil && k.result != nil && of.Name == jobName(k.cluster, k.id)
}

// predates reports whether the run began before a time. One without a result is not known to.
func (k *run) predates(since time.Time) bool {
	return k.result != nil && k.result.Run.StartedAt.Before(since)
}

// read returns the cluster's last run, nil if there is none.
func (r *Runner) read(ctx context.Context, cluster string) (*run, error) {
	var secret corev1.Secret
	key := client.ObjectKey{Namespace: r.options.Namespace, Name: secretName(cluster)}
	if err := r.options.Client.Get(ctx, key, &secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil //nolint:nilnil // a cluster without a run is an answer
		}
		return nil, fmt.Errorf("cannot read Secret %s: %w", key, err)
	}
	if secret.Labels[runLabel] != cluster {
		return nil, fmt.Errorf("cannot keep a run in Secret %s: it exists and belongs to somebody else", key)
	}
	kept := &run{
		cluster: cluster, name: secret.Annotations[nameAnnotation], id: secret.Annotations[clusterprovisionerv1alpha1.OperationAnnotation],
		action: provision.Action(secret.Annotations[actionAnnotation]), job: secret.Annotations[jobAnnotation], request: secret.Data[requestKey],
	}
	if packed := secret.Data[resultKey]; len(packed) > 0 {
		kept.result = &Report{}
		if err := unpack(packed, kept.result); err != nil {
			return nil, fmt.Errorf("cannot read the result in Secret %s: %w", key, err)
		}
	}
	return kept, nil
}

// write writes the Secret. It has no owner: a deletion of the Cluster in the foreground would take it at once, under the run that removes the machines.
// Forget deletes it.
func (r *Runner) write(ctx context.Context, kept *run) error {
	data := map[string][]byte{requestKey: kept.request}
	if kept.result != nil {
		packed, err := pack(kept.result)
		if err != nil {
			return fmt.Errorf("cannot store the result of run %q: %w", kept.id, err)
		}
		data = map[string][]byte{resultKey: packed}
	}
	name := secretName(kept.cluster)
	secret := corev1ac.Secret(name, r.options.Namespace).
		WithLabels(labelsFor(kept.cluster)).
		WithAnnotations(map[string]string{
			clusterprovisionerv1alpha1.OperationAnnotation: kept.id, actionAnnotation: string(kept.action), jobAnnotation: kept.job,
			nameAnnotation: kept.name,
		}).
		WithType(corev1.SecretTypeOpaque).WithData(data)
	if err := patch.Apply(ctx, r.options.Client, secret); err != nil {
		return fmt.Errorf("cannot write Secret %s/%s: %w", r.options.Namespace, name, err)
	}
	return nil
}
