// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/fence"
)

// The times of the election. The first two are those of Kubernetes' own components. The third is a quarter of theirs: an instance that waits
// for the Lease looks at it after up to 2.2 retryPeriods, so it sees within 1.1 seconds that a Lease is given up. If the holder died, it takes over at most
// 2.2 seconds after the Lease has ended: it sees the last renewal up to 1.1 seconds late, and the end as well. The holder renews the Lease as often as
// Kubernetes' own components do, because a renewal is most of what a manager does while nothing happens.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 500 * time.Millisecond
	renewEvery    = 2 * time.Second
)

// errDeposed says that the Lease names another instance.
var errDeposed = errors.New("another instance holds the lease")

// newFence returns the fence of an instance that takes part in an election, nil for one that does not. The margin is what is left of the
// lease when the election gives up renewing it.
func newFence(conf *config.Config, now func() time.Time) *fence.Fence {
	if !conf.LeaderElect {
		return nil
	}
	return fence.New(leaseDuration, leaseDuration-renewDeadline-renewEvery-retryPeriod, renewEvery, now)
}

// lostLeadership is what controller-runtime says, as text only, when the Lease could not be renewed in time.
const lostLeadership = "leader election lost"

// newLock returns the Lease that instances agree through, signed with the configured identity. It has a connection of its
// own, so that it does not queue up behind the controllers' requests, and each request ends in time for another try.
func newLock(restConfig *rest.Config, conf *config.Config) (resourcelock.Interface, error) {
	own := rest.CopyConfig(restConfig)
	own.UserAgent += "/leader-election"
	own.Timeout = renewDeadline / 2
	leases, err := coordinationv1client.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for the Lease: %w", err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: conf.LeaseLockNamespace, Name: conf.LeaseLockName},
		Client:     leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: conf.HolderIdentity},
	}, nil
}

// announced logs who holds the Lease that this instance waits for: otherwise a second instance only seems to do nothing.
type announced struct {
	resourcelock.Interface

	log logr.Logger

	mu     sync.Mutex
	holder string
}

// Get implements resourcelock.Interface.
func (a *announced) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := a.Interface.Get(ctx)
	if err == nil && a.changed(record.HolderIdentity) && record.HolderIdentity != "" && record.HolderIdentity != a.Identity() {
		a.log.Info("Waiting for the Lease, which another instance holds", "lease", a.Describe(), "holder", record.HolderIdentity)
	}
	return record, raw, err
}

// changed reports whether the holder is another one than before.
func (a *announced) changed(holder string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.holder == holder {
		return false
	}
	a.holder = holder
	return true
}

// releaseTimeout bounds the last requests of the process.
const releaseTimeout = 2 * time.Second

// release makes sure that an instance which has ended does not hold the Lease. Usually, the election releases the Lease. But an
// instance that is stopped while it acquires the Lease drops the answer: it may hold the Lease, or may still get it. So release
// also writes a free Lease, and creates a missing one: a request that is still in flight then comes too late.
func release(ctx context.Context, restConfig *rest.Config, conf *config.Config, now func() time.Time) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	lock, err := newLock(restConfig, conf) // the election's own may still be in use
	if err != nil {
		return err
	}
	for {
		err := free(ctx, lock, now())
		if err == nil || (!apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err)) {
			return err
		}
	}
}

// free writes a Lease without a holder, unless another instance holds it. It creates a missing Lease, because the request that
// would create the Lease for this instance may still be in flight.
func free(ctx context.Context, lock resourcelock.Interface, now time.Time) error {
	record := resourcelock.LeaderElectionRecord{
		LeaseDurationSeconds: 1, RenewTime: metav1.NewTime(now), AcquireTime: metav1.NewTime(now),
	}
	held, _, err := lock.Get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		err = lock.Create(ctx, record)
	case err == nil && held.HolderIdentity != "" && held.HolderIdentity != lock.Identity():
		return nil
	case err == nil:
		record.LeaderTransitions = held.LeaderTransitions
		err = lock.Update(ctx, record)
	}
	if err != nil {
		return fmt.Errorf("cannot release the Lease %s: %w", lock.Describe(), err)
	}
	return nil
}
