// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"
)

// issuer is a provider whose answers are made by the test.
type issuer struct {
	clock *clock

	mu     sync.Mutex
	issued int
	// last is the refresh token that is good; each is good once.
	last string
	err  error
}

func (i *issuer) Renew(_ context.Context, old Credential) (Credential, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err != nil {
		return Credential{}, i.err
	}
	if old.Refresh != i.last {
		return Credential{}, refuse(400, "invalid_grant", nil)
	}
	return i.issue(), nil
}

// issue returns a credential that is valid for five minutes.
func (i *issuer) issue() Credential {
	i.issued++
	i.last = "refresh " + strconv.Itoa(i.issued)
	return Credential{Token: expiring(i.clock.now().Add(5 * time.Minute)), Refresh: i.last}
}

func TestSessionsAreRenewed(t *testing.T) {
	t.Parallel()
	away := errors.New("connection refused")
	tests := map[string]struct {
		// then is what happens until the session is looked for.
		then func(*scene)
		// issued is how many credentials there were, and there and in doubt whether the session is there.
		issued       int
		there, doubt bool
	}{
		"its token is valid": {func(s *scene) { s.step(3 * time.Minute) }, 1, true, false},
		"its token will soon expire": {
			func(s *scene) { s.step(4*time.Minute + time.Second) }, 2, true, false,
		},
		"its token has expired": {func(s *scene) { s.step(6 * time.Minute) }, 2, true, false},
		"it is renewed again and again": {func(s *scene) {
			for range 10 {
				s.step(5 * time.Minute)
				s.use()
			}
		}, 11, true, false},
		"the provider refuses while the token is valid": {func(s *scene) {
			s.step(4*time.Minute + time.Second)
			s.issuer.last = "revoked"
		}, 1, true, false},
		"the provider refuses after the token has expired": {func(s *scene) {
			s.step(6 * time.Minute)
			s.issuer.last = "revoked"
		}, 1, false, false},
		"the provider has refused before the token expired": {func(s *scene) {
			s.step(4*time.Minute + time.Second)
			s.issuer.err = refuse(400, "invalid_grant", nil)
			s.use()
			s.issuer.err = nil
			s.step(time.Minute)
		}, 1, false, false},
		"the provider is away while the token is valid": {func(s *scene) {
			s.step(4*time.Minute + time.Second)
			s.issuer.err = away
		}, 1, true, false},
		"the provider is away after the token has expired": {func(s *scene) {
			s.step(6 * time.Minute)
			s.issuer.err = away
		}, 1, false, true},
		"the provider was away a moment ago": {func(s *scene) {
			s.step(6 * time.Minute)
			s.issuer.err = away
			s.use()
			s.issuer.err = nil
			s.step(renewPause - time.Second)
		}, 1, false, true},
		"the provider is back": {func(s *scene) {
			s.step(6 * time.Minute)
			s.issuer.err = away
			s.use()
			s.issuer.err = nil
			s.step(renewPause)
		}, 2, true, false},
		"it is not used for too long, whoever looks": {func(s *scene) {
			for range 12 {
				s.step(5 * time.Minute)
				s.look()
			}
		}, 12, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			provider := &issuer{clock: c}
			table := NewTable(12*time.Hour, time.Hour, provider, c.now)
			cookie, _ := table.Open(Opening{User: "a", Method: ByProvider, Credential: provider.issue()})
			test.then(&scene{clock: c, Table: table, cookie: cookie, issuer: provider})
			s, there, err := table.Look(t.Context(), cookie)
			if there != test.there || (err != nil) != test.doubt || provider.issued != test.issued {
				t.Errorf("it is there: %t (%v) after %d credentials, want %t after %d", there, err, provider.issued, test.there, test.issued)
			}
			if end, _ := ExpiryOf(s.Token); there && !c.now().Before(end) {
				t.Errorf("its token has expired at %s", end)
			}
		})
	}
}

// TestManyRequestsRenewOnce has a provider that accepts each refresh token once.
func TestManyRequestsRenewOnce(t *testing.T) {
	t.Parallel()
	c := newClock()
	provider := &issuer{clock: c}
	table := NewTable(12*time.Hour, time.Hour, provider, c.now)
	cookie, _ := table.Open(Opening{User: "a", Method: ByProvider, Credential: provider.issue()})
	c.step(6 * time.Minute)
	var requests sync.WaitGroup
	for range 50 {
		requests.Go(func() {
			if _, there, err := table.Use(t.Context(), cookie); !there || err != nil {
				t.Errorf("it is there: %t, %v", there, err)
			}
		})
	}
	requests.Wait()
	if provider.issued != 2 {
		t.Errorf("%d credentials were issued, want 2", provider.issued)
	}
}

// TestNoRequestEndsASessionWhoseProviderIsAway has a request that reads that its token has to be renewed, and asks for it just after another one has asked in
// vain. It was told that the session had ended.
func TestNoRequestEndsASessionWhoseProviderIsAway(t *testing.T) {
	t.Parallel()
	c := newClock()
	provider := &issuer{clock: c}
	table := NewTable(12*time.Hour, time.Hour, provider, c.now)
	cookie, late := table.Open(Opening{User: "a", Method: ByProvider, Credential: provider.issue()})
	provider.err = errors.New("connection refused")
	c.step(6 * time.Minute)
	if _, there, err := table.Use(t.Context(), cookie); there || err == nil {
		t.Errorf("without the provider it is there: %t, %v", there, err)
	}
	if _, there, err := table.renewed(t.Context(), cookie, late); there || err == nil {
		t.Errorf("to who comes after that it is there: %t, %v", there, err)
	}
}

func TestLocalPath(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want  string
		local bool
	}{
		"":                      {"/", true},
		"/":                     {"/", true},
		"/nodes/a?tab=pods#top": {"/nodes/a?tab=pods#top", true},
		"/a b":                  {"/a%20b", true},
		"/a?b c":                {"/a?b%20c", true},
		"/节点":                   {"/%E8%8A%82%E7%82%B9", true},
		"/a?to=https://b.c":     {"/a?to=https://b.c", true},
		"//evil.example":        {"", false},
		"///evil.example":       {"", false},
		`/\evil.example`:        {"", false},
		"/\t/evil.example":      {"", false},
		"/\n/evil.example":      {"", false},
		"https://evil.example":  {"", false},
		"javascript:alert(1)":   {"", false},
		"evil.example":          {"", false},
		"/%zz":                  {"", false},
		"/a\r\nSet-Cookie: b=c": {"", false},
	}
	for text, test := range tests {
		got, local := LocalPath(text)
		if got != test.want || local != test.local {
			t.Errorf("%q is %q, %t; want %q, %t", text, got, local, test.want, test.local)
		}
	}
}

func FuzzLocalPath(f *testing.F) {
	f.Add("/a;b?c=d#e")
	f.Add(`/\\a`)
	f.Fuzz(func(t *testing.T, text string) {
		got, local := LocalPath(text)
		if !local {
			return
		}
		if len(got) == 0 || got[0] != '/' || len(got) > 1 && (got[1] == '/' || got[1] == '\\') {
			t.Errorf("%q leads to %q", text, got)
		}
		for _, one := range got {
			if one <= ' ' || one == 0x7f || one == '\\' {
				t.Errorf("%q leads to %q", text, got)
			}
		}
	})
}
