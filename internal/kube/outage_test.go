// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

func refused() error {
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	return fmt.Errorf("cannot list: %w", &url.Error{Op: "Get", URL: "https://127.0.0.1:1/api", Err: dial})
}

func TestIsUnreachable(t *testing.T) {
	t.Parallel()
	const calling = `failed calling webhook "w": ` // as the API server begins what it says of a webhook
	cases := map[string]struct {
		err  error
		want bool
	}{
		"no error":       {},
		"nobody listens": {err: refused(), want: true},
		"the network does not lead to it": {
			err: &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}}, want: true,
		},
		"its name is not found": {err: &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}}, want: true},
		"the network has lost it": {
			err: &url.Error{Op: "Get", Err: &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)}}, want: true,
		},
		"nobody answers behind its address": {err: &url.Error{Op: "Get", Err: errors.New("net/http: TLS handshake timeout")}, want: true},
		"a load balancer waits for it in vain": {
			err: apierrors.NewGenericServerResponse(http.StatusGatewayTimeout, "GET", schema.GroupResource{}, "", "", 0, true), want: true,
		},
		"it takes too long itself": {err: apierrors.NewTimeoutError("request did not complete within the allotted timeout", 1)},
		"the caller gave up before there was a connection": {
			err: &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: context.Canceled}},
		},
		"the connection broke": {err: &url.Error{Op: "Get", Err: syscall.ECONNRESET}, want: true},
		"the answer broke off": {err: &url.Error{Op: "Get", Err: io.EOF}, want: true},
		"a load balancer does not reach it": {
			err:  fmt.Errorf("cannot list: %w", apierrors.NewGenericServerResponse(http.StatusBadGateway, "GET", schema.GroupResource{}, "", "", 0, true)),
			want: true,
		},
		"its own error": {
			err: apierrors.NewGenericServerResponse(http.StatusInternalServerError, "GET", schema.GroupResource{}, "", "", 0, true),
		},
		"it does not know the kind of an owner yet": {
			err: apierrors.NewForbidden(schema.GroupResource{Group: "node.k8s.io", Resource: "runtimeclasses"}, "red",
				errors.New("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion nodes.lailin.xyz/v1 Kind NodePool")),
			want: true,
		},
		"a webhook breaks the connection":   {err: apierrors.NewInternalError(errors.New(calling + "read: connection reset by peer"))},
		"a webhook does not shake its hand": {err: apierrors.NewInternalError(errors.New(calling + "net/http: TLS handshake timeout"))},
		"it is starting":                    {err: apierrors.NewServiceUnavailable("not ready"), want: true},
		"it refuses the request":            {err: apierrors.NewForbidden(schema.GroupResource{}, "x", errors.New("no"))},
		"it is too busy":                    {err: apierrors.NewTooManyRequests("later", 1)},
		"the caller gave up":                {err: context.Canceled},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := IsUnreachable(tc.err); got != tc.want {
				t.Errorf("IsUnreachable(%v) is %t", tc.err, got)
			}
		})
	}
}

func TestACacheWaitsOutAnOutage(t *testing.T) {
	t.Parallel()
	lists, watches := 0, 0
	source := &toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			if lists++; lists < 20 {
				return nil, refused()
			}
			return &corev1.NodeList{}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			if watches++; watches < 20 {
				return nil, apierrors.NewServiceUnavailable("stopping")
			}
			return nil, apierrors.NewResourceExpired("too old")
		},
	}
	held := persist(source, time.Microsecond)
	if _, err := held.ListWithContext(t.Context(), metav1.ListOptions{}); err != nil || lists != 20 {
		t.Errorf("the list ended with %v after %d requests, want its answer after 20", err, lists)
	}
	if _, err := held.WatchWithContext(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) || watches != 20 {
		t.Errorf("the watch ended with %v after %d requests, want its answer after 20", err, watches)
	}
}

func TestACacheRestedAfterAnOutageBecauseRolesWereNotReadYet(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("no role allows it"))
	answers := []error{refused(), forbidden, forbidden, nil, forbidden}
	requests := 0
	source := &toolscache.ListWatch{ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		requests++
		return &corev1.NodeList{}, answers[requests-1]
	}}
	held := persist(source, time.Microsecond)
	if _, err := held.ListWithContext(t.Context(), metav1.ListOptions{}); err != nil || requests != 4 {
		t.Errorf("after an outage the list ended with %v after %d requests, want its answer after 4", err, requests)
	}
	if _, err := held.ListWithContext(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) || requests != 5 {
		t.Errorf("without an outage the list ended with %v after %d requests, want the refusal at once", err, requests-4)
	}
}

func TestAnOutageDoesNotHoldBackTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	source := &toolscache.ListWatch{ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		cancel()
		return nil, refused()
	}}
	if _, err := persist(source, time.Hour).ListWithContext(ctx, metav1.ListOptions{}); !IsUnreachable(err) {
		t.Errorf("the list ended with %v", err)
	}
}
