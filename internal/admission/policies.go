// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admissionregistrationv1ac "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// PolicyObjects returns the objects that all pools share: the two policies, and the binding of the policy that has no parameter. They
// never match pods in kube-system or in the operator's namespace. The operator's namespace is empty if it runs outside of the cluster.
func PolicyObjects(operatorNamespace string) ([]Object, error) {
	choose, err := choosePolicy(operatorNamespace)
	if err != nil {
		return nil, err
	}
	label, err := labelPolicy(operatorNamespace)
	if err != nil {
		return nil, err
	}
	labelled, err := labelPolicyBinding()
	if err != nil {
		return nil, err
	}
	return []Object{choose, label, labelled}, nil
}

// choosePolicy is invoked again if a later plugin changes the pod: a webhook can replace the tolerations.
func choosePolicy(operatorNamespace string) (Object, error) {
	ref := ChooseRef()
	mutation := admissionregistrationv1ac.Mutation().
		WithPatchType(admissionregistrationv1.PatchTypeJSONPatch).
		WithJSONPatch(admissionregistrationv1ac.JSONPatch().WithExpression(choosePatch))
	spec := admissionregistrationv1ac.MutatingAdmissionPolicySpec().
		WithParamKind(paramKind()).
		WithMatchConstraints(podRequests(operatorNamespace, admissionregistrationv1.Create)).
		WithMatchConditions(notMirrored()).
		WithMutations(mutation).
		WithFailurePolicy(admissionregistrationv1.Ignore).
		WithReinvocationPolicy(admissionregistrationv1.IfNeededReinvocationPolicy)
	spec.WithVariables(variables(chooseVariables())...)
	return shared(ref, admissionregistrationv1ac.MutatingAdmissionPolicy(ref.Name).WithSpec(spec))
}

// labelPolicy matches only pods with the label, so that its failures affect no other pods.
func labelPolicy(operatorNamespace string) (Object, error) {
	ref := Ref{ValidatingPolicy, labelPolicyName}
	labelled := metav1ac.LabelSelector().WithMatchExpressions(metav1ac.LabelSelectorRequirement().
		WithKey(nodesv1.PoolLabel).WithOperator(metav1.LabelSelectorOpExists))
	validation := admissionregistrationv1ac.Validation().
		WithExpression(labelHonoured).
		WithMessage("cannot place the pod by its label " + nodesv1.PoolLabel).
		WithMessageExpression(labelMessage).
		WithReason(metav1.StatusReasonForbidden)
	return shared(ref, admissionregistrationv1ac.ValidatingAdmissionPolicy(ref.Name).
		WithSpec(admissionregistrationv1ac.ValidatingAdmissionPolicySpec().
			WithMatchConstraints(podRequests(operatorNamespace, admissionregistrationv1.Create).WithObjectSelector(labelled)).
			WithMatchConditions(notMirrored()).
			WithValidations(validation).
			WithFailurePolicy(admissionregistrationv1.Fail)))
}

func labelPolicyBinding() (Object, error) {
	ref := Ref{ValidatingBinding, labelPolicyName}
	return shared(ref, admissionregistrationv1ac.ValidatingAdmissionPolicyBinding(ref.Name).
		WithSpec(admissionregistrationv1ac.ValidatingAdmissionPolicyBindingSpec().
			WithPolicyName(labelPolicyName).
			WithValidationActions(admissionregistrationv1.Deny)))
}

func paramKind() *admissionregistrationv1ac.ParamKindApplyConfiguration {
	return admissionregistrationv1ac.ParamKind().
		WithAPIVersion(nodesv1.SchemeGroupVersion.String()).WithKind(kindNodePool)
}

// podRequests matches the requests that policies apply to. It relies on the name label of namespaces, which is immutable.
func podRequests(
	operatorNamespace string, operations ...admissionregistrationv1.OperationType,
) *admissionregistrationv1ac.MatchResourcesApplyConfiguration {
	left := []string{metav1.NamespaceSystem}
	if operatorNamespace != "" {
		left = append(left, operatorNamespace)
	}
	slices.Sort(left)
	namespaces := metav1ac.LabelSelector().WithMatchExpressions(metav1ac.LabelSelectorRequirement().
		WithKey(corev1.LabelMetadataName).WithOperator(metav1.LabelSelectorOpNotIn).
		WithValues(slices.Compact(left)...))
	return admissionregistrationv1ac.MatchResources().
		WithNamespaceSelector(namespaces).
		WithMatchPolicy(admissionregistrationv1.Equivalent).
		WithResourceRules(admissionregistrationv1ac.NamedRuleWithOperations().
			WithAPIGroups(corev1.GroupName).WithAPIVersions("v1").WithResources("pods").
			WithOperations(operations...).
			WithScope(admissionregistrationv1.NamespacedScope))
}

// notMirrored excludes mirror pods, which show the static pods of a kubelet: those already run.
func notMirrored() *admissionregistrationv1ac.MatchConditionApplyConfiguration {
	return admissionregistrationv1ac.MatchCondition().
		WithName("no-mirror-pod").
		WithExpression("!has(object.metadata.annotations) || !('" + corev1.MirrorPodAnnotationKey + "' in object.metadata.annotations)")
}

// variable is a named expression. It can use the variables before it.
type variable struct{ name, expression string }

func variables(list []variable) []*admissionregistrationv1ac.VariableApplyConfiguration {
	out := make([]*admissionregistrationv1ac.VariableApplyConfiguration, 0, len(list))
	for _, v := range list {
		out = append(out, admissionregistrationv1ac.Variable().WithName(v.name).WithExpression(v.expression))
	}
	return out
}
