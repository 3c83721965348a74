// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/windlass-operator/windlass/internal/gateway/login"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestLoginAtTheProvider is a person's day: they log in at the provider, read, watch, and log out.
func TestLoginAtTheProvider(t *testing.T) {
	t.Parallel()
	s, b := newServer(t), newBrowser(t)
	grantServices(t)
	if got := b.get(s.base + "/v1/session/methods"); got.body != `{"methods":["token","oidc"]}`+"\n" {
		t.Errorf("the methods are %s", got.body)
	}
	back := b.enter(b.begin(s, "/nodes?q=a b#top"))
	back.wantText(t, http.StatusOK, "You are logged in as oidc:id1.")
	if got := back.header.Get("Refresh"); got != "0; url=/nodes?q=a%20b#top" {
		t.Errorf("the browser goes on to %q", got)
	}
	for _, cookie := range back.header.Values("Set-Cookie") {
		name, attributes, _ := strings.Cut(cookie, "=")
		if !strings.HasPrefix(name, "__Host-windlass-") || !strings.Contains(attributes, "; HttpOnly; Secure; SameSite=") {
			t.Errorf("the cookie %s is set", cookie)
		}
	}
	var session view.Login
	must(t, json.Unmarshal([]byte(b.get(s.base+"/v1/session").body), &session))
	want := view.Login{User: "oidc:id1", Groups: []string{"system:authenticated"}, Method: "oidc"}
	if diff := cmp.Diff(want, session, cmpopts.IgnoreFields(view.Login{}, "ExpiresAt", "IdleEndsAt")); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
	testkit.Eventually(t, "the person reads what they may", func() bool { return b.get(s.base+"/v1/services").status == http.StatusOK })
	if got := b.get(s.base + "/v1/nodes"); got.status != http.StatusForbidden || !strings.Contains(got.body, "oidc:id1") {
		t.Errorf("what they may not read: %d %s", got.status, got.body)
	}
	ended := b.watch(s)
	if got := b.open(http.MethodDelete, s.base+"/v1/session", ""); got.status != http.StatusNoContent {
		t.Errorf("logging out: %d %s", got.status, got.body)
	}
	if event := <-ended; event != "expired" {
		t.Errorf("the last event of the stream is %q", event)
	}
	if b.loggedIn(s) {
		t.Error("after logging out there is a session")
	}
}

// grantServices lets the first user of the provider read Services.
func grantServices(t *testing.T) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(shared.config)
	must(t, err)
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "services-"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"list", "watch"}}},
	}
	role, err = clients.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	must(t, err)
	_, err = clients.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "oidc:id1"}},
	}, metav1.CreateOptions{})
	must(t, err)
}

// watch opens an EventSource, waits for the end of its snapshot, and delivers the name of its last event.
func (b *browser) watch(s *server) <-chan string {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, s.base+"/v1/watch?kinds=services", http.NoBody)
	must(b.t, err)
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := b.Do(request)
	must(b.t, err)
	b.t.Cleanup(func() { _ = response.Body.Close() })
	received := bufio.NewScanner(response.Body)
	for received.Scan() && !strings.Contains(received.Text(), `"done":true`) {
		continue
	}
	last := make(chan string, 1)
	go func() {
		name := ""
		for received.Scan() {
			if event, ok := strings.CutPrefix(received.Text(), "event: "); ok {
				name = event
			}
		}
		last <- name
	}()
	return last
}

// TestASessionIsRenewed has a person who stays for longer than an ID token is valid.
func TestASessionIsRenewed(t *testing.T) {
	t.Parallel()
	s, b := newServer(t), newBrowser(t)
	b.enter(b.begin(s, "/"))
	before := strings.Count(shared.grants.text(), "refresh_token")
	// The provider's tokens are valid for an hour. The second one takes the refresh token that came with the first.
	for _, rest := range []time.Duration{45 * time.Second, 30 * time.Second} {
		s.ahead.Store(int64(time.Hour - rest))
		if !b.loggedIn(s) {
			t.Fatal("the session has ended")
		}
	}
	testkit.Eventually(t, "the provider has issued new tokens", func() bool {
		return strings.Count(shared.grants.text(), "refresh_token") >= before+2
	})
}

// TestASessionWithoutARefreshTokenEnds has a provider that is not asked for one.
func TestASessionWithoutARefreshTokenEnds(t *testing.T) {
	t.Parallel()
	s, b := newServer(t, func(o *login.ProviderOptions) { o.Scopes = nil }), newBrowser(t)
	b.enter(b.begin(s, "/"))
	if !b.loggedIn(s) {
		t.Fatal("there is no session")
	}
	s.ahead.Store(int64(time.Hour + time.Second))
	if got := b.get(s.base + "/v1/session"); got.status != http.StatusUnauthorized || !strings.Contains(got.body, `"code":"SessionEnded"`) {
		t.Errorf("after an hour: %d %s", got.status, got.body)
	}
}

// TestAnAPIServerThatDoesNotTakeTheTokens is configured with another client.
func TestAnAPIServerThatDoesNotTakeTheTokens(t *testing.T) {
	t.Parallel()
	s, b := newServer(t, func(o *login.ProviderOptions) { o.ClientID = "stranger" }), newBrowser(t)
	b.enter(b.begin(s, "/")).wantText(t, http.StatusForbidden, "The API server does not accept the ID token of the OpenID provider.")
	if b.loggedIn(s) {
		t.Error("there is a session")
	}
}

// TestAProviderThatDoesNotAnswer is away, or another one than was configured.
func TestAProviderThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	away := testkit.SilentPort(t)
	s, b := newServer(t, func(o *login.ProviderOptions) { o.IssuerURL = "https://" + away }), newBrowser(t)
	b.get(s.base+"/v1/session/oidc").wantText(t, http.StatusBadGateway, "The OpenID provider cannot be reached. The log has the reason.")
	if !strings.Contains(s.log.text(), "cannot discover the OpenID provider https://"+away) {
		t.Errorf("the log is %s", s.log.text())
	}
}
