// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

// masterPool is the article's custom resource, unchanged.
const masterPool = `apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata:
  name: master
spec:
  labels:
    "node-pool.lailin.xyz/master": "8"
    "node-pool.lailin.xyz/test": "2"
  taints:
    - key: node-pool.lailin.xyz
      value: master
      effect: NoSchedule
  handler: runc
`

// pool returns the manifest of a pool with one label and one taint of its own.
func pool(name, value string) string {
	return fmt.Sprintf(`apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: %[1]s}
spec:
  labels: {node-pool.lailin.xyz/%[1]s: "%[2]s"}
  taints: [{key: node-pool.lailin.xyz/%[1]s, value: "%[2]s", effect: PreferNoSchedule}]
`, name, value)
}

// nodeName is the name that devcluster gives to its nth node.
func nodeName(n int) string { return fmt.Sprintf("node-%04d", n) }

// join labels nodes as members of a pool. At the end of the test they are as they were.
func (c *cluster) join(t *testing.T, name string, nodes ...string) {
	t.Helper()
	label := func(ctx context.Context, value string) error {
		body := []byte(fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, nodesv1.RoleLabel(name), value))
		for _, node := range nodes {
			target := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
			if err := c.Client.Patch(ctx, target, client.RawPatch(types.MergePatchType, body)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := label(t.Context(), `""`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := label(context.WithoutCancel(t.Context()), "null"); err != nil {
			t.Error(err)
		}
	})
}

// node returns a node as the API server has it.
func (c *cluster) node(ctx context.Context, name string) (*corev1.Node, error) {
	node := &corev1.Node{}
	return node, c.Client.Get(ctx, client.ObjectKey{Name: name}, node)
}

// snapshot returns what a pool may change on a node.
func (c *cluster) snapshot(t *testing.T, name string) surface {
	t.Helper()
	node, err := c.node(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return surfaceOf(node)
}

// surface is what a pool may change on a node.
type surface struct {
	Labels map[string]string
	Taints []corev1.Taint
	Record string
}

func surfaceOf(node *corev1.Node) surface {
	s := surface{Labels: maps.Clone(node.Labels), Record: node.Annotations[nodesv1.AppliedAnnotation]}
	for _, taint := range node.Spec.Taints {
		taint.TimeAdded = nil
		s.Taints = append(s.Taints, taint)
	}
	return s
}

// with returns the surface with the labels and taints added, whatever the record.
func (s surface) with(labels map[string]string, taints ...corev1.Taint) surface {
	s.Labels = maps.Clone(s.Labels)
	maps.Copy(s.Labels, labels)
	s.Taints = append(append([]corev1.Taint(nil), s.Taints...), taints...)
	return s
}

// becomes waits until a node looks as wanted. A record is compared only where one is wanted to be absent.
func (c *cluster) becomes(t *testing.T, name string, want surface, anyRecord bool) {
	t.Helper()
	eventually(t, "node "+name+" looks as wanted", func(ctx context.Context) error {
		node, err := c.node(ctx, name)
		if err != nil {
			return err
		}
		got := surfaceOf(node)
		if anyRecord {
			got.Record = want.Record
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New("(-want +got):\n" + diff)
		}
		return nil
	})
}

// poolReady waits until a pool is ready with so many nodes.
func (c *cluster) poolReady(t *testing.T, name string, nodes int32) {
	t.Helper()
	eventually(t, fmt.Sprintf("pool %s is ready with %d nodes", name, nodes), func(ctx context.Context) error {
		pool := &nodesv1.NodePool{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, pool); err != nil {
			return err
		}
		s := pool.Status
		if s.ObservedGeneration != pool.Generation || s.NodeCount != nodes || s.SyncedNodeCount != nodes ||
			!apimeta.IsStatusConditionTrue(s.Conditions, status.Ready) {
			return fmt.Errorf("its status is %+v", s)
		}
		return nil
	})
}

// remove deletes an object with kubectl, which waits until it is gone.
func (c *cluster) remove(t *testing.T, kind, name string) {
	t.Helper()
	c.do(t, "delete", kind, name, "--timeout=60s")
}

func TestNodePoolOfTheArticle(t *testing.T) {
	c := need(t)
	node := nodeName(0)
	c.do(t, "label", "node", node, "example.com/foreign=kept")
	c.do(t, "taint", "node", node, "example.com/foreign=kept:NoSchedule")
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		c.Run(ctx, c.Kubectl, "label", "node", node, "example.com/foreign-")
		c.Run(ctx, c.Kubectl, "taint", "node", node, "example.com/foreign-")
	})
	c.join(t, "master", node)
	before := c.snapshot(t, node)
	c.startManager(t)

	c.apply(t, masterPool)
	taint := corev1.Taint{Key: "node-pool.lailin.xyz", Value: "master", Effect: corev1.TaintEffectNoSchedule}
	c.becomes(t, node, before.with(map[string]string{
		"node-pool.lailin.xyz/master":                    "8",
		"node-pool.lailin.xyz/test":                      "2",
		"nodepool.node-restriction.kubernetes.io/master": "",
	}, taint), true)
	c.poolReady(t, "master", 1)

	t.Run("the columns tell its state", func(t *testing.T) {
		lines := strings.Split(strings.TrimSpace(c.do(t, "get", "wnp", "master")), "\n")
		var fields [][]string
		for _, line := range lines {
			fields = append(fields, strings.Fields(line))
		}
		want := [][]string{
			{"NAME", "NODES", "READY", "NODES", "HANDLER", "READY", "REASON", "AGE"},
			{"master", "1", "1", "runc", "True"},
		}
		if len(fields) != 2 || len(fields[1]) < 5 || !cmp.Equal(want[0], fields[0]) || !cmp.Equal(want[1], fields[1][:5]) {
			t.Errorf("kubectl get wnp printed %q", lines)
		}
	})
	t.Run("the RuntimeClass selects its nodes and tolerates its taints", func(t *testing.T) {
		class := &nodev1.RuntimeClass{}
		if err := c.Client.Get(t.Context(), client.ObjectKey{Name: "master"}, class); err != nil {
			t.Fatal(err)
		}
		want := &nodev1.Scheduling{
			NodeSelector: map[string]string{
				"node-pool.lailin.xyz/master":                    "8",
				"node-pool.lailin.xyz/test":                      "2",
				"nodepool.node-restriction.kubernetes.io/master": "",
			},
			Tolerations: []corev1.Toleration{{
				Key: "node-pool.lailin.xyz", Operator: corev1.TolerationOpEqual, Value: "master", Effect: corev1.TaintEffectNoSchedule,
			}},
		}
		if diff := cmp.Diff(want, class.Scheduling); diff != "" || class.Handler != "runc" {
			t.Errorf("handler %q, scheduling (-want +got):\n%s", class.Handler, diff)
		}
		if owner := metav1.GetControllerOf(class); owner == nil || owner.Kind != "NodePool" || owner.Name != "master" {
			t.Errorf("the RuntimeClass is owned by %v", owner)
		}
	})
	t.Run("an update follows", func(t *testing.T) {
		c.apply(t, strings.NewReplacer(`"8"`, `"10"`, "    \"node-pool.lailin.xyz/test\": \"2\"\n", "").Replace(masterPool))
		c.becomes(t, node, before.with(map[string]string{
			"node-pool.lailin.xyz/master":                    "10",
			"nodepool.node-restriction.kubernetes.io/master": "",
		}, taint), true)
	})
	t.Run("what somebody takes away comes back", func(t *testing.T) {
		c.do(t, "taint", "node", node, "node-pool.lailin.xyz-")
		c.do(t, "label", "node", node, "node-pool.lailin.xyz/master-")
		c.becomes(t, node, before.with(map[string]string{
			"node-pool.lailin.xyz/master":                    "10",
			"nodepool.node-restriction.kubernetes.io/master": "",
		}, taint), true)
	})
	t.Run("events tell what happened", func(t *testing.T) {
		if out := c.do(t, "describe", "wnp", "master"); !strings.Contains(out, "windlass-node") {
			t.Errorf("kubectl describe shows no event of Windlass:\n%s", out)
		}
	})
	t.Run("deletion leaves what belongs to others", func(t *testing.T) {
		c.remove(t, "wnp", "master")
		c.becomes(t, node, before, false)
		c.classGone(t, "master")
	})
}

