// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// ending is why what a caller follows has to end.
type ending int

// Endings.
const (
	// endLeft is a caller who has left.
	endLeft ending = iota
	// endStopping is a process that stops.
	endStopping
	// endExpired is a session that has ended, or a token that the API server no longer accepts.
	endExpired
	// endDenied is a right that was taken away.
	endDenied
)

// cutError is why what a caller follows was ended here, although it goes on.
type cutError struct{ reason string }

// Error implements error.
func (e *cutError) Error() string { return e.reason }

// cutsOff returns why what a caller follows is cut off; nil for a caller who has left.
func (e ending) cutsOff() error {
	if e == endLeft {
		return nil
	}
	return &cutError{e.String()}
}

// String implements fmt.Stringer: what a caller is told.
func (e ending) String() string {
	switch e {
	case endExpired:
		return "the session has ended, or the API server no longer accepts the token"
	case endDenied:
		return "the caller no longer has the right"
	default:
		return "the gateway stops"
	}
}

// need is a right that what a caller follows ends with: to an object of the kind, or without a name to all of a namespace.
type need struct {
	kind   *feed.Kind
	action view.Action
	of     Target
}

// awaitEnd waits until what a caller follows has to end. Until the API server says so, it goes on. It asks for the rights of the
// caller as they were reviewed last: groups change while a text is open.
func (a *API) awaitEnd(ctx context.Context, who *access.Caller, needs ...need) ending {
	recheck := time.NewTicker(a.Recheck)
	defer recheck.Stop()
	for {
		select {
		case <-ctx.Done():
			return endLeft
		case <-a.stopping:
			return endStopping
		case <-recheck.C:
		}
		now, valid, err := a.Identity.Refresh(ctx, who)
		switch {
		case err != nil: // the rights of whom they were last can still be taken away
		case !valid:
			return endExpired
		default:
			who = now
		}
		for i := range needs {
			one := &needs[i]
			if allowed, err := a.Rights.MayDo(ctx, who, &one.kind.Kind, one.action, one.of.namespace, one.of.name); err == nil && !allowed {
				return endDenied
			}
		}
	}
}
