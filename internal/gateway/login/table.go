// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// maxSessions is how many sessions there are at a time. The one that was not used for the longest time makes room.
	maxSessions = 4096
	// perUser is how many of them one user can have, so that nobody ends the sessions of others by logging in.
	perUser = 32
)

// Method is how a browser has logged in.
type Method string

// Methods.
const (
	// ByToken is a token that a person has entered.
	ByToken Method = "token"
	// ByProvider is a login at an OpenID provider.
	ByProvider Method = "oidc"
)

// Opening is what a session begins with.
type Opening struct {
	Credential

	// User is who has logged in, by the name that the API server knows.
	User string
	// Method is how.
	Method Method
}

// Session is what a cookie stands for.
type Session struct {
	Opening

	// Expires is when the session ends, and IdleEnd when it ends unless it is used before.
	Expires, IdleEnd time.Time

	key      digest
	tokenEnd time.Time
}

// Table holds the sessions of one process, in memory.
type Table struct {
	lifetime, idle time.Duration
	now            func() time.Time
	renewer        Renewer
	renewing       singleflight.Group
	// most is how many sessions there can be, and each how many of one user.
	most, each int

	mu       sync.Mutex
	sessions map[digest]*entry
}

// entry is a session at rest.
type entry struct {
	user    string
	method  Method
	sealed  []byte
	expires time.Time
	used    time.Time
	// tokenEnd is when the token expires, zero if it does not say, and renewAt when a new one is asked for, zero for never.
	tokenEnd, renewAt time.Time
}

// NewTable returns a table whose sessions end after the lifetime, and after the idle time without a request. The renewer may be nil if no session
// has a refresh token.
func NewTable(lifetime, idle time.Duration, renewer Renewer, now func() time.Time) *Table {
	return &Table{lifetime: lifetime, idle: idle, renewer: renewer, now: now, most: maxSessions, each: perUser, sessions: map[digest]*entry{}}
}

// Open begins a session and returns the value of its cookie, which is always a new one.
func (t *Table) Open(o Opening) (cookie string, s Session) {
	cookie = rand.Text()
	now := t.now()
	e := &entry{user: o.User, method: o.Method, sealed: seal(cookie, o.encode()), expires: now.Add(t.lifetime), used: now}
	e.schedule(o.Credential, now)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.makeRoom(o.User, now)
	key := digestOf(cookie)
	t.sessions[key] = e
	return cookie, t.session(key, e, o.Credential)
}

// makeRoom forgets sessions that have ended, and those that were not used for the longest time if there are too many. It needs the
// lock.
func (t *Table) makeRoom(user string, now time.Time) {
	maps.DeleteFunc(t.sessions, func(_ digest, e *entry) bool { return t.ended(e, now) })
	var own, all []digest
	for key, e := range t.sessions {
		if all = append(all, key); e.user == user {
			own = append(own, key)
		}
	}
	for _, of := range []struct {
		keys []digest
		most int
	}{{own, t.each}, {all, t.most}} {
		if len(of.keys) < of.most {
			continue
		}
		delete(t.sessions, slices.MinFunc(of.keys, func(a, b digest) int {
			return cmp.Or(t.sessions[a].used.Compare(t.sessions[b].used), slices.Compare(a[:], b[:]))
		}))
		return
	}
}

// ended reports whether the session has expired or was idle for too long.
func (t *Table) ended(e *entry, now time.Time) bool {
	return !now.Before(e.end()) || now.Sub(e.used) >= t.idle
}

// end returns when the session ends, however much it is used: at the latest with its token, if that is not renewed.
func (e *entry) end() time.Time {
	if e.tokenEnd.IsZero() || !e.renewAt.IsZero() {
		return e.expires
	}
	return earlier(e.expires, e.tokenEnd)
}

// session returns the session of the entry, whose credential that is.
func (t *Table) session(key digest, e *entry, c Credential) Session {
	return Session{
		Opening: Opening{User: e.user, Method: e.method, Credential: c}, Expires: e.end(), IdleEnd: earlier(e.end(), e.used.Add(t.idle)), key: key, tokenEnd: e.tokenEnd,
	}
}

// Use returns the session of the cookie for a request of its user, which begins the idle time again. An error means that nobody knows
// whether the session goes on.
func (t *Table) Use(ctx context.Context, cookie string) (Session, bool, error) {
	return t.current(ctx, cookie, true)
}

// Look returns the session of the cookie without using it, as a stream does that a page has left open.
func (t *Table) Look(ctx context.Context, cookie string) (Session, bool, error) {
	return t.current(ctx, cookie, false)
}

// Touch begins the idle time of the session of the cookie again, as a request does, and asks nobody.
func (t *Table) Touch(cookie string) { _, _ = t.find(cookie, true) }

// current returns the session with a token that is valid.
func (t *Table) current(ctx context.Context, cookie string, use bool) (Session, bool, error) {
	s, ok := t.find(cookie, use)
	if !ok {
		return Session{}, false, nil
	}
	t.mu.Lock()
	e, ok := t.sessions[s.key]
	due := ok && e.due(t.now())
	t.mu.Unlock()
	switch {
	case !ok:
		return Session{}, false, nil
	case due:
		return t.renewed(ctx, cookie, s)
	case t.expired(&s):
		return Session{}, false, errAway // a moment ago
	default:
		return s, true, nil
	}
}

// renewed returns the session with a new token, or with the one that it has for as long as that is valid.
func (t *Table) renewed(ctx context.Context, cookie string, s Session) (Session, bool, error) {
	err := t.renew(ctx, cookie, s)
	s, ok := t.find(cookie, false)
	if ok && t.expired(&s) { // also if another request has just asked in vain, so that this one has not asked
		return Session{}, false, cmp.Or(err, errAway)
	}
	return s, ok, nil
}

// expired reports whether the token of the session has expired. A session that is still there waits for another one.
func (t *Table) expired(s *Session) bool { return !s.tokenEnd.IsZero() && !t.now().Before(s.tokenEnd) }

func (t *Table) find(cookie string, use bool) (Session, bool) {
	key, now := digestOf(cookie), t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.sessions[key]
	if !ok {
		return Session{}, false
	}
	secret, ok := unseal(cookie, e.sealed)
	if !ok || t.ended(e, now) {
		delete(t.sessions, key)
		return Session{}, false
	}
	if use {
		e.used = now
	}
	return t.session(key, e, decode(secret)), true
}

// End ends the session of the cookie, and returns whose it was. There is none twice.
func (t *Table) End(cookie string) (user string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := digestOf(cookie)
	e, ok := t.sessions[key]
	if !ok {
		return "", false
	}
	delete(t.sessions, key)
	return e.user, true
}
