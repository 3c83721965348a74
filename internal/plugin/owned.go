// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/inquiry"
)

// ownedPods says which pods are those of an object: the API server finds them by labels, which other pods may have as well.
type ownedPods struct {
	selector labels.Selector
	owns     func(pod client.Object) bool
}

// podsOf returns which pods are those of an object, nil if it has none.
func podsOf(object client.Object) (*ownedPods, error) {
	var of *metav1.LabelSelector
	owns := func(pod client.Object) bool { return metav1.IsControlledBy(pod, object) }
	switch owner := object.(type) {
	case *appsv1alpha1.PodSet:
		selector, err := labels.Parse(owner.Status.Selector)
		if err != nil || selector.Empty() {
			return nil, nil //nolint:nilerr,nilnil // without a selector Windlass has not looked yet, and there are no pods
		}
		return &ownedPods{selector: selector, owns: ofDeployment(owner.Name)}, nil // which has the name of its PodSet
	case *appsv1.Deployment: // whose ReplicaSets own the pods
		of, owns = owner.Spec.Selector, ofDeployment(owner.Name)
	case *appsv1.ReplicaSet:
		of = owner.Spec.Selector
	case *appsv1.StatefulSet:
		of = owner.Spec.Selector
	case *appsv1.DaemonSet:
		of = owner.Spec.Selector
	case *batchv1.Job:
		of = owner.Spec.Selector
	}
	if of == nil {
		return nil, nil //nolint:nilnil // most kinds have no pods
	}
	selector, err := metav1.LabelSelectorAsSelector(of)
	if err != nil {
		return nil, fmt.Errorf("cannot read the selector of %q: %w", object.GetName(), err)
	}
	return &ownedPods{selector: selector, owns: owns}, nil
}

// ofDeployment returns what tells the pods of a Deployment.
func ofDeployment(name string) func(client.Object) bool {
	return func(pod client.Object) bool { return inquiry.IsOfDeployment(pod, name) }
}

// jobsOf returns the Jobs of a CronJob, the last one first.
func (c *cluster) jobsOf(ctx context.Context, of *batchv1.CronJob) ([]*batchv1.Job, error) {
	k := only("jobs")[0]
	var out []*batchv1.Job
	page := &batchv1.JobList{}
	err := c.listAll(ctx, page, func() {
		for i := range page.Items {
			if metav1.IsControlledBy(&page.Items[i], of) {
				out = append(out, &page.Items[i])
			}
		}
		page.Items = nil // the next page must not overwrite these
	}, of.Namespace)
	shown := make([]*standing, 0, len(out))
	for _, job := range out {
		shown = append(shown, standingOf(k, job))
	}
	c.saw(k, page.ResourceVersion, of.Namespace, func(job client.Object) bool { return metav1.IsControlledBy(job, of) }, shown)
	slices.SortFunc(out, func(a, b *batchv1.Job) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
	})
	return out, err
}
