// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/inquiry"
	"github.com/windlass-operator/windlass/internal/why"
)

// explain explains an object with what the caller may read around it.
func (c *cluster) explain(ctx context.Context, object client.Object, asked *whyAsked) (*why.Explanation, error) {
	switch of := object.(type) {
	case *corev1.Node:
		return inquiry.Node(ctx, c, of, asked.pool, asked.key)
	case *corev1.Pod:
		return inquiry.Pod(ctx, c, of)
	case *batchv1.CronJob:
		return c.explainCronJob(ctx, of)
	}
	out := explained(object)
	return out, c.explainPodOf(ctx, out, object)
}

// explainCronJob explains a CronJob by its last Job, and that by one of its pods.
func (c *cluster) explainCronJob(ctx context.Context, of *batchv1.CronJob) (*why.Explanation, error) {
	jobs, err := c.jobsOf(ctx, of)
	because, err := unseen(err, "jobs in namespace "+of.Namespace)
	if err != nil {
		return nil, err
	}
	var last *batchv1.Job
	if len(jobs) > 0 {
		last = jobs[0]
	}
	out := why.CronJob(of, last, because)
	if out.Because == nil {
		return out, nil
	}
	return out, c.explainPodOf(ctx, out.Because, last)
}

// explainPodOf adds the explanation of a pod that is not ready, if pods are what the object waits for.
func (c *cluster) explainPodOf(ctx context.Context, of *why.Explanation, object client.Object) error {
	its, err := podsOf(object)
	if of.Failure() == nil || its == nil || err != nil {
		return err
	}
	var worst *standing
	namespace, page := object.GetNamespace(), &corev1.PodList{}
	err = c.listAll(ctx, page, func() {
		for i := range page.Items {
			pod := &page.Items[i]
			each := standingOf(only("pods")[0], pod)
			if each.how != moodGood && pod.DeletionTimestamp == nil && its.owns(pod) && (worst == nil || worstPodFirst(each, worst) < 0) {
				worst = each
			}
		}
	}, namespace, client.MatchingLabelsSelector{Selector: its.selector})
	because, err := unseen(err, "pods in namespace "+namespace)
	if because != "" {
		of.Unseen(why.CheckPodsStarted, because)
	}
	if err != nil || worst == nil {
		return err
	}
	pod := &corev1.Pod{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: worst.Name}, pod); err != nil {
		return client.IgnoreNotFound(err)
	}
	of.Because, err = inquiry.Pod(ctx, c, pod)
	return err
}

// worstPodFirst puts pods that have failed last: their owner waits for those that it has created in their place.
func worstPodFirst(a, b *standing) int {
	failed := string(corev1.PodFailed)
	switch {
	case a.State == failed && b.State != failed:
		return 1
	case a.State != failed && b.State == failed:
		return -1
	}
	return worstFirst(a, b)
}
