// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// A pool that was deleted in the foreground lost the policy that keeps other namespaces out at once. Its nodes carried everything until the last pod
// had ended, and pods of every namespace reached them.
func TestAttackPodsReachARestrictedPoolThatIsDeletedInTheForeground(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "foreground", Labels: map[string]string{nodesv1.MemberLabel("foreground"): ""}}}
	c.Create(t, node)
	t.Cleanup(func() { _ = c.Live.Delete(context.WithoutCancel(t.Context()), node) })
	foreign := c.Namespace(t)
	c.Create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: foreign}})
	refused := func() bool {
		err := c.Live.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-", Namespace: foreign},
			Spec: corev1.PodSpec{
				NodeSelector: map[string]string{nodesv1.MemberLabel("foreground"): ""},
				Containers:   []corev1.Container{{Name: "main", Image: "busybox"}},
			},
		}, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), `NodePool "foreground" may not be used from namespace`)
	}
	pool := c.pool(t, "foreground", restricted())
	c.converge(t, pool)
	testkit.Eventually(t, "pods of another namespace are refused", refused)

	c.Get(t, pool)
	must(t, c.Live.Delete(t.Context(), pool, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	c.collect(t, pool)
	c.converge(t, pool)
	guard := []string{"windlass-nodepool-allowed-foreground", "windlass-nodepool-allowed-foreground"}
	if got := c.managed(t); !slices.Equal(got, sorted(append(shared(), guard...))) || !refused() {
		t.Errorf("while the node is still in the pool, pods are refused: %t, by %v", refused(), got)
	}

	must(t, c.Live.Delete(t.Context(), node))
	c.converge(t, pool)
	testkit.Edit(t, c.Harness, pool, func(p *nodesv1.NodePool) { p.Finalizers = nil }) // the collector's is left
	c.converge(t, pool)
	if got := c.managed(t); c.Get(t, pool) || len(got) != 0 {
		t.Errorf("the pool is left, or %v", got)
	}
}

// collect does what the garbage collector, which does not run here, does first when a pool is deleted in the foreground.
func (c *cluster) collect(t *testing.T, pool *nodesv1.NodePool) {
	t.Helper()
	dependents := append(objects(t.Context(), t, c.Live), &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}})
	for _, object := range dependents {
		if c.Get(t, object) && metav1.IsControlledBy(object, pool) {
			must(t, c.Live.Delete(t.Context(), object))
		}
	}
}
