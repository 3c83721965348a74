// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

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
	// maxBuckets is how many keys are counted at once; the least recently used one is forgotten.
	maxBuckets = 4096
	// bucketTTL is how long an idle bucket is kept: longer than any bucket takes to fill.
	bucketTTL = 10 * time.Minute
)

// Limiter gives each key a bucket of requests. A nil Limiter has no limit.
type Limiter struct {
	perSecond float64
	burst     int
	buckets   *utilcache.LRUExpireCache
	now       func() time.Time
}

// NewLimiter returns a Limiter; 0 requests a second is no limit.
func NewLimiter(perSecond float64, burst int, now func() time.Time) *Limiter {
	if perSecond <= 0 {
		return nil
	}
	return &Limiter{perSecond: perSecond, burst: burst, buckets: utilcache.NewLRUExpireCache(maxBuckets), now: now}
}

func (l *Limiter) bucket(key string) *rate.Limiter {
	if found, ok := l.buckets.Get(key); ok {
		if bucket, ok := found.(*rate.Limiter); ok {
			return bucket
		}
	}
	bucket := rate.NewLimiter(rate.Limit(l.perSecond), l.burst)
	l.buckets.Add(key, bucket, bucketTTL)
	return bucket
}

// Take takes one request from the bucket, or returns how long the caller has to wait for one.
func (l *Limiter) Take(key string) time.Duration { return l.Charge(key, 1) }

// Charge takes as many requests from the bucket as one of them is worth, at most all that it can have, or returns how long the caller has to wait
// for them.
func (l *Limiter) Charge(key string, requests int) time.Duration {
	if l == nil || requests <= 0 {
		return 0
	}
	now := l.now()
	reservation := l.bucket(key).ReserveN(now, min(requests, l.burst))
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now) // a refused request takes nothing
	}
	return wait
}

// TooMany is the problem of a caller that has to wait.
func TooMany(wait time.Duration) *view.Problem {
	seconds := int(math.Ceil(wait.Seconds()))
	out := view.NewProblem(http.StatusTooManyRequests, "TooManyRequests",
		fmt.Sprintf("Too many requests from this caller. Try again in %d seconds.", seconds))
	out.RetryAfter = strconv.Itoa(seconds)
	return out.With(view.ParameterSeconds, out.RetryAfter)
}
