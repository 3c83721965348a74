// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// clock is moved by hand.
type clock struct{ at time.Time }

func newClock() *clock                { return &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }
func (c *clock) now() time.Time       { return c.at }
func (c *clock) step(d time.Duration) { c.at = c.at.Add(d) }

// scene is a session of a table, with its clock.
type scene struct {
	*clock
	*Table

	cookie string
	issuer *issuer
}

// use is a request of the session's user, and look that of a stream.
func (s *scene) use()  { _, _, _ = s.Use(context.Background(), s.cookie) }
func (s *scene) look() { _, _, _ = s.Look(context.Background(), s.cookie) }

// expiring returns a token that says when it expires.
func expiring(at time.Time) string {
	return "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, at.Unix())) + ".c2ln"
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// token of the session; the clock stands at its beginning.
		token func(*clock) string
		// then is what happens until the session is looked for.
		then func(*scene)
		want bool
	}{
		"it is there": {nil, func(*scene) {}, true},
		"a session that is used stays until its end": {nil, func(s *scene) {
			for range 11 {
				s.step(time.Hour - time.Second)
				s.use()
			}
		}, true},
		"it ends however much it is used": {nil, func(s *scene) {
			for range 13 {
				s.step(time.Hour - time.Second)
				s.use()
			}
		}, false},
		"it ends if it is not used": {nil, func(s *scene) { s.step(time.Hour) }, false},
		"an open stream does not use it": {nil, func(s *scene) {
			s.step(time.Hour / 2)
			s.look()
			s.step(time.Hour / 2)
		}, false},
		"it ends with its token": {func(c *clock) string { return expiring(c.now().Add(time.Minute)) }, func(s *scene) {
			s.step(time.Minute)
		}, false},
		"a token that expires later does not make it longer": {
			func(c *clock) string { return expiring(c.now().Add(24 * time.Hour)) },
			func(s *scene) {
				for range 13 {
					s.step(time.Hour - time.Second)
					s.use()
				}
			}, false,
		},
		"it is ended": {nil, func(s *scene) { s.End(s.cookie) }, false},
		"another one is ended": {nil, func(s *scene) {
			other, _ := s.Open(Opening{User: "a"})
			s.End(other)
			s.End("")
		}, true},
		"others log in, more than there is room for": {nil, func(s *scene) {
			for i := range s.most {
				s.step(time.Microsecond)
				s.Open(Opening{User: strconv.Itoa(i)})
			}
		}, false},
		"others log in, and it is used": {nil, func(s *scene) {
			for i := range s.most {
				s.step(time.Microsecond)
				s.use()
				s.step(time.Microsecond)
				s.Open(Opening{User: strconv.Itoa(i)})
			}
		}, true},
		"one other user logs in, more often than there is room for": {nil, func(s *scene) {
			for range 2 * s.most {
				s.step(time.Microsecond)
				s.Open(Opening{User: "b"})
			}
		}, true},
		"the same user logs in too often": {nil, func(s *scene) {
			for range s.each {
				s.step(time.Microsecond)
				s.Open(Opening{User: "a"})
			}
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			table := NewTable(12*time.Hour, time.Hour, nil, c.now)
			table.most, table.each = 8, 3
			token := "secret"
			if test.token != nil {
				token = test.token(c)
			}
			cookie, _ := table.Open(Opening{User: "a", Method: ByToken, Credential: Credential{Token: token}})
			test.then(&scene{clock: c, Table: table, cookie: cookie})
			got, ok, err := table.Look(t.Context(), cookie)
			must(t, err)
			if ok != test.want {
				t.Fatalf("the session is there: %t, want %t", ok, test.want)
			}
			if diff := cmp.Diff(Opening{User: "a", Method: ByToken, Credential: Credential{Token: token}}, got.Opening); ok && diff != "" {
				t.Errorf("the session (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSessionSaysWhenItEnds(t *testing.T) {
	t.Parallel()
	c := newClock()
	table := NewTable(12*time.Hour, time.Hour, nil, c.now)
	began := c.now()
	cookie, got := table.Open(Opening{User: "a", Method: ByToken, Credential: Credential{Token: "t"}})
	want := Session{Opening: got.Opening, Expires: began.Add(12 * time.Hour), IdleEnd: began.Add(time.Hour)}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Session{})); diff != "" {
		t.Errorf("at its beginning (-want +got):\n%s", diff)
	}
	for range 23 {
		c.step(time.Hour / 2)
		var err error
		got, _, err = table.Use(t.Context(), cookie)
		must(t, err)
	}
	want.IdleEnd = want.Expires // which comes first
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Session{})); diff != "" {
		t.Errorf("near its end (-want +got):\n%s", diff)
	}
}

