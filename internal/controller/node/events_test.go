// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
)

// TestEventsAreAboutKnownKinds: an event about anything else is dropped when it is written.
func TestEventsAreAboutKnownKinds(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	pools := membership.NewPools(&nodesv1.NodePoolList{Items: []nodesv1.NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}})
	plan := &membership.Plan{Pending: []string{"gpu"}, Drift: []string{"label gpu"}, Abandoned: []string{"old"}}
	events := append(applied(node, pools, plan), refused(node, pools, plan, errors.New("no"))...)
	if len(events) != 3 {
		t.Fatalf("events are %+v", events)
	}
	for _, e := range events {
		if _, _, err := kube.NewScheme().ObjectKinds(e.Regarding); err != nil {
			t.Errorf("%s is about %T: %v", e.Reason, e.Regarding, err)
		}
		if e.Related == nil {
			continue
		}
		if _, _, err := kube.NewScheme().ObjectKinds(e.Related); err != nil {
			t.Errorf("%s has to do with %T: %v", e.Reason, e.Related, err)
		}
	}
}
