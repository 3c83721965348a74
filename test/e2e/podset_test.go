// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

// podSetManifest has the article's shape.
const podSetManifest = `apiVersion: apps.jicki.cn/v1alpha1
kind: PodSet
metadata:
  name: %s
spec:
  size: %d
`

// podSetBecomes waits until a PodSet is ready with so many running pods, and returns it.
func (c *cluster) podSetBecomes(t *testing.T, name string, size int) *appsv1alpha1.PodSet {
	t.Helper()
	podSet := &appsv1alpha1.PodSet{}
	eventually(t, fmt.Sprintf("PodSet %s is ready with %d pods", name, size), func(ctx context.Context) error {
		key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}
		if err := c.Client.Get(ctx, key, podSet); err != nil {
			return err
		}
		pods := &corev1.PodList{}
		err := c.Client.List(ctx, pods, client.InNamespace(key.Namespace), client.MatchingLabels{
			appsv1alpha1.LabelApp: appsv1alpha1.LabelAppValue, appsv1alpha1.LabelPodSet: name,
		})
		if err != nil {
			return err
		}
		running := []string{}
		for i := range pods.Items {
			if pods.Items[i].DeletionTimestamp == nil && pods.Items[i].Status.Phase == corev1.PodRunning {
				running = append(running, pods.Items[i].Name)
			}
		}
		slices.Sort(running)
		s := podSet.Status
		if len(running) != size || !cmp.Equal(running, s.Nodes) || s.AvailableReplicas != int32(size) ||
			s.ObservedGeneration != podSet.Generation || !apimeta.IsStatusConditionTrue(s.Conditions, status.Ready) {
			return fmt.Errorf("running are %q, its status is %+v", running, s)
		}
		return nil
	})
	return podSet
}

func TestPodSetOfTheArticle(t *testing.T) {
	c := need(t)
	c.startManager(t)
	c.apply(t, fmt.Sprintf(podSetManifest, "demo", 3))
	podSet := c.podSetBecomes(t, "demo", 3)

	t.Run("the Deployment is the article's", func(t *testing.T) {
		deployment := &appsv1.Deployment{}
		if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(podSet), deployment); err != nil {
			t.Fatal(err)
		}
		if !metav1.IsControlledBy(deployment, podSet) || *deployment.Spec.Replicas != 3 {
			t.Errorf("owners %v, replicas %d", deployment.OwnerReferences, *deployment.Spec.Replicas)
		}
		labels := map[string]string{"app": "podSet", "podSet_cr": "demo"}
		if diff := cmp.Diff(labels, deployment.Spec.Selector.MatchLabels); diff != "" {
			t.Errorf("selector (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(labels, deployment.Spec.Template.Labels); diff != "" {
			t.Errorf("labels of the pods (-want +got):\n%s", diff)
		}
		want := []corev1.Container{{
			Name: "podset", Image: "busybox", Command: []string{"sleep", "3600"},
			Ports: []corev1.ContainerPort{{Name: "podset", ContainerPort: 1234, Protocol: corev1.ProtocolTCP}},
		}}
		defaulted := cmpopts.IgnoreFields(corev1.Container{}, "ImagePullPolicy", "TerminationMessagePath", "TerminationMessagePolicy")
		if diff := cmp.Diff(want, deployment.Spec.Template.Spec.Containers, defaulted); diff != "" {
			t.Errorf("containers (-want +got):\n%s", diff)
		}
	})
	t.Run("the columns tell its state", func(t *testing.T) {
		lines := strings.Split(strings.TrimSpace(c.do(t, "get", "podset", "demo")), "\n")
		want := [][]string{
			{"NAME", "DESIRED", "AVAILABLE", "READY", "REASON", "AGE"},
			{"demo", "3", "3", "True"},
		}
		for i, line := range lines {
			if fields := strings.Fields(line); len(fields) < len(want[i]) || !cmp.Equal(want[i], fields[:len(want[i])]) {
				t.Errorf("line %d of kubectl get podset is %q, want %v", i, line, want[i])
			}
		}
	})
	t.Run("kubectl scale works up, down to nothing, and up again", func(t *testing.T) {
		for _, size := range []int{5, 0, 2} {
			c.do(t, "scale", "podset", "demo", fmt.Sprintf("--replicas=%d", size))
			c.podSetBecomes(t, "demo", size)
		}
	})
	t.Run("what somebody does to the Deployment is reverted", func(t *testing.T) {
		c.do(t, "scale", "deployment", "demo", "--replicas=4")
		c.do(t, "set", "image", "deployment/demo", "podset=nginx")
		eventually(t, "the Deployment is as it was", func(ctx context.Context) error {
			deployment := &appsv1.Deployment{}
			if err := c.Client.Get(ctx, client.ObjectKeyFromObject(podSet), deployment); err != nil {
				return err
			}
			if image := deployment.Spec.Template.Spec.Containers[0].Image; *deployment.Spec.Replicas != 2 || image != "busybox" {
				return fmt.Errorf("it has %d replicas of %s", *deployment.Spec.Replicas, image)
			}
			return nil
		})
		c.podSetBecomes(t, "demo", 2)
	})
	t.Run("deletion takes everything along", func(t *testing.T) {
		c.remove(t, "podset", "demo")
		c.childrenGone(t, "demo")
	})
}

