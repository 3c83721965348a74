// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"fmt"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// watched are the kinds that the controllers' caches hold, with what the caches hold of them.
func watched() map[client.ObjectList][]client.ListOption {
	return map[client.ObjectList][]client.ListOption{
		&appsv1alpha1.PodBuggerToolList{}:            nil,
		&appsv1alpha1.PodSetList{}:                   nil,
		&nodesv1.NodePoolList{}:                      nil,
		&appsv1.DeploymentList{}:                     nil,
		&policyv1.PodDisruptionBudgetList{}:          nil,
		&corev1.NodeList{}:                           nil,
		&nodev1.RuntimeClassList{}:                   nil,
		&cloudnativev1alpha1.VirtualMachineList{}:    nil,
		&clusterprovisionerv1alpha1.ClusterList{}:    nil,
		&clusterprovisionerv1alpha1.KubeconfigList{}: nil,
		&corev1.PodList{}: {
			client.MatchingLabels{appsv1alpha1.LabelApp: appsv1alpha1.LabelAppValue},
		},
	}
}

// Sync waits until the cache has seen everything that the API server has.
func (h *Harness) Sync(t *testing.T) {
	t.Helper()
	for list, options := range watched() {
		Eventually(t, fmt.Sprintf("the cache has seen every item of %T", list), func() bool {
			live := versions(t, h.Live, list, options)
			for uid, cached := range versions(t, h.Client, list, options) {
				version, exists := live[uid]
				if !exists || cached < version {
					return false
				}
				delete(live, uid)
			}
			return len(live) == 0
		})
	}
}

// versions returns the resourceVersion of every object of the list's kind. They are opaque by contract but numbers on
// every API server that exists, which is enough for a test.
func versions(t *testing.T, c client.Reader, list client.ObjectList, options []client.ListOption) map[types.UID]int64 {
	t.Helper()
	fresh, ok := list.DeepCopyObject().(client.ObjectList)
	if !ok {
		t.Fatalf("%T is no list", list)
	}
	must(t, c.List(t.Context(), fresh, options...))
	out := make(map[types.UID]int64, meta.LenList(fresh))
	must(t, meta.EachListItem(fresh, func(item runtime.Object) error {
		accessor, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		version, err := strconv.ParseInt(accessor.GetResourceVersion(), 10, 64)
		out[accessor.GetUID()] = version
		return err
	}))
	return out
}
