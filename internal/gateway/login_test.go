// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/login"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// logIn logs in with the token and returns the cookie as a browser sends it.
func (r *rig) logIn(t *testing.T, token string, header ...string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"token": token})
	must(t, err)
	got := r.do(t, http.MethodPost, "/v1/session", "", string(body), header...)
	if got.status != http.StatusOK || strings.Contains(string(got.body), token) {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	return got.cookie(t)
}

// cookie returns the one cookie that an answer sets.
func (a answer) cookie(t *testing.T) string {
	t.Helper()
	set := a.header.Values("Set-Cookie")
	if len(set) != 1 {
		t.Fatalf("the cookies are %q", set)
	}
	pair, _, _ := strings.Cut(set[0], ";")
	return pair
}

// TestLogin is a page's day: it logs in, reads, writes and logs out.
func TestLogin(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.ClusterName = "prod" })
	ns := r.Namespace(t)
	r.service(t, ns, "a")
	home := r.Namespace(t)
	token := r.token(t, home, "user")
	r.grant(t, home, ns, rule("list,create", "", "services"))
	began := time.Now()
	cookie := r.logIn(t, token)

	got := r.do(t, http.MethodGet, "/v1/session", "", "", "Cookie", cookie)
	var session view.Login
	must(t, json.Unmarshal(got.body, &session))
	want := view.Login{User: "system:serviceaccount:" + home + ":user", Method: string(login.ByToken), Cluster: "prod"}
	if diff := cmp.Diff(want, session, cmpopts.IgnoreFields(view.Login{}, "Groups", "ExpiresAt", "IdleEndsAt")); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
	// The token is valid for an hour, as is the session then.
	if end := session.ExpiresAt.Sub(began); end < 50*time.Minute || end > 2*time.Hour {
		t.Errorf("it ends in %s", end)
	}
	if diff := cmp.Diff([]string{ns + "/a"}, r.do(t, http.MethodGet, "/v1/services?ns="+ns, "", "", "Cookie", cookie).names(t)); diff != "" {
		t.Errorf("it reads (-want +got):\n%s", diff)
	}
	service := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"b"},"spec":{"ports":[{"port":80}]}}`
	own := []string{"Cookie", cookie, "Origin", r.base, "Sec-Fetch-Site", "same-origin"}
	if got := r.do(t, http.MethodPost, "/v1/services?ns="+ns, "", service, own...); got.status != http.StatusCreated {
		t.Errorf("a write: %d %s", got.status, got.body)
	}
	if got := r.do(t, http.MethodGet, "/v1/nodes", "", "", "Cookie", cookie); got.status != http.StatusForbidden {
		t.Errorf("what the user cannot read: %d", got.status)
	}
	gone := r.do(t, http.MethodDelete, "/v1/session", "", "", own...)
	if gone.status != http.StatusNoContent || !strings.Contains(gone.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logging out: %d %v", gone.status, gone.header)
	}
	if got := r.do(t, http.MethodDelete, "/v1/session", "", ""); got.status != http.StatusNoContent {
		t.Errorf("logging out twice: %d", got.status)
	}
	for what, least := range map[string]int{"Login": 1, "Logout": 1} {
		if lines := r.log.with(`"` + what + `"`); len(lines) != least || !strings.Contains(lines[0], want.User) {
			t.Errorf("the log of %s is %q", what, lines)
		}
	}
}

// TestASessionOfAHeader tells those who have no cookie who they are.
func TestASessionOfAHeader(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Session = true })
	method := func(header ...string) string {
		t.Helper()
		var session view.Login
		got := r.do(t, http.MethodGet, "/v1/session", "", "", header...)
		if got.status != http.StatusOK {
			return string(got.problem(t).Code)
		}
		must(t, json.Unmarshal(got.body, &session))
		if (session.ExpiresAt != nil) != (session.Method == "token") {
			t.Errorf("the session ends at %v", session.ExpiresAt)
		}
		return session.Method
	}
	begun := r.do(t, http.MethodGet, "/?session="+secretOf(t, r.g), "", "").cookie(t)
	other := r.logIn(t, r.user(t, "default"))
	steps := []struct {
		about, want string
		header      []string
	}{
		{"nobody", "Unauthorized", nil},
		{"a token", "bearer", []string{"Authorization", "Bearer " + r.user(t, "default")}},
		{"the secret of local mode", "kubeconfig", []string{"Authorization", "Bearer " + secretOf(t, r.g)}},
		{"the cookie of local mode", "kubeconfig", []string{"Cookie", begun}},
		{"a login", "token", []string{"Cookie", other}},
		{"a login in local mode", "token", []string{"Cookie", begun + "; " + other}},
		{"a header beside the cookie of a login", "bearer", []string{"Cookie", other, "Authorization", "Bearer " + r.user(t, "default")}},
		{"a header that is not accepted beside a cookie that is", "Unauthorized", []string{"Cookie", other, "Authorization", "Bearer invented"}},
	}
	for _, step := range steps {
		if got := method(step.header...); got != step.want {
			t.Errorf("%s: %s, want %s", step.about, got, step.want)
		}
	}
	r.do(t, http.MethodDelete, "/v1/session", "", "", "Cookie", begun)
	if got := method("Cookie", begun); got != "Unauthorized" {
		t.Errorf("after logging out of local mode: %s", got)
	}
}

// TestCookieOverTLS is what a browser gets that is not on this machine.
func TestCookieOverTLS(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Plaintext = false })
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.base+"/v1/session",
		strings.NewReader(`{"token":`+strconv.Quote(r.user(t, "default"))+`}`))
	must(t, err)
	request.Header.Set("Content-Type", mediaJSON)
	response, err := transport.RoundTrip(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	name, rest, _ := strings.Cut(response.Header.Get("Set-Cookie"), "=")
	_, attributes, _ := strings.Cut(rest, "; ")
	if diff := cmp.Diff([]string{"__Host-windlass-session", "Path=/; HttpOnly; Secure; SameSite=Strict"}, []string{name, attributes}); diff != "" {
		t.Errorf("the cookie (-want +got):\n%s", diff)
	}
}

// TestALogoutEndsStreams has a page that is still open when its user logs out.
func TestALogoutEndsStreams(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	cookie := r.logIn(t, r.user(t, ns, rule("list,watch", "", "services")))
	status, stream := r.eventSource(t, "/v1/watch?kinds=services", "Cookie", cookie, "Sec-Fetch-Site", "same-origin")
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	lines := bufio.NewReader(stream)
	for line := ""; !strings.HasPrefix(line, completeLine); {
		var err error
		line, err = lines.ReadString('\n')
		must(t, err)
	}
	r.do(t, http.MethodDelete, "/v1/session", "", "", "Cookie", cookie)
	rest, err := io.ReadAll(lines) // which ends
	must(t, err)
	if !strings.HasSuffix(string(rest), "event: expired\ndata: {\"type\":\"expired\"}\n\n") {
		t.Errorf("after the snapshot the stream is %q", rest)
	}
}

// eventSource opens a stream as a browser does.
func (r *rig) eventSource(t *testing.T, path string, header ...string) (status int, stream io.Reader) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+path, http.NoBody)
	must(t, err)
	request.Header.Set("Accept", feed.MediaType)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	must(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response.StatusCode, response.Body
}

// TestARevokedTokenEndsTheSession deletes the account whose token a browser has logged in with.
func TestARevokedTokenEndsTheSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	home := r.Namespace(t)
	cookie := r.logIn(t, r.token(t, home, "user"))
	must(t, r.Live.Delete(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "user"}}))
	testkit.Eventually(t, "the session has ended", func() bool {
		got := r.do(t, http.MethodGet, "/v1/session", "", "", "Cookie", cookie)
		return got.status == http.StatusUnauthorized && got.problem(t).Code == "SessionEnded"
	})
}

// TestATokenWithALineEndWritesNothing logs in with what "cat" or a file makes of a token. Reviews trim a token and nothing else does, so the session
// had begun, and its writes failed as if the API server were away.
func TestATokenWithALineEndWritesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	token := r.user(t, ns, rule("create", "", "services"))
	cookie := r.logIn(t, token+"\n")
	service := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"b"},"spec":{"ports":[{"port":80}]}}`
	if got := r.do(t, http.MethodPost, "/v1/services?ns="+ns, "", service, "Cookie", cookie); got.status != http.StatusCreated {
		t.Errorf("a write: %d %s", got.status, got.body)
	}
	broken, err := json.Marshal(map[string]string{"token": token[:9] + "\n" + token[9:]})
	must(t, err)
	if got := r.do(t, http.MethodPost, "/v1/session", "", string(broken)); got.status != http.StatusUnauthorized {
		t.Errorf("a line end in the middle: %d %s", got.status, got.body)
	}
}

