// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// realNode is the name of the real node.
const realNode = "real"

// batchPool is a pool with a handler that the real node has.
const batchPool = `apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: batch}
spec:
  handler: runc
  labels: {example.com/batch: "yes"}
  taints: [{key: example.com/batch, value: "yes", effect: NoSchedule}]
`

// startWithRealNode starts a cluster of its own with a real node, which has the image busybox:1, or skips the test where the machine
// cannot have one.
func startWithRealNode(t *testing.T) *cluster {
	t.Helper()
	need(t)
	c, err := newCluster("real")
	if err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	err = c.start(ctx, "--name", c.Name, "--real-node="+realNode)
	t.Cleanup(c.stop)
	if err != nil {
		if _, reason, refused := strings.Cut(err.Error(), "a real node needs "); refused {
			t.Skipf("a real node needs %s", strings.TrimSpace(reason))
		}
		t.Fatal(err)
	}
	shell := filepath.Join(t.TempDir(), "sh")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", shell, "./testdata/sh")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the shell of the image: %v\n%s", err, out)
	}
	if done := c.Run(t.Context(), c.Devcluster, "image", "import", "--name", c.Name, "--ref", "busybox:1", "--binary", shell); done.Code != 0 {
		t.Fatalf("cannot import the image: %s", done.Err)
	}
	return c
}

// TestRealNode proves what only running containers can prove.
func TestRealNode(t *testing.T) {
	c := startWithRealNode(t)
	c.startManager(t).ready()
	c.do(t, "label", "node", realNode, "node-role.kubernetes.io/batch=")
	c.apply(t, batchPool)
	for _, step := range []struct {
		sentence string
		prove    func(t *testing.T)
	}{
		{"the node's runtime handlers drive HandlerAvailable", c.handlersDriveTheCondition},
		{"a pod of the pool runs on the node under runc", c.podOfThePoolRuns},
		{"a debugging tool runs in the pod and answers", c.toolAnswers},
		{"a NoExecute taint of the pool evicts what does not tolerate it", c.taintEvicts},
	} {
		if !t.Run(step.sentence, step.prove) {
			return // each step stands on the one before
		}
	}
}

func (c *cluster) handlersDriveTheCondition(t *testing.T) {
	t.Helper()
	wants := func(status metav1.ConditionStatus) {
		t.Helper()
		eventually(t, "HandlerAvailable is "+string(status), func(ctx context.Context) error {
			pool := &nodesv1.NodePool{}
			if err := c.Client.Get(ctx, client.ObjectKey{Name: "batch"}, pool); err != nil {
				return err
			}
			condition := apimeta.FindStatusCondition(pool.Status.Conditions, nodesv1.ConditionHandlerAvailable)
			if condition == nil || condition.Status != status || pool.Status.NodeCount != 1 {
				return fmt.Errorf("status is %+v", pool.Status)
			}
			return nil
		})
	}
	wants(metav1.ConditionTrue)
	c.do(t, "patch", "nodepool", "batch", "--type=merge", "-p", `{"spec":{"handler":"kata"}}`)
	wants(metav1.ConditionFalse)
	c.do(t, "patch", "nodepool", "batch", "--type=merge", "-p", `{"spec":{"handler":"runc"}}`)
	wants(metav1.ConditionTrue)
}

func (c *cluster) podOfThePoolRuns(t *testing.T) {
	t.Helper()
	c.apply(t, `apiVersion: apps.jicki.cn/v1alpha1
kind: PodSet
metadata: {name: job}
spec:
  size: 1
  nodePool: batch
  template:
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: busybox:1, imagePullPolicy: IfNotPresent, command: [sh]}]
`)
	c.podSetBecomes(t, "job", 1)
	pod := c.podOf(t.Context(), t, "job")
	if pod.Spec.NodeName != realNode || *pod.Spec.RuntimeClassName != "batch" {
		t.Errorf("the pod is on %s with the RuntimeClass %v", pod.Spec.NodeName, pod.Spec.RuntimeClassName)
	}
	if id := pod.Status.ContainerStatuses[0].ContainerID; !strings.HasPrefix(id, "containerd://") {
		t.Errorf("the container is %q, want a real one", id)
	}
}

// podOf returns the one live pod of a PodSet, nil where there is none at the moment.
func (c *cluster) podOf(ctx context.Context, t *testing.T, podSet string) *corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	if err := c.Client.List(ctx, &pods, client.InNamespace("default"), client.MatchingLabels{appsv1alpha1.LabelPodSet: podSet}); err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp.IsZero() {
			return &pods.Items[i]
		}
	}
	return nil
}

func (c *cluster) toolAnswers(t *testing.T) {
	t.Helper()
	c.apply(t, `apiVersion: apps.jicki.cn/v1alpha1
kind: PodBuggerTool
metadata: {name: shell}
spec: {label: podSet_cr=job, image: busybox:1, targetContainer: main}
`)
	tool := &appsv1alpha1.PodBuggerTool{}
	eventually(t, "the tool runs", func(ctx context.Context) error {
		if err := c.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: "shell"}, tool); err != nil {
			return err
		}
		if len(tool.Status.Pods) != 1 || tool.Status.Pods[0].State != appsv1alpha1.ToolRunning {
			return fmt.Errorf("status is %+v", tool.Status)
		}
		return nil
	})
	line := tool.Status.Pods[0]
	if said := c.do(t, "exec", line.Name, "-c", line.Container, "--", "sh", "well", "met"); said != "well met\n" {
		t.Errorf("the tool says %q", said)
	}
	columns := strings.Fields(strings.Split(c.do(t, "get", "pbt"), "\n")[1])
	if want := "shell busybox:1 1 1 0 True"; strings.Join(columns[:6], " ") != want {
		t.Errorf("kubectl get pbt prints %v, want %s", columns, want)
	}
}

func (c *cluster) taintEvicts(t *testing.T) {
	t.Helper()
	// It tolerates what the pool has now, and nothing else.
	c.apply(t, `apiVersion: v1
kind: Pod
metadata: {name: bystander}
spec:
  terminationGracePeriodSeconds: 1
  tolerations: [{key: example.com/batch, operator: Exists, effect: NoSchedule}]
  containers: [{name: main, image: busybox:1, imagePullPolicy: IfNotPresent, command: [sh]}]
`)
	c.do(t, "wait", "--for=condition=Ready", "--timeout=60s", "pod/bystander")
	before := c.podOf(t.Context(), t, "job")
	c.do(t, "patch", "nodepool", "batch", "--type=merge", "-p",
		`{"spec":{"taints":[{"key":"example.com/batch","value":"yes","effect":"NoSchedule"},{"key":"example.com/drain","effect":"NoExecute"}]}}`)
	eventually(t, "the bystander is gone", func(ctx context.Context) error {
		err := c.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: "bystander"}, &corev1.Pod{})
		if !apierrors.IsNotFound(err) {
			return errors.Join(err, errors.New("it is there"))
		}
		return nil
	})
	// The pool's own pod goes too, because a pod's tolerations are of the time it was made; the next one tolerates the taint.
	eventually(t, "another pod of the pool has come", func(ctx context.Context) error {
		if pod := c.podOf(ctx, t, "job"); pod == nil || pod.UID == before.UID {
			return errors.New("it has not")
		}
		return nil
	})
	c.podSetBecomes(t, "job", 1)
}