// TestAttackMemoryHasTokens looks for tokens and cookies in what a table keeps.
func TestAttackMemoryHasTokens(t *testing.T) {
	t.Parallel()
	table := NewTable(time.Hour, time.Hour, nil, time.Now)
	cookie, _ := table.Open(Opening{User: "a", Credential: Credential{Token: "canary", Refresh: "canary"}})
	for key, e := range table.sessions {
		if bytes.Contains(e.sealed, []byte("canary")) || bytes.Contains(e.sealed, []byte(cookie)) || bytes.Contains(key[:], []byte(cookie)) {
			t.Error("a session at rest has its token or its cookie")
		}
		if _, ok := unseal(string(key[:]), e.sealed); ok {
			t.Error("the table alone opens a session")
		}
	}
}

func TestOnlyTheCookieUnseals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SliceOf(rapid.Byte()).Draw(t, "secret")
		cookie, other := rapid.String().Draw(t, "cookie"), rapid.String().Draw(t, "other")
		sealed := seal(cookie, secret)
		got, ok := unseal(cookie, sealed)
		if !ok || !bytes.Equal(got, secret) {
			t.Fatalf("unsealed is %x, %t", got, ok)
		}
		if _, ok := unseal(other, sealed); ok != (other == cookie) {
			t.Fatalf("another cookie unseals: %t", ok)
		}
		at := rapid.IntRange(0, len(sealed)-1).Draw(t, "at")
		sealed[at] ^= 1
		if _, ok := unseal(cookie, sealed); ok {
			t.Fatal("it is unsealed after a change")
		}
	})
}

func TestExpiryOf(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	claims := func(text string) string { return "e30." + base64.RawURLEncoding.EncodeToString([]byte(text)) + ".c2ln" }
	tests := map[string]struct {
		token string
		want  time.Time
	}{
		"a signed token":                {expiring(at), at},
		"a fraction of a second":        {claims(`{"exp":1800000000.9}`), at},
		"no expiry":                     {claims(`{}`), time.Time{}},
		"an expiry that is no number":   {claims(`{"exp":"soon"}`), time.Time{}},
		"an expiry that is no date":     {claims(`{"exp":1e300}`), time.Time{}},
		"a token without a signature":   {strings.TrimSuffix(expiring(at), ".c2ln"), time.Time{}},
		"a token that says nothing":     {"secret", time.Time{}},
		"a token that is not encoded":   {"a.{}.b", time.Time{}},
		"a token that is not an object": {claims(`[]`), time.Time{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, known := ExpiryOf(test.token)
			if !got.Equal(test.want) || known != !test.want.IsZero() {
				t.Errorf("it expires at %s (%t), want %s", got, known, test.want)
			}
		})
	}
}

func FuzzExpiryOf(f *testing.F) {
	f.Add(expiring(time.Unix(1, 0)))
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		if at, known := ExpiryOf(token); known == at.IsZero() {
			t.Errorf("%q expires at %s, %t", token, at, known)
		}
	})
}

// TestCookiesOfPlainTextHaveAPort has two servers on one machine, whose cookies a browser sends to both.
func TestCookiesOfPlainTextHaveAPort(t *testing.T) {
	t.Parallel()
	plain := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8090/", http.NoBody)
	answer := httptest.NewRecorder()
	Cookies{Port: "8090"}.SetSession(answer, plain, "a")
	want := "windlass-session-of-8090=a; Path=/; HttpOnly; SameSite=Strict"
	if got := answer.Header().Get("Set-Cookie"); got != want {
		t.Errorf("the cookie is %q, want %q", got, want)
	}
	plain.AddCookie(answer.Result().Cookies()[0])
	if got := (Cookies{Port: "8090"}).Session(plain) + (Cookies{Port: "8091"}).Session(plain); got != "a" {
		t.Errorf("both servers read %q", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
