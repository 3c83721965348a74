// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"context"
	"errors"
	"time"
)

// errAway is the error of a session whose token has expired while the provider did not answer.
var errAway = errors.New("the OpenID provider did not answer, so the token of the session could not be renewed")

// Renewer gets new credentials.
type Renewer interface {
	// Renew returns a new credential of the same person. A *Refusal means that there will be none. With another error, a credential that has a refresh
	// token takes the place of the old one all the same.
	Renew(ctx context.Context, old Credential) (Credential, error)
}

const (
	// renewBefore is how long before the end of a token a new one is asked for.
	renewBefore = time.Minute
	// renewPause is how long nobody asks the provider again, whether it has answered or not.
	renewPause = 10 * time.Second
)

// schedule notes when the credential ends and has to be renewed. It needs the lock.
func (e *entry) schedule(c Credential, now time.Time) {
	e.tokenEnd, e.renewAt = time.Time{}, time.Time{}
	end, known := ExpiryOf(c.Token)
	if !known {
		return
	}
	e.tokenEnd = end
	if c.Refresh != "" {
		e.renewAt = earlier(end, later(end.Add(-renewBefore), now.Add(renewPause)))
	}
}

// due reports whether the credential has to be renewed now.
func (e *entry) due(now time.Time) bool { return !e.renewAt.IsZero() && !now.Before(e.renewAt) }

// renew gets a new credential for the session. Requests that come at the same time share one call, because many providers accept a refresh
// token once. An error means that the provider did not answer; a refusal is none, because then the session ends with its token.
func (t *Table) renew(ctx context.Context, cookie string, s Session) error {
	_, err, _ := t.renewing.Do(string(s.key[:]), func() (any, error) {
		t.mu.Lock()
		e, ok := t.sessions[s.key]
		due := ok && e.due(t.now())
		t.mu.Unlock()
		if !due {
			return nil, nil // another request was faster
		}
		// The first request may be cancelled while others still wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*providerTimeout)
		defer cancel()
		fresh, err := t.renewer.Renew(ctx, s.Credential)
		t.store(cookie, s, fresh, err)
		return nil, err
	})
	if _, refused := errors.AsType[*Refusal](err); refused {
		return nil
	}
	return err
}

// store keeps what the provider has answered, unless the session has ended in between.
func (t *Table) store(cookie string, s Session, fresh Credential, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.sessions[s.key]
	if !ok {
		return
	}
	_, refused := errors.AsType[*Refusal](err)
	switch {
	case err == nil:
		if fresh.Refresh == "" {
			fresh.Refresh = s.Refresh // which goes on to be good
		}
		e.sealed = seal(cookie, fresh.encode())
		e.schedule(fresh, t.now())
	case refused:
		e.renewAt = time.Time{} // the session ends with its token
	default:
		if fresh.Refresh != "" {
			e.sealed = seal(cookie, fresh.encode())
		}
		e.renewAt = t.now().Add(renewPause)
	}
}
