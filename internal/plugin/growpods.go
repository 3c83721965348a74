// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/why"
)

// ownPods returns the pods of an object, none if it is one that has no pods. Those that are ready are counted.
func (c *cluster) ownPods(ctx context.Context, object client.Object) ([]*branch, error) {
	its, err := podsOf(object)
	if its == nil || err != nil {
		return nil, err
	}
	pods, err := c.choose(ctx, only("pods")[0], object.GetNamespace(), its.owns, client.MatchingLabelsSelector{Selector: its.selector})
	return gathered(pods, "pods"), err
}

// ofCronJob returns the Jobs of a CronJob, the last one first and with its pods.
func (c *cluster) ofCronJob(ctx context.Context, of *batchv1.CronJob) ([]*branch, error) {
	jobs, err := c.jobsOf(ctx, of)
	if apierrors.IsForbidden(err) {
		return hidden("jobs"), nil
	}
	out := make([]*branch, 0, len(jobs))
	for _, job := range jobs {
		out = append(out, branchOf(standingOf(only("jobs")[0], job)))
	}
	if len(out) > 0 {
		out[0].Children, err = c.ownPods(ctx, jobs[0])
	}
	return out, err
}

// usedBy returns what a pod uses: its pool, its node and its claims.
func (c *cluster) usedBy(ctx context.Context, pod *corev1.Pod) ([]*branch, error) {
	out, err := c.poolOf(ctx, pod)
	if err != nil {
		return nil, err
	}
	if pod.Spec.NodeName != "" {
		node, err := c.one(ctx, only(nodesPlural)[0], pod.Spec.NodeName)
		if err != nil {
			return nil, err
		}
		out = append(out, node...)
	}
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		claim, because, err := c.Claim(ctx, pod.Namespace, source.ClaimName)
		switch {
		case err != nil:
			return nil, err
		case because != "":
			out = append(out, sentence(moodUnknown, "persistentvolumeclaim/%s  %s", source.ClaimName, because))
		case claim == nil || claim.Status.Phase == corev1.ClaimBound:
			out = append(out, thereOrNot("persistentvolumeclaim", source.ClaimName, claim != nil))
		default:
			out = append(out, sentence(moodBad, "persistentvolumeclaim/%s  %s", source.ClaimName, claim.Status.Phase))
		}
	}
	return out, nil
}

// poolOf returns the pool that a pod has chosen.
func (c *cluster) poolOf(ctx context.Context, pod *corev1.Pod) ([]*branch, error) {
	pools, because, err := c.Pools(ctx)
	if err != nil {
		return nil, err
	}
	if because != "" {
		return []*branch{sentence(moodUnknown, "nodepools  %s", because)}, nil
	}
	name := why.PoolOf(pod, func(name string) bool { return pools[name] != nil })
	if name == "" {
		return nil, nil
	}
	return c.one(ctx, only("nodepools")[0], name)
}
