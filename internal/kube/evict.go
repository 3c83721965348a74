// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// Evict asks the API server once to evict the pod of that UID, and returns its answer as it is: a refusal by a disruption budget is
// a "too many requests".
type Evict func(ctx context.Context, pod *corev1.Pod) error

// NewEvict returns an Evict for the API server. It does not do what clients do after the answer "too many requests":
// to wait as long as the server says, ten seconds for a disruption budget, and ask again, up to ten times.
func NewEvict(config *rest.Config, transport *http.Client) (Evict, error) {
	client, err := corev1client.NewForConfigAndClient(config, transport)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for evictions: %w", err)
	}
	return func(ctx context.Context, pod *corev1.Pod) error {
		return client.RESTClient().Post().
			Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("eviction").
			Body(&policyv1.Eviction{
				ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
				DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
			}).
			MaxRetries(0).Do(ctx).Error()
	}, nil
}
