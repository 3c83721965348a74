// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/login"
)

// TestPodsThatStartAfterARenewalHaveNoLog follows the logs of a Deployment for longer than the ID token of the session is valid. The API server
// knows only the newest token.
func TestPodsThatStartAfterARenewalHaveNoLog(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	provider := newIssuer(t, now)
	fresh := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, request *http.Request) {
			if issued := provider.issued(); request.Header.Get("Authorization") != "Bearer "+issued[len(issued)-1] {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next(w, request)
		}
	}
	selector := map[string]string{"app": "web"}
	r := standIn(t, reviews{
		groups:  func(token string) ([]string, bool) { return nil, slices.Contains(provider.issued(), token) },
		allowed: func([]string) bool { return true },
	}, map[string]http.HandlerFunc{
		"GET /apis/apps/v1/namespaces/shop/deployments/web": fresh(func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, appsv1.Deployment{
				TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
				Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: selector}},
			})
		}),
		"GET /api/v1/namespaces/shop/pods": fresh(func(w http.ResponseWriter, _ *http.Request) {
			pods := corev1.PodList{Items: []corev1.Pod{replicaOf("web-abc-1")}}
			if len(provider.issued()) > 1 {
				pods.Items = append(pods.Items, replicaOf("web-abc-2"))
			}
			writeJSON(w, pods)
		}),
		"GET /api/v1/namespaces/shop/pods/web-abc-1/log": fresh(quiet(logLine(1, "one"))),
		"GET /api/v1/namespaces/shop/pods/web-abc-2/log": fresh(quiet(logLine(2, "two"))),
	}, Options{
		Now: now, SessionIdle: 12 * time.Hour, RightsTTL: time.Second, // longer than it takes until the first log counts as read
		Provider: &login.ProviderOptions{IssuerURL: provider.URL, ClientID: "windlass", RedirectURL: "http://127.0.0.1/v1/session/oidc/callback"},
	})
	status, body := r.eventSource(t, "/v1/deployments/shop/web/logs?follow=true", "Cookie", r.logInAt(t, provider))
	if status != http.StatusOK {
		t.Fatalf("the logs are answered %d", status)
	}
	logs := linesOf(t, body)
	logs.until("[pod/web-abc-1/main] one")
	ahead.Store(int64(time.Hour - 30*time.Second)) // when the token is renewed
	logs.until("[notice] web-abc-2/main has joined")
	if seen := logs.until("[pod/web-abc-2/main] two"); len(seen) > 0 {
		t.Errorf("before its log there is %q", seen)
	}
}

// replicaOf is a running pod of the Deployment web.
func replicaOf(name string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "web", "pod-template-hash": "abc"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-abc", UID: "1", Controller: new(true)}},
		},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: "test://" + name}}},
	}
}
