// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	stdnet "net"
	"net/http"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// RetryUnreachable is how often an API server that is away is tried again. Exponential backoff would leave caches behind for up to a
// minute after its return.
const RetryUnreachable = time.Second

// retryJitter spreads the retries of all caches.
const retryJitter = 0.2

// maxRefusals is how often an API server that has just started may refuse what it allows as soon as it has read all roles.
const maxRefusals = 10

// IsUnreachable reports whether err says that the API server is away: nobody listens, the network does not lead to it, the connection broke, a
// load balancer does not reach it, or it is starting or stopping. An answer of the API server to the request itself is not such an error, and
// neither is it that the caller has given up.
//
// For up to 30 seconds after its start an API server may not know custom kinds. Then its admission refuses objects that these own.
func IsUnreachable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	if _, answered := errors.AsType[*apierrors.StatusError](err); answered { // in which it may quote how the connection to a webhook broke
		return apierrors.IsServiceUnavailable(err) || isBadGateway(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), unknownOwner)
	}
	return isUnconnected(err) || net.IsConnectionRefused(err) || net.IsConnectionReset(err) || net.IsHTTP2ConnectionLost(err) || net.IsProbableEOF(err)
}

// isUnconnected reports whether no connection was made, or the network did not lead to the other end of one.
func isUnconnected(err error) bool {
	if dial, ok := errors.AsType[*stdnet.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	return errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.ETIMEDOUT) ||
		strings.Contains(err.Error(), "TLS handshake timeout") // the error of net/http has no type
}

// unknownOwner is what the admission plugin OwnerReferencesPermissionEnforcement says when it does not know the kind of an owner.
const unknownOwner = "cannot find RESTMapping"

// isBadGateway reports whether a load balancer in front of the API server has answered. The API server itself never answers 502, and 504 only in
// words of its own.
func isBadGateway(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && (status.ErrStatus.Code == http.StatusBadGateway || status.ErrStatus.Code == http.StatusGatewayTimeout && apierrors.IsUnexpectedServerError(err))
}

// NewInformer returns an informer that is back within a moment of the API server's return.
func NewInformer(
	source toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(Persist(source), object, resync, indexers)
}

// Persist returns a source that waits while the API server is away. A reader never sees the outage, and so never begins
// to back off.
func Persist(source toolscache.ListerWatcher) toolscache.ListerWatcher {
	return persist(source, RetryUnreachable)
}

func persist(source toolscache.ListerWatcher, every time.Duration) *persistent {
	return &persistent{
		ListerWatcher: source, source: toolscache.ToListerWatcherWithContext(source), every: every,
		listOnly: watchlist.DoesClientNotSupportWatchListSemantics(source),
	}
}

type persistent struct {
	toolscache.ListerWatcher // for its deprecated methods, which reflectors do not call where there are others

	source   toolscache.ListerWatcherWithContext
	every    time.Duration
	listOnly bool
}

// IsWatchListSemanticsUnSupported tells the reflector what the source can do.
func (p *persistent) IsWatchListSemanticsUnSupported() bool { return p.listOnly }

// ListWithContext implements cache.ListerWithContext.
func (p *persistent) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return reach(ctx, p.every, func() (runtime.Object, error) { return p.source.ListWithContext(ctx, options) })
}

// WatchWithContext implements cache.WatcherWithContext.
func (p *persistent) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return reach(ctx, p.every, func() (watch.Interface, error) { return p.source.WatchWithContext(ctx, options) })
}

// reach repeats a request until the API server answers it, whatever the answer, or ctx ends. Only right after an outage a refusal is not
// an answer yet.
func reach[T any](ctx context.Context, every time.Duration, do func() (T, error)) (T, error) {
	tolerated := 0
	for {
		out, err := do()
		switch {
		case IsUnreachable(err):
			tolerated = maxRefusals
		case apierrors.IsForbidden(err) && tolerated > 0:
			tolerated--
		default:
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(wait.Jitter(every, retryJitter)):
		}
	}
}