// classGone waits until the garbage collector has removed a RuntimeClass.
func (c *cluster) classGone(t *testing.T, name string) {
	t.Helper()
	eventually(t, "RuntimeClass "+name+" is gone", func(ctx context.Context) error {
		err := c.Client.Get(ctx, client.ObjectKey{Name: name}, &nodev1.RuntimeClass{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("it is there"))
	})
}

func TestManyPoolsOnANode(t *testing.T) {
	c := need(t)
	node := nodeName(1)
	before := c.snapshot(t, node)
	c.startManager(t)
	want := c.snapshotWithRoles(t, node, "red", "green", "blue")
	alone := map[string]surface{}
	for _, name := range []string{"red", "green", "blue"} {
		c.apply(t, pool(name, "1"))
		want = want.with(map[string]string{
			"node-pool.lailin.xyz/" + name:                    "1",
			"nodepool.node-restriction.kubernetes.io/" + name: "",
		}, corev1.Taint{Key: "node-pool.lailin.xyz/" + name, Value: "1", Effect: corev1.TaintEffectPreferNoSchedule})
		c.becomes(t, node, want, true)
		alone[name] = want
	}
	for _, name := range []string{"red", "green", "blue"} {
		c.poolReady(t, name, 1)
	}
	// They go in the order opposite to that in which they came, so every earlier state comes back.
	c.remove(t, "wnp", "blue")
	c.becomes(t, node, alone["green"], true)
	c.remove(t, "wnp", "green")
	c.becomes(t, node, alone["red"], true)
	c.remove(t, "wnp", "red")
	c.becomes(t, node, before.with(map[string]string{
		nodesv1.RoleLabel("red"): "", nodesv1.RoleLabel("green"): "", nodesv1.RoleLabel("blue"): "",
	}), false)
}

// snapshotWithRoles makes a node a member of pools that do not exist yet, and returns what it looks like then.
func (c *cluster) snapshotWithRoles(t *testing.T, node string, pools ...string) surface {
	t.Helper()
	for _, name := range pools {
		c.join(t, name, node)
	}
	return c.snapshot(t, node)
}

func TestNodeThatLeftWhileTheManagerWasDown(t *testing.T) {
	c := need(t)
	stays, leaves := nodeName(2), nodeName(3)
	before := c.snapshot(t, leaves)
	c.join(t, "absent", stays, leaves)
	first := c.startManager(t)
	c.apply(t, pool("absent", "1"))
	c.poolReady(t, "absent", 2)
	if code, _ := first.stop(); code != 0 {
		t.Fatalf("the manager ended with code %d", code)
	}

	c.do(t, "label", "node", leaves, nodesv1.RoleLabel("absent")+"-")
	c.startManager(t)
	c.becomes(t, leaves, before, false)
	c.poolReady(t, "absent", 1)
	c.remove(t, "wnp", "absent")
}
