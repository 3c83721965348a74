// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/rest"
)

// ownSubject returns the account of this process, as "kubectl create rolebinding" takes it: for messages that say how to give it a right.
// Every account may ask who it is.
func ownSubject(ctx context.Context, restConfig *rest.Config) (string, error) {
	asker, err := authenticationclient.NewForConfig(restConfig)
	if err != nil {
		return "", fmt.Errorf("cannot make a client for the API server at %s: %w", restConfig.Host, err)
	}
	review, err := asker.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot ask the API server for the name of this account: %w", err)
	}
	user := review.Status.UserInfo.Username
	if namespace, name, err := serviceaccount.SplitUsername(user); err == nil {
		return fmt.Sprintf("--serviceaccount=%s:%s", namespace, name), nil
	}
	return "--user=" + user, nil
}