// TestASessionOutlivesAReviewThatFailed has an API server that cannot check tokens for a while, as after its start. What it says of that begins like a
// refusal, and the next request of each browser used to end its session for good.
func TestASessionOutlivesAReviewThatFailed(t *testing.T) {
	t.Parallel()
	var failing atomic.Bool
	r := standIn(t, reviews{
		groups:  func(string) ([]string, bool) { return nil, !failing.Load() },
		because: func() string { return "[invalid bearer token, oidc: authenticator not initialized]" },
		allowed: func([]string) bool { return true },
	}, nil, Options{})
	cookie := r.logIn(t, "annas-own")
	ask := func() answer { return r.do(t, http.MethodGet, "/v1/session", "", "", "Cookie", cookie) }
	failing.Store(true)
	testkit.Eventually(t, "the token is reviewed again", func() bool { return ask().status != http.StatusOK })
	if got := ask(); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("meanwhile: %d %s", got.status, got.body)
	}
	failing.Store(false)
	if got := ask(); got.status != http.StatusOK {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
}

// TestAPageThatNobodyTouchesStaysLoggedIn: a page asks again by itself for what it shows, every ten seconds or when something changes, and each of these
// requests kept the session from being idle.
func TestAPageThatNobodyTouchesStaysLoggedIn(t *testing.T) {
	t.Parallel()
	clock := &laterClock{}
	r := newRig(t, idleAfter(10*time.Minute, clock))
	token := r.user(t, "", rule("list,watch", "", "services"))
	tests := map[string]struct {
		cookie string
		ask    func(t *testing.T, cookie string)
		ends   bool
	}{
		"a person asks": {r.logIn(t, token), func(t *testing.T, cookie string) {
			t.Helper()
			r.do(t, http.MethodGet, "/v1/services", "", "", "Cookie", cookie)
		}, false},
		"the page asks": {r.logIn(t, token), func(t *testing.T, cookie string) {
			t.Helper()
			if got := r.do(t, http.MethodGet, "/v1/services", "", "", "Cookie", cookie, "Windlass-Unattended", "1"); got.status != http.StatusOK {
				t.Errorf("meanwhile: %d %s", got.status, got.body)
			}
		}, true},
		"the browser opens its stream again": {r.logIn(t, token), func(t *testing.T, cookie string) {
			t.Helper()
			if status, _ := r.eventSource(t, "/v1/watch?kinds=services", "Cookie", cookie); status != http.StatusOK {
				t.Errorf("meanwhile: %d", status)
			}
		}, true},
	}
	clock.add(6 * time.Minute)
	for _, test := range tests {
		test.ask(t, test.cookie)
	}
	clock.add(6 * time.Minute)
	for name, test := range tests {
		got := r.do(t, http.MethodGet, "/v1/session", "", "", "Cookie", test.cookie)
		if ended := got.status == http.StatusUnauthorized && got.problem(t).Code == "SessionEnded"; ended != test.ends {
			t.Errorf("%s: status %d: %s", name, got.status, got.body)
		}
	}
}
