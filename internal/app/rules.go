// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// nowhere is in the place of a namespace, and cannot be the name of one: no RoleBinding counts there, so that the rules are those of the whole
// cluster.
const nowhere = "-"

// nodesOnly is what the API server adds to a list of rules if the authorizer of kubelets is the only one that cannot list its own. It has no
// opinion on other accounts.
const nodesOnly = "node authorizer does not support user rule resolution"

// unlisted returns those rights that are not in the API server's list of this account's rules: one question for each namespace, in place of one
// for each right. Where an authorizer cannot list its rules, it may also deny what another one's rules grant: then each right has to be
// asked for.
func unlisted(ctx context.Context, asker authorizationclient.SelfSubjectRulesReviewInterface, needed []right) ([]right, error) {
	granted, err := rulesOf(ctx, asker, namespacesOf(needed))
	if err != nil {
		return nil, err
	}
	var left []right
	for _, one := range needed {
		if covered, _ := validation.Covers(granted[one.asked.Namespace], []rbacv1.PolicyRule{ruleOf(&one.asked)}); !covered {
			left = append(left, one)
		}
	}
	return left, nil
}

// namespacesOf returns the namespaces that the rights are in, each once.
func namespacesOf(needed []right) []string {
	var out []string
	for _, one := range needed {
		if !slices.Contains(out, one.asked.Namespace) {
			out = append(out, one.asked.Namespace)
		}
	}
	return out
}

// rulesOf returns the rules of this account in each of the namespaces, which it asks for at the same time.
func rulesOf(
	ctx context.Context, asker authorizationclient.SelfSubjectRulesReviewInterface, namespaces []string,
) (map[string][]rbacv1.PolicyRule, error) {
	rules := make([][]rbacv1.PolicyRule, len(namespaces))
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(concurrentReviews)
	for i, namespace := range namespaces {
		asking.Go(func() (err error) {
			rules[i], err = rulesIn(ctx, asker, namespace)
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		return nil, err
	}
	granted := map[string][]rbacv1.PolicyRule{}
	for i, namespace := range namespaces {
		granted[namespace] = rules[i]
	}
	return granted, nil
}

// rulesIn returns the rules of this account in a namespace, or everywhere if that is empty; none if the list of them cannot be relied on.
func rulesIn(ctx context.Context, asker authorizationclient.SelfSubjectRulesReviewInterface, namespace string) ([]rbacv1.PolicyRule, error) {
	if namespace == "" {
		namespace = nowhere
	}
	question := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	answer, err := asker.Create(ctx, question, metav1.CreateOptions{})
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsBadRequest(err) || apierrors.IsInvalid(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !slices.Contains([]string{"", nodesOnly}, answer.Status.EvaluationError):
		return nil, nil
	case answer.Status.Incomplete && answer.Status.EvaluationError == "":
		return nil, nil
	}
	var rules []rbacv1.PolicyRule
	for _, rule := range answer.Status.ResourceRules {
		rules = append(rules, rbacv1.PolicyRule{
			APIGroups: rule.APIGroups, Resources: rule.Resources, Verbs: rule.Verbs, ResourceNames: rule.ResourceNames,
		})
	}
	return rules, nil
}

// ruleOf returns the rule that grants nothing but what is asked for.
func ruleOf(asked *authorizationv1.ResourceAttributes) rbacv1.PolicyRule {
	resource := asked.Resource
	if asked.Subresource != "" {
		resource += "/" + asked.Subresource
	}
	rule := rbacv1.PolicyRule{APIGroups: []string{asked.Group}, Resources: []string{resource}, Verbs: []string{asked.Verb}}
	if asked.Name != "" {
		rule.ResourceNames = []string{asked.Name}
	}
	return rule
}
