// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// refusing is a client whose patches of nodes are refused.
type refusing struct {
	client.Client

	err error
}

// Patch implements client.Client.
func (r *refusing) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if _, node := object.(*corev1.Node); node {
		return r.err
	}
	return r.Client.Patch(ctx, object, patch, options...)
}

// TestAWebhookThatDeniesNodesIsSilent: the API server answers 400 for a webhook that denies without a code. No event told of it, and the node was tried again
// after up to 17 minutes, however soon the webhook had changed its mind.
func TestAWebhookThatDeniesNodesIsSilent(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	answer := func(code int32, reason metav1.StatusReason) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: code, Reason: reason, Message: `admission webhook "nodes.example.com" denied the request`,
		}}
	}
	cases := map[string]struct {
		err           error
		told, retried bool
	}{
		"without a code":       {err: answer(http.StatusBadRequest, ""), told: true},
		"as forbidden":         {err: answer(http.StatusForbidden, metav1.StatusReasonForbidden), told: true},
		"that does not answer": {err: answer(http.StatusInternalServerError, metav1.StatusReasonInternalError), retried: true},
	}
	for name, tc := range cases {
		w.Events.Take()
		nodes := w.newControllers(&refusing{Client: w.Client, err: tc.err}).nodes
		result, err := w.Reconcile(t, nodes, types.NamespacedName{Name: n.Name})
		if (err != nil) != tc.retried {
			t.Errorf("a webhook %s: the queue gets the error %v", name, err)
		}
		if rest := result.RequeueAfter; (rest > 0) == tc.retried || rest > 6*time.Minute {
			t.Errorf("a webhook %s: the node rests for %s", name, rest)
		}
		if told := slices.Contains(w.Events.Reasons(), nodesv1.ReasonNodeRefused); told != tc.told {
			t.Errorf("a webhook %s: an event tells of it: %t", name, told)
		}
	}
}

// TestAPoolStaysForWhatAnotherOneIsRefused: a kubelet can fill the annotations of its node, and a policy can refuse a label. The node was patched for all of
// its pools at once, so that a pool that was deleted waited for another one's key, which nobody could see in it.
func TestAPoolStaysForWhatAnotherOneIsRefused(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "stays", "goes")
	stays, goes := w.pool("stays", label("a", "1")), w.pool("goes", label("b", "1"))
	w.converge()
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Annotations["example.com/fill"] = strings.Repeat("x", 255<<10) })
	testkit.Edit(t, w.Harness, stays, func(p *nodesv1.NodePool) {
		p.Spec.Annotations = map[string]nodesv1.AnnotationValue{"example.com/big": nodesv1.AnnotationValue(strings.Repeat("y", 1<<10))}
	})
	passes := func() {
		for range 5 { // the node never rests: each of its passes sends what is refused
			for _, pool := range []*nodesv1.NodePool{stays, goes} {
				_, _ = w.Reconcile(t, w.pools, types.NamespacedName{Name: pool.Name})
			}
			_, _ = w.Reconcile(t, w.nodes, types.NamespacedName{Name: n.Name})
		}
	}
	passes()
	if !slices.Contains(w.Events.Reasons(), nodesv1.ReasonNodeRefused) {
		t.Fatal("the API server took the annotation")
	}
	must(t, w.Client.Delete(t.Context(), goes))
	passes()
	if err := w.Live.Get(t.Context(), client.ObjectKeyFromObject(goes), goes); !apierrors.IsNotFound(err) {
		t.Errorf("the pool is still there (%v): %v", err, goes.Status.Conditions)
	}
	labels := w.labels(n)
	if _, left := labels["b"]; left || labels["a"] != "1" {
		t.Errorf("the node has the labels %v", labels)
	}
}
