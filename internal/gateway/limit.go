// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/time/rate"
	utilcache "k8s.io/apimachinery/pkg/util/cache"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	// limitedCallers is how many callers are counted at once; the one that was quiet longest is forgotten.
	limitedCallers = 4096
	// limitMemory is how long a quiet caller is remembered: longer than any bucket takes to fill.
	limitMemory = 10 * time.Minute
)

// limiter gives each caller a bucket of requests. A nil limiter limits nobody.
type limiter struct {
	perSecond float64
	burst     int
	buckets   *utilcache.LRUExpireCache
}

// newLimiter returns a limiter; with 0 requests a second there is no limit.
func newLimiter(perSecond float64, burst int) *limiter {
	if perSecond <= 0 {
		return nil
	}
	return &limiter{perSecond: perSecond, burst: burst, buckets: utilcache.NewLRUExpireCache(limitedCallers)}
}

func (l *limiter) bucket(key string) *rate.Limiter {
	if found, ok := l.buckets.Get(key); ok {
		if bucket, ok := found.(*rate.Limiter); ok {
			return bucket
		}
	}
	bucket := rate.NewLimiter(rate.Limit(l.perSecond), l.burst)
	l.buckets.Add(key, bucket, limitMemory)
	return bucket
}

// take takes one request from the caller's bucket, or returns after how long there is one.
func (l *limiter) take(key string) time.Duration {
	if l == nil {
		return 0
	}
	reservation := l.bucket(key).Reserve()
	wait := reservation.Delay()
	if wait > 0 {
		reservation.Cancel() // who is refused uses up nothing
	}
	return wait
}

// after returns how long it takes until the bucket has something, without taking it.
func (l *limiter) after(key string) time.Duration {
	tokens := l.bucket(key).Tokens()
	if tokens >= 1 {
		return 0
	}
	return time.Duration((1 - tokens) / l.perSecond * float64(time.Second))
}

// retryError is a problem after which it is worth to ask again.
type retryError struct {
	*view.Problem

	seconds int
}

// GetHeaders implements huma.HeadersError.
func (e *retryError) GetHeaders() http.Header {
	return http.Header{"Retry-After": {strconv.Itoa(e.seconds)}}
}

// Unwrap returns the problem.
func (e *retryError) Unwrap() error { return e.Problem }

func tooMany(wait time.Duration) *retryError {
	seconds := int(math.Ceil(wait.Seconds()))
	return &retryError{seconds: seconds, Problem: view.NewProblem(http.StatusTooManyRequests, "TooManyRequests",
		fmt.Sprintf("There were too many requests from this caller; there is room again in %d s.", seconds))}
}