// childrenGone waits until the garbage collector has removed what a PodSet owned.
func (c *cluster) childrenGone(t *testing.T, name string) {
	t.Helper()
	eventually(t, "the children of PodSet "+name+" are gone", func(ctx context.Context) error {
		key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}
		if err := c.Client.Get(ctx, key, &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
			return errors.Join(err, errors.New("the Deployment is there"))
		}
		pods := &corev1.PodList{}
		err := c.Client.List(ctx, pods, client.InNamespace(key.Namespace), client.MatchingLabels{appsv1alpha1.LabelPodSet: name})
		if err != nil || len(pods.Items) > 0 {
			return errors.Join(err, fmt.Errorf("there are %d pods", len(pods.Items)))
		}
		return nil
	})
}

func TestAutoscalerOnAPodSet(t *testing.T) {
	c := need(t)
	c.startManager(t)
	c.apply(t, fmt.Sprintf(podSetManifest, "scaled", 1))
	c.podSetBecomes(t, "scaled", 1)
	t.Cleanup(func() {
		c.Run(context.WithoutCancel(t.Context()), c.Kubectl, "delete", "podset/scaled", "hpa/scaled", "--ignore-not-found")
	})

	// Without metrics there is no load to follow, but an autoscaler keeps its bounds in any case.
	c.apply(t, `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaled, namespace: default}
spec:
  scaleTargetRef: {apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, name: scaled}
  minReplicas: 4
  maxReplicas: 6
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`)
	podSet := c.podSetBecomes(t, "scaled", 4)
	if podSet.Spec.Size != 4 {
		t.Errorf("size is %d, want 4", podSet.Spec.Size)
	}
	eventually(t, "the autoscaler reads the scale", func(ctx context.Context) error {
		hpa := &autoscalingv2.HorizontalPodAutoscaler{}
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(podSet), hpa); err != nil {
			return err
		}
		for _, condition := range hpa.Status.Conditions {
			if condition.Type == autoscalingv2.AbleToScale && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %+v", hpa.Status.Conditions)
	})
}

// TestPodSetInAPool follows the whole way: a pool taints its node, and only pods that choose the pool run there.
func TestPodSetInAPool(t *testing.T) {
	c := need(t)
	node := nodeName(4)
	c.join(t, "reserved", node)
	c.startManager(t)
	c.apply(t, strings.ReplaceAll(pool("reserved", "1"), "PreferNoSchedule", "NoSchedule"))
	c.poolReady(t, "reserved", 1)
	c.apply(t, strings.ReplaceAll(fmt.Sprintf(podSetManifest, "chooses", 3), "spec:\n", "spec:\n  nodePool: reserved\n"))
	t.Cleanup(func() {
		c.Run(context.WithoutCancel(t.Context()), c.Kubectl, "delete", "podset/chooses", "--ignore-not-found")
	})
	podSet := c.podSetBecomes(t, "chooses", 3)

	pods := &corev1.PodList{}
	if err := c.Client.List(t.Context(), pods, client.MatchingLabels{appsv1alpha1.LabelPodSet: "chooses"}); err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if got := pods.Items[i].Spec.NodeName; got != node {
			t.Errorf("pod %s runs on %s, want %s", pods.Items[i].Name, got, node)
		}
	}
	want := []appsv1alpha1.PodPlacement{{NodePool: "reserved", Pods: 3}}
	if diff := cmp.Diff(want, podSet.Status.Placement); diff != "" {
		t.Errorf("placement (-want +got):\n%s", diff)
	}
	c.remove(t, "podset", "chooses")
	c.childrenGone(t, "chooses")
	c.remove(t, "wnp", "reserved")
	if _, ok := c.snapshot(t, node).Labels[nodesv1.MemberLabel("reserved")]; ok {
		t.Error("the node is still marked as a member")
	}
}
