// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"cmp"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"
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
)

// Opening is what a session begins with.
type Opening struct {
	// User is who has logged in, by the name that the API server knows.
	User string
	// Method is how.
	Method Method
	// Token is sent to the API server.
	Token string
}

// Session is what a cookie stands for.
type Session struct {
	Opening

	// Expires is when the session ends, and IdleEnd when it ends unless it is used before.
	Expires, IdleEnd time.Time
}

// Table holds the sessions of one process, in memory.
type Table struct {
	lifetime, idle time.Duration
	now            func() time.Time
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
}

// NewTable returns a table whose sessions end after the lifetime, and after the idle time without a request.
func NewTable(lifetime, idle time.Duration, now func() time.Time) *Table {
	return &Table{lifetime: lifetime, idle: idle, now: now, most: maxSessions, each: perUser, sessions: map[digest]*entry{}}
}

// Open begins a session and returns the value of its cookie, which is always a new one.
func (t *Table) Open(o Opening) (cookie string, s Session) {
	cookie = rand.Text()
	now := t.now()
	e := &entry{user: o.User, method: o.Method, sealed: seal(cookie, []byte(o.Token)), expires: now.Add(t.lifetime), used: now}
	if end, known := ExpiryOf(o.Token); known && end.Before(e.expires) {
		e.expires = end
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.makeRoom(o.User, now)
	t.sessions[digestOf(cookie)] = e
	return cookie, t.session(e, o.Token)
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
	return !now.Before(e.expires) || now.Sub(e.used) >= t.idle
}

// session returns the session of the entry, whose token that is.
func (t *Table) session(e *entry, token string) Session {
	return Session{
		Opening: Opening{User: e.user, Method: e.method, Token: token}, Expires: e.expires, IdleEnd: earlier(e.expires, e.used.Add(t.idle)),
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Use returns the session of the cookie for a request of its user, which begins the idle time again.
func (t *Table) Use(cookie string) (Session, bool) { return t.find(cookie, true) }

// Look returns the session of the cookie without using it, as a stream does that a page has left open.
func (t *Table) Look(cookie string) (Session, bool) { return t.find(cookie, false) }

func (t *Table) find(cookie string, use bool) (Session, bool) {
	key, now := digestOf(cookie), t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.sessions[key]
	if !ok {
		return Session{}, false
	}
	token, ok := unseal(cookie, e.sealed)
	if !ok || t.ended(e, now) {
		delete(t.sessions, key)
		return Session{}, false
	}
	if use {
		e.used = now
	}
	return t.session(e, string(token)), true
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
