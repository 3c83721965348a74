// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	admissionregistrationv1ac "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// allowed returns the selector of the namespaces that may use the pool. A selector that is not valid allows no namespace.
func allowed(pool *nodesv1.NodePool) labels.Selector {
	given := pool.Spec.AllowedNamespaces
	if given == nil || given.From != nodesv1.NamespacesFromSelector {
		return labels.Everything()
	}
	selector, err := metav1.LabelSelectorAsSelector(given.Selector)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

// allowedPolicy refuses pods that choose the pool from a namespace that may not use it. It matches the pods of all namespaces, because a
// label selector cannot be inverted; a CEL expression checks the selector instead.
//
// The pool is written into the policy and is not its parameter: an API server does not know custom resources for up to 30 seconds
// after it starts, and would refuse every pod in the cluster during that time.
func allowedPolicy(pool *nodesv1.NodePool, operatorNamespace string) (Object, error) {
	present := reachesPoolExpression(pool)
	object, err := allowedPolicyFor(pool, operatorNamespace, present)
	object.meanwhile = func(live client.Object) (Object, error) {
		every := append([]string{present}, earlierReaches(live, namesPoolExpression(pool.Name)+orReaches, present)...)
		return allowedPolicyFor(pool, operatorNamespace, strings.Join(every, orEarlier))
	}
	return object, err
}

// allowedPolicyFor returns the policy for pods that name the pool, and for those that reach its nodes by the expression.
func allowedPolicyFor(pool *nodesv1.NodePool, operatorNamespace, reaches string) (Object, error) {
	ref := allowedPolicyRef(pool.Name)
	selector := allowed(pool)
	validation := admissionregistrationv1ac.Validation().
		WithExpression(selectorExpression(selector)).
		WithMessage(fmt.Sprintf("NodePool %q may not be used from this namespace", pool.Name)).
		WithMessageExpression(allowedMessage(pool.Name, selector)).
		WithReason(metav1.StatusReasonForbidden)
	moves := admissionregistrationv1ac.MatchCondition().
		WithName("moves").WithExpression(movesExpression())
	chooses := admissionregistrationv1ac.MatchCondition().
		WithName(choosesPool).WithExpression(namesPoolExpression(pool.Name) + orReaches + reaches)
	spec := admissionregistrationv1ac.ValidatingAdmissionPolicySpec().
		WithMatchConstraints(podRequests(operatorNamespace, admissionregistrationv1.Create, admissionregistrationv1.Update)).
		WithMatchConditions(moves, notMirrored(), chooses).
		WithVariables(admissionregistrationv1ac.Variable().WithName("labels").WithExpression(namespaceLabels)).
		WithValidations(validation).
		WithFailurePolicy(admissionregistrationv1.Fail)
	return guarding(pool, ref, admissionregistrationv1ac.ValidatingAdmissionPolicy(ref.Name).WithSpec(spec))
}

func allowedBinding(pool *nodesv1.NodePool) (Object, error) {
	ref := allowedBindingRef(pool.Name)
	return guarding(pool, ref, admissionregistrationv1ac.ValidatingAdmissionPolicyBinding(ref.Name).
		WithSpec(admissionregistrationv1ac.ValidatingAdmissionPolicyBindingSpec().
			WithPolicyName(allowedPolicyRef(pool.Name).Name).
			WithValidationActions(admissionregistrationv1.Deny)))
}

// orReaches stands between the pods that name a pool and those that reach its nodes.
const orReaches = " ||\n"

const namespaceLabels = `has(namespaceObject.metadata.labels) ? namespaceObject.metadata.labels : {}`

// namesPoolExpression is true for a pod that chooses the pool by its RuntimeClass, by the pool label, or by a label that its members carry,
// now or with another spec. Every pod may avoid a pool.
func namesPoolExpression(pool string) string {
	return fmt.Sprintf(`(has(object.spec.runtimeClassName) && object.spec.runtimeClassName == %[1]q) ||
(has(object.metadata.labels) && %[2]q in object.metadata.labels && object.metadata.labels[%[2]q] == %[1]q) ||
(has(object.spec.nodeSelector) && object.spec.nodeSelector.exists(k, k in %[3]s)) ||
%[4]s.exists(t, has(t.matchExpressions) && t.matchExpressions.exists(e,
  e.key in %[3]s && e.operator != 'NotIn' && e.operator != 'DoesNotExist'))`,
		pool, nodesv1.PoolLabel, listExpression(nodesv1.MemberLabel(pool), nodesv1.AddressLabel(pool), nodesv1.RoleLabel(pool)), podTerms)
}

// selectorExpression is true if the selector matches the labels of the namespace, which are in a variable.
func selectorExpression(selector labels.Selector) string {
	requirements, selectable := selector.Requirements()
	if !selectable {
		return "false"
	}
	terms := make([]string, 0, len(requirements))
	for i := range requirements {
		terms = append(terms, requirementExpression(&requirements[i]))
	}
	return strings.Join(terms, " &&\n")
}

func requirementExpression(requirement *labels.Requirement) string {
	key := strconv.Quote(requirement.Key())
	exists := key + " in variables.labels"
	var values []string
	for _, value := range requirement.ValuesUnsorted() {
		values = append(values, strconv.Quote(value))
	}
	isOneOf := "variables.labels[" + key + "] in [" + strings.Join(values, ", ") + "]"
	switch requirement.Operator() {
	case selection.Exists:
		return exists
	case selection.DoesNotExist:
		return "!(" + exists + ")"
	case selection.NotIn:
		return "!(" + exists + " && " + isOneOf + ")"
	case selection.In, selection.Equals, selection.DoubleEquals:
		return exists + " && " + isOneOf
	default:
		return "false"
	}
}

// allowedMessage is an expression for the refusal. It quotes the selector in the syntax of kubectl -l.
func allowedMessage(pool string, selector labels.Selector) string {
	who := "it is for no namespace, because its selector is not valid"
	if requirements, selectable := selector.Requirements(); selectable {
		texts := make([]string, 0, len(requirements))
		for i := range requirements {
			texts = append(texts, requirements[i].String())
		}
		who = "it is for namespaces with the labels " + strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%q + namespaceObject.metadata.name + %q",
		fmt.Sprintf("NodePool %q may not be used from namespace %s", pool, `"`), `": `+who)
}
