// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/test/console/stage"
)

// Sizes of what is measured, and how many changes come each second.
const (
	manyRows   = 10_000
	manyNodes  = 5_000
	changes    = 100
	writers    = 16
	poolsOfMap = 6
)

// TestSmooth measures how smoothly the console runs with 10,000 rows and 5,000 nodes while 100 objects change each second: "make
// bench-console". It takes minutes and asserts nothing, so it is not run with the other tests.
func TestSmooth(t *testing.T) {
	t.Parallel()
	if os.Getenv("WINDLASS_BENCH_CONSOLE") == "" {
		t.Skip("measures: make bench-console")
	}
	chromium := stage.Browser(t)
	h := testkit.New(t)
	config := rest.CopyConfig(h.Config)
	config.QPS = -1
	live, err := client.New(config, client.Options{Scheme: kube.NewScheme()})
	must(t, err)
	namespace := h.Namespace(t)
	for i := range poolsOfMap {
		h.Create(t, &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pool-%d", i)}})
	}
	parallel(manyNodes, func(i int) { must(t, live.Create(t.Context(), manyNode(i))) })
	parallel(manyRows, func(i int) { must(t, live.Create(t.Context(), manyDeployment(namespace, i))) })
	url := stage.Serve(t, h)

	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { churn(ctx, live, namespace) })
	t.Logf("%s", stage.Visit(t, "smooth.mjs", chromium, url))
	cancel()
	done.Wait()
}

func parallel(count int, act func(i int)) {
	next := make(chan int)
	var done sync.WaitGroup
	for range writers {
		done.Go(func() {
			for i := range next {
				act(i)
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	done.Wait()
}

func manyNode(i int) *corev1.Node {
	sizes := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110")}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%05d", i), Labels: map[string]string{"topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", i%3)}},
		Status: corev1.NodeStatus{
			Capacity: sizes, Allocatable: sizes, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}},
		},
	}
	pool := i * poolsOfMap / manyNodes
	node.Labels[nodesv1.MemberLabelPrefix+fmt.Sprintf("pool-%d", pool)] = ""
	if i%20 == 0 && pool+1 < poolsOfMap {
		node.Labels[nodesv1.MemberLabelPrefix+fmt.Sprintf("pool-%d", pool+1)] = ""
	}
	return node
}

func manyDeployment(namespace string, i int) *appsv1.Deployment {
	labels := map[string]string{"app": "many"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("many-%05d", i)},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example/web"}}},
		}},
	}
}

// churn changes as many Deployments as nodes, one after another.
func churn(ctx context.Context, live client.Client, namespace string) {
	tick := time.NewTicker(time.Second / changes)
	defer tick.Stop()
	var done sync.WaitGroup
	defer done.Wait()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		done.Go(func() { change(ctx, live, namespace, i) })
	}
}

func change(ctx context.Context, live client.Client, namespace string, i int) {
	if i%2 == 0 {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("many-%05d", i*7%manyRows)}}
		_ = live.Patch(ctx, deployment, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, i%10)))
		return
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%05d", i*7%manyNodes)}}
	ready := []string{"True", "True", "True", "Unknown"}[i/2%4]
	body := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":%q,"reason":"KubeletReady","lastTransitionTime":%q}]}}`, ready, time.Now().UTC().Format(time.RFC3339))
	_ = live.Status().Patch(ctx, node, client.RawPatch(types.StrategicMergePatchType, body))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
