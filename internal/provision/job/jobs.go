// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/provision"
)

// list returns the Jobs of runs.
func (r *Runner) list(ctx context.Context) ([]batchv1.Job, error) {
	var jobs batchv1.JobList
	if err := r.options.Client.List(ctx, &jobs, client.InNamespace(r.options.Namespace), client.HasLabels{runLabel}); err != nil {
		return nil, fmt.Errorf("cannot list the Jobs of runs: %w", err)
	}
	return jobs.Items, nil
}

// create creates the Job, or finds the one that an earlier manager has created, and returns its UID.
func (r *Runner) create(ctx context.Context, wanted *batchv1.Job) (string, error) {
	err := r.options.Client.Create(ctx, wanted)
	if err == nil {
		return string(wanted.UID), nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("cannot create Job %s/%s: %w", wanted.Namespace, wanted.Name, err)
	}
	found := &batchv1.Job{}
	if err := r.options.Client.Get(ctx, client.ObjectKeyFromObject(wanted), found); err != nil {
		return "", fmt.Errorf("cannot read Job %s/%s: %w", wanted.Namespace, wanted.Name, err)
	}
	if found.Labels[runLabel] != wanted.Labels[runLabel] {
		return "", fmt.Errorf("cannot create Job %s/%s: it exists and belongs to somebody else", wanted.Namespace, wanted.Name)
	}
	return string(found.UID), nil
}

// jobOf returns the Job of a run; nil if there is none, or if it is not the one that the run was started with.
func (r *Runner) jobOf(ctx context.Context, kept *run) (*batchv1.Job, error) {
	found := &batchv1.Job{}
	key := client.ObjectKey{Namespace: r.options.Namespace, Name: jobName(kept.cluster, kept.id)}
	if err := r.options.Client.Get(ctx, key, found); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil //nolint:nilnil // a Job that is gone is an answer
		}
		return nil, fmt.Errorf("cannot read Job %s: %w", key, err)
	}
	if found.Labels[runLabel] != kept.cluster || kept.job != "" && string(found.UID) != kept.job {
		return nil, nil //nolint:nilnil // what somebody else created under this name is not the run
	}
	return found, nil
}

// delete deletes a Job. It stays until its Pods have ended.
func (r *Runner) delete(ctx context.Context, of *batchv1.Job) error {
	err := r.options.Client.Delete(ctx, of, client.PropagationPolicy(metav1.DeletePropagationForeground), client.Preconditions{UID: &of.UID})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot delete Job %s/%s: %w", of.Namespace, of.Name, err)
	}
	return nil
}

// over reports whether a Job has ended.
func over(of *batchv1.Job) bool { return whyOver(of) != "" }

// holdsSlot reports whether the Job counts against the limit.
func holdsSlot(of *batchv1.Job) bool { return !over(of) && of.DeletionTimestamp.IsZero() }

// whyOver says how a Job has ended, empty if it has not.
func whyOver(of *batchv1.Job) string {
	for _, condition := range of.Status.Conditions {
		if condition.Status == corev1.ConditionTrue && (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) {
			return strings.TrimSpace(string(condition.Type) + " " + condition.Reason + " " + condition.Message)
		}
	}
	return ""
}

// outlived returns ErrBusy if a Pod of the cluster has outlived its Job: that was deleted, and its tool works on until its grace is over, or to its end if
// the Job left its Pods. own is the Job of the run that is wanted. A run whose result is kept has nothing left to do.
func (r *Runner) outlived(ctx context.Context, cluster string, kept *run, own types.UID) error {
	pods, err := r.pods(ctx, cluster)
	if err != nil {
		return err
	}
	for i := range pods {
		pod := &pods[i]
		by := pod.Labels[batchv1.ControllerUidLabel] // a Job that leaves its Pods takes their owner away, and not this
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if ended || by == "" || by == string(own) || kept != nil && kept.result != nil && by == kept.job {
			continue
		}
		return fmt.Errorf("%w: it works in Pod %s/%s. To end it, delete that Pod", provision.ErrBusy, pod.Namespace, pod.Name)
	}
	return nil
}

// podOf returns the Pod of a Job, nil if there is none yet. A label alone does not make a Pod the Job's.
func (r *Runner) podOf(ctx context.Context, of *batchv1.Job) (*corev1.Pod, error) {
	pods, err := r.pods(ctx, of.Labels[runLabel])
	if err != nil {
		return nil, err
	}
	for i := range pods {
		if metav1.IsControlledBy(&pods[i], of) {
			return &pods[i], nil
		}
	}
	return nil, nil //nolint:nilnil // a Job whose Pod is yet to come is an answer
}

// pods returns the Pods with the label of a cluster's runs.
func (r *Runner) pods(ctx context.Context, cluster string) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := r.options.Client.List(ctx, &pods, client.InNamespace(r.options.Namespace), client.MatchingLabels{runLabel: cluster})
	if err != nil {
		return nil, fmt.Errorf("cannot list the Pods of runs: %w", err)
	}
	return pods.Items, nil
}

// working reports whether the container with the tool runs.
func working(pod *corev1.Pod) bool {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == container {
			return status.State.Running != nil
		}
	}
	return false
}
