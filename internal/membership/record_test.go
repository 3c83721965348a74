// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// TestANodeIsCleanedWhoseRecordIsLong: two pools with as many keys as their schema takes, all of them long, were put on a node and never
// taken off again.
func TestANodeIsCleanedWhoseRecordIsLong(t *testing.T) {
	t.Parallel()
	all := byName(pools(longest("a").Overwrite(nodesv1.OverwriteRestore), longest("b")))
	n := node().Role("a").Role("b").Label(longKey("a", "label", 0), "before").Obj()
	before := n.DeepCopy()
	plan := NewPlan(n, all)
	for _, original := range plan.Originals {
		all["a"].Status.Originals = Remember(all["a"].Status.Originals, n, original)
	}
	plan = NewPlan(n, all)
	apply(t, n, plan)
	if size := len(n.Annotations[nodesv1.AppliedAnnotation]); size <= 64<<10 {
		t.Fatalf("the record has %d bytes, which is not what this is about", size)
	}
	if diff := cmp.Diff(plan.Record, ParseRecord(n).String()); diff != "" {
		t.Error("the record is not read as it was written")
	}

	for _, pool := range []string{"a", "b"} {
		delete(n.Labels, nodesv1.RoleLabel(pool))
		delete(before.Labels, nodesv1.RoleLabel(pool))
	}
	apply(t, n, NewPlan(n, all))
	if diff := cmp.Diff(before, n, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the node is not as it was (-want +got):\n%s", diff)
	}
}

// TestAttackARecordNamesThousandsOfPools: a kubelet may write 256 KiB of names into its record, each of which was indexed and looked for.
func TestAttackARecordNamesThousandsOfPools(t *testing.T) {
	t.Parallel()
	record := Record{}
	for i := range maxPools + 1 {
		record.add(fmt.Sprint("invented-", i), onLabels, "a")
	}
	n := node().Role("gpu").With(carries(full("gpu"))).Annotation(nodesv1.AppliedAnnotation, record.String()).Obj()
	if diff := cmp.Diff([]string{"gpu"}, Concerned(n)); diff != "" {
		t.Errorf("the node is found by other names than its pool's (-want +got):\n%s", diff)
	}
	apply(t, n, NewPlan(n, byName(pools(full("gpu")))))
	if diff := cmp.Diff([]string{"gpu"}, ParseRecord(n).pools()); diff != "" {
		t.Errorf("the record is not written anew (-want +got):\n%s", diff)
	}
}

// longest is a pool with as many keys as its schema takes, each as long as it may be.
func longest(name string) *build.PoolBuilder {
	builder := pool(name)
	for i := range 64 {
		builder.Label(longKey(name, "label", i), "of-the-pool")
	}
	for i := range 32 {
		builder.Taint(longKey(name, "taint", i), "", corev1.TaintEffectNoSchedule)
	}
	return builder.With(func(p *nodesv1.NodePool) {
		p.Spec.Annotations = map[string]nodesv1.AnnotationValue{}
		for i := range 32 {
			p.Spec.Annotations[longKey(name, "annotation", i)] = ""
		}
	})
}

// longKey is a key of 317 bytes: a DNS name of 253, a slash and a name of 63.
func longKey(pool, aspect string, number int) string {
	part := strings.Repeat("d", 62) + "."
	own := fmt.Sprintf("%s-%s-%d-", pool, aspect, number)
	return strings.Repeat(part, 4) + "d/" + own + strings.Repeat("n", 63-len(own))
}
