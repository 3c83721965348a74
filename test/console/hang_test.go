// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/test/console/stage"
)

// hang puts there what the pictures show: an object of every kind, always the same ones.
func hang(t *testing.T, h *testkit.Harness) stage.World {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gallery"}}
	put(t, h, namespace)
	w := stage.Furnish(t, h, namespace.Name)
	long := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Hour))
	at := metav1.ObjectMeta{Namespace: namespace.Name, Name: "shop"}
	labels := map[string]string{"app": "shop"}

	deployment := &appsv1.Deployment{ObjectMeta: at, Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example/shop/web:2.8.1"}}}},
	}}
	put(t, h, deployment)
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: 1, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3, ReadyReplicas: 3,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", LastTransitionTime: long, LastUpdateTime: long}},
	}
	must(t, h.Live.Status().Update(t.Context(), deployment))
	put(t, h, &corev1.Service{ObjectMeta: at, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: labels, Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}})

	cluster := &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "staging"}, Spec: clusterprovisionerv1alpha1.ClusterSpec{
		Provisioner: "devcluster", Approval: "Manual", Config: &clusterprovisionerv1alpha1.ConfigSource{Inline: "cluster_name: staging\nnodes: []\n"},
	}}
	put(t, h, cluster)
	waits := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: "WaitingForApproval", Message: "waiting for approval of plan 5f2c", LastTransitionTime: long, ObservedGeneration: 1}
	}
	cluster.Status = clusterprovisionerv1alpha1.ClusterStatus{
		ObservedGeneration: 1, Plan: &clusterprovisionerv1alpha1.Plan{ID: "5f2c", Summary: "control-01: added (controlplane, etcd)\nworker-01: removed (worker)\nservices: kubelet", Destructive: true},
		Nodes: &clusterprovisionerv1alpha1.ClusterNodes{Desired: 4, Ready: 2, Total: 4, Items: []clusterprovisionerv1alpha1.ClusterNode{
			{Name: "worker-02", Address: "10.30.2.2", Roles: []string{"worker"}, Ready: metav1.ConditionUnknown, Reason: clusterprovisionerv1alpha1.NodeNotJoined},
			{Name: "worker-03", Address: "10.30.2.3", Roles: []string{"worker"}, Ready: metav1.ConditionFalse, Reason: "KubeletNotReady", Version: "v1.37.1", Since: &long},
			{Name: "control-01", Address: "10.30.1.1", Roles: []string{"controlplane", "etcd"}, Ready: metav1.ConditionTrue, Version: "v1.37.1", Since: &long},
			{Name: "worker-01", Address: "10.30.2.1", Roles: []string{"worker"}, Ready: metav1.ConditionTrue, Unschedulable: true, Version: "v1.37.1", Since: &long},
		}},
		Conditions: []metav1.Condition{waits("Ready", metav1.ConditionFalse), waits("Reconciling", metav1.ConditionTrue)},
	}
	must(t, h.Live.Status().Update(t.Context(), cluster))
	put(t, h, &clusterprovisionerv1alpha1.Kubeconfig{ObjectMeta: metav1.ObjectMeta{Name: "viewer"}, Spec: clusterprovisionerv1alpha1.KubeconfigSpec{
		ClusterRef: &clusterprovisionerv1alpha1.ClusterReference{Name: "staging"}, Type: "ServiceAccountToken", ClusterRole: "view",
	}})
	put(t, h, &appsv1alpha1.PodBuggerTool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "shell"}, Spec: appsv1alpha1.PodBuggerToolSpec{Label: "podSet_cr=train", Image: "busybox"}})
	for i, reason := range []string{"Scheduled", "Pulled", "DrainBlocked"} {
		put(t, h, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: namespace.Name, Name: fmt.Sprintf("train.%d", i)},
			InvolvedObject: corev1.ObjectReference{APIVersion: "apps.jicki.cn/v1alpha1", Kind: "PodSet", Namespace: namespace.Name, Name: "train"},
			Type:           corev1.EventTypeNormal, Reason: reason, Message: "as the pictures show it", Count: 1,
			FirstTimestamp: metav1.NewTime(long.Add(time.Duration(i) * time.Minute)), LastTimestamp: metav1.NewTime(long.Add(time.Duration(i) * time.Minute)),
		})
	}
	return w
}

// put creates an object, or reads the one that an earlier run of the test has left.
func put(t *testing.T, h *testkit.Harness, object client.Object) {
	t.Helper()
	err := h.Live.Create(t.Context(), object)
	if apierrors.IsAlreadyExists(err) {
		err = h.Live.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	}
	must(t, err)
}
