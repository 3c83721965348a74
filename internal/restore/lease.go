// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// leasePoll is how often Leases are looked at: a manager renews its own every two seconds.
	leasePoll = time.Second
	// assumedValidity is that of a Lease that does not say how long it is valid.
	assumedValidity = 15 * time.Second

	// holder is who holds the Lease while a backup is restored, and holdValidity how long managers wait after a restore that was killed. It is
	// renewed that often, and so also between two slow requests.
	holder       = "windlass restore"
	holdValidity = time.Minute
	renewPeriod  = 10 * time.Second
	// releaseTimeout bounds the last request of a restore that was broken off.
	releaseTimeout = 5 * time.Second
)

// leases are the Leases that somebody holds.
type leases map[client.ObjectKey]*coordinationv1.Lease

// nobodyLeads returns an error if a manager holds the Lease, or one with its name in another namespace. As in an election, no time in a Lease counts,
// because clocks differ: a Lease is free if it does not change for as long as it is valid.
func (r *Restorer) nobodyLeads(ctx context.Context) error {
	seen, err := r.heldLeases(ctx)
	if err != nil {
		return err
	}
	left := time.Duration(0)
	for key, lease := range seen {
		valid := validity(lease)
		left = max(left, valid)
		err := r.say("%q holds the Lease %q. Looking for %s whether it still renews it.", ptr.Deref(lease.Spec.HolderIdentity, ""), key, valid)
		if err != nil {
			return err
		}
	}
	for ; left > 0; left -= leasePoll {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.After(leasePoll):
		}
		now, err := r.heldLeases(ctx)
		if err != nil {
			return err
		}
		for key, lease := range now {
			if before := seen[key]; before == nil || before.ResourceVersion != lease.ResourceVersion {
				return r.leads(key, lease)
			}
		}
	}
	return nil
}

// heldLeases returns all Leases of the name that somebody holds: a manager can run in another namespace than the caller thinks. It keeps the one of
// this cluster's managers, held or not, so that nobody can take it unnoticed.
func (r *Restorer) heldLeases(ctx context.Context) (leases, error) {
	var list coordinationv1.LeaseList
	err := r.Client.List(ctx, &list, client.MatchingFields{metav1.ObjectNameField: r.Lease.Name})
	if apierrors.IsForbidden(err) {
		var one coordinationv1.Lease
		err = client.IgnoreNotFound(r.Client.Get(ctx, r.Lease, &one))
		list.Items = []coordinationv1.Lease{one}
		if err == nil && !r.narrow {
			r.narrow = true
			err = r.say("Only the Lease %q is looked at, because you may not list those of other namespaces: make sure that no manager runs there.", r.Lease)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the Lease %q, which says whether a manager runs: %w", r.Lease, err)
	}
	out := leases{}
	r.lease = nil
	for i := range list.Items {
		lease := &list.Items[i]
		key := client.ObjectKeyFromObject(lease)
		if key == r.Lease {
			r.lease = lease
		}
		if ptr.Deref(lease.Spec.HolderIdentity, "") != "" {
			out[key] = lease
		}
	}
	return out, nil
}

func validity(lease *coordinationv1.Lease) time.Duration {
	if seconds := ptr.Deref(lease.Spec.LeaseDurationSeconds, 0); seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return assumedValidity
}

// leads is the error about a manager, or another restore, that runs.
func (r *Restorer) leads(key client.ObjectKey, lease *coordinationv1.Lease) error {
	elsewhere := ""
	if key.Namespace != r.Lease.Namespace {
		elsewhere = " with --lease-lock-namespace=" + key.Namespace
	}
	if ptr.Deref(lease.Spec.HolderIdentity, "") == holder {
		return fmt.Errorf("cannot restore while another restore runs, which holds the Lease %q: wait until it has ended, and try again%s", key, elsewhere)
	}
	return fmt.Errorf("cannot restore while a manager runs, because it would make anew what is not restored yet: %q holds the Lease %q; "+
		"scale the Deployment to 0 and try again%s", ptr.Deref(lease.Spec.HolderIdentity, ""), key, elsewhere)
}

// hold takes the Lease, or renews it, so that a manager that is started meanwhile waits until everything is restored.
func (r *Restorer) hold(ctx context.Context) error {
	now := r.Now()
	if !r.renewed.IsZero() && now.Sub(r.renewed) < renewPeriod {
		return nil
	}
	err := r.sign(ctx, holder)
	switch {
	case err == nil:
		r.renewed = now
		return nil
	case apierrors.IsNotFound(err) && r.renewed.IsZero():
		r.lease = nil // and its namespace may come with the backup: no manager can hold a Lease where there is no namespace
		return nil
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		return fmt.Errorf("cannot go on, because another instance has taken the Lease %q meanwhile: scale the Deployment to 0 and try again", r.Lease)
	default:
		return fmt.Errorf("cannot hold the Lease %q, so that no manager starts meanwhile: %w", r.Lease, err)
	}
}

// release gives the Lease back.
func (r *Restorer) release(ctx context.Context) error {
	if r.renewed.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	r.renewed = time.Time{}
	if err := r.sign(ctx, ""); err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("cannot give the Lease %q back, and managers wait for it up to %s: %w", r.Lease, holdValidity, err)
	}
	return nil
}

// sign writes who holds the Lease. It fails if somebody else has written it since it was read.
func (r *Restorer) sign(ctx context.Context, who string) error {
	now := metav1.NewMicroTime(r.Now())
	next := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: r.Lease.Namespace, Name: r.Lease.Name}}
	if r.lease != nil {
		next = r.lease.DeepCopy()
	}
	if ptr.Deref(next.Spec.HolderIdentity, "") != who {
		next.Spec.AcquireTime = &now
	}
	next.Spec.HolderIdentity, next.Spec.LeaseDurationSeconds, next.Spec.RenewTime = &who, new(int32(holdValidity.Seconds())), &now
	var err error
	if r.lease == nil {
		err = r.Client.Create(ctx, next)
	} else {
		err = r.Client.Patch(ctx, next, client.MergeFromWithOptions(r.lease, client.MergeFromWithOptimisticLock{}))
	}
	if err == nil {
		r.lease = next
	}
	return err
}

func (r *Restorer) say(format string, values ...any) error {
	_, err := fmt.Fprintf(r.Out, format+"\n", values...)
	return err
}
