// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

const (
	// choosesPool is the name of the condition that says which pods choose the pool.
	choosesPool = "chooses-the-pool"
	// orEarlier stands in this condition between what brings a pod to nodes as the spec wants them, and to nodes as earlier specs wanted them. It
	// finds them again.
	orEarlier = " ||\n// or, where nodes have not followed yet, with an earlier spec:\n"
	// maxEarlier is how many earlier specs are kept, so that a pool whose nodes never follow does not get an ever longer policy.
	maxEarlier = 4
)

// Behind reports whether nodes may still carry what an earlier spec of the pool wanted.
func Behind(pool *nodesv1.NodePool) bool {
	synced := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.ConditionNodesSynced)
	return synced == nil || synced.Status != metav1.ConditionTrue || synced.ObservedGeneration != pool.Generation
}

// Meanwhile returns the object as it has to be while nodes may be as an earlier spec wanted them: with what live, the object with this name in the
// cluster or nil, says of earlier specs. The ledger names neither the values of labels nor which taints the nodes have that have not followed.
func (o Object) Meanwhile(live client.Object) (Object, error) {
	if o.meanwhile == nil || live == nil {
		return o, nil
	}
	return o.meanwhile(live)
}

// earlierReaches returns the expressions by which pods reached nodes with earlier specs, the last one first. The policy has them and the present one
// behind the prefix.
func earlierReaches(live client.Object, prefix, present string) []string {
	policy, ok := live.(*admissionregistrationv1.ValidatingAdmissionPolicy)
	if !ok {
		return nil
	}
	var earlier []string
	for _, condition := range policy.Spec.MatchConditions {
		reaches, found := strings.CutPrefix(condition.Expression, prefix)
		if condition.Name == choosesPool && found {
			earlier = strings.Split(reaches, orEarlier)
		}
	}
	earlier = slices.DeleteFunc(earlier, func(reaches string) bool { return reaches == present || reaches == reachesNothing })
	return earlier[:min(len(earlier), maxEarlier)]
}
