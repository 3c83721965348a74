// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

const drainedPool = `apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: drained}
spec:
  labels: {node-pool.lailin.xyz/drained: "1"}
  rollout: {maxConcurrent: 1}
  drain: {policy: Evict}
`

// drainedPod is a pod of the pool on one of its nodes, with a disruption budget that lets nobody evict it.
const drainedPod = `apiVersion: v1
kind: Pod
metadata: {name: drained, namespace: default, labels: {app: drained}}
spec:
  runtimeClassName: drained
  nodeName: %s
  containers: [{name: c, image: busybox}]
  terminationGracePeriodSeconds: 1
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: drained, namespace: default}
spec: {minAvailable: 1, selector: {matchLabels: {app: drained}}}
`

// TestNodeIsOpenedLastAndDrainedFirst follows a node from its registration to its leave, under the shipped rights.
func TestNodeIsOpenedLastAndDrainedFirst(t *testing.T) {
	c := need(t)
	leaves, stays := nodeName(2), nodeName(3)
	before := c.snapshot(t, leaves)
	c.do(t, "taint", "node", leaves, nodesv1.UninitializedTaint+":NoSchedule")
	c.join(t, "drained", leaves, stays)
	c.startManager(t)
	c.apply(t, drainedPool)
	c.poolReady(t, "drained", 2)
	joined := before.with(map[string]string{
		nodesv1.RoleLabel("drained"): "", nodesv1.MemberLabel("drained"): "", "node-pool.lailin.xyz/drained": "1",
	})
	c.becomes(t, leaves, joined, true)

	c.apply(t, fmt.Sprintf(drainedPod, leaves))
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "drained", Namespace: metav1.NamespaceDefault}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "drained", Namespace: metav1.NamespaceDefault}}
	eventually(t, "the pod runs under its budget", func(ctx context.Context) error {
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(budget), budget); err != nil {
			return err
		}
		if budget.Status.CurrentHealthy != 1 || budget.Status.ObservedGeneration != budget.Generation {
			return fmt.Errorf("the budget is %+v", budget.Status)
		}
		return nil
	})
	c.do(t, "label", "node", leaves, nodesv1.RoleLabel("drained")+"-")
	eventually(t, "the pool says that the budget is in the way", func(ctx context.Context) error {
		pool := &nodesv1.NodePool{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: "drained"}, pool); err != nil {
			return err
		}
		condition := apimeta.FindStatusCondition(pool.Status.Conditions, nodesv1.ConditionDrained)
		if condition == nil || condition.Reason != nodesv1.ReasonDrainBlocked {
			return fmt.Errorf("conditions are %+v", pool.Status.Conditions)
		}
		return nil
	})
	c.becomes(t, leaves, before.with(map[string]string{"node-pool.lailin.xyz/drained": "1"}), true)

	if err := c.Client.Delete(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod is gone", func(ctx context.Context) error {
		err := c.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("it is there"))
	})
	c.becomes(t, leaves, before, false)
	c.poolReady(t, "drained", 1)
	c.remove(t, "wnp", "drained")
}
