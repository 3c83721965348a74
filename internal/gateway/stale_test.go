// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestAnswersWithoutAWatchSayTheirAge cuts the gateway from its API server: what it still answers says that it may be old, and what has
// to be new is not answered from a cache.
func TestAnswersWithoutAWatchSayTheirAge(t *testing.T) {
	t.Parallel()
	l := &line{}
	r := newRig(t, l.on)
	token, ns := r.user(t, "", everything()), r.Namespace(t)
	r.service(t, ns, "web")
	paths := []string{"/v1/services?ns=" + ns, "/v1/services/" + ns + "/web", "/v1/services/" + ns + "/web/yaml", "/v1/summary"}
	for _, path := range paths {
		testkit.Eventually(t, "the cache has it", func() bool { return r.do(t, http.MethodGet, path, token, "").status == http.StatusOK })
		if got := r.do(t, http.MethodGet, path, token, ""); got.header.Get("Age") != "" || got.header.Get("Warning") != "" {
			t.Errorf("%s says that it is old: %v", path, got.header)
		}
	}
	mend := l.sever()
	for _, path := range paths {
		testkit.Eventually(t, path+" says its age", func() bool {
			got := r.do(t, http.MethodGet, path, token, "")
			age, err := strconv.Atoi(got.header.Get("Age"))
			return got.status == http.StatusOK && err == nil && age > 0 && got.header.Get("Warning") != ""
		})
		separator := "?"
		switch path {
		case paths[0]:
			separator = "&"
		case "/v1/summary":
			continue // which counts what is cached, and nothing else
		}
		if got := r.do(t, http.MethodGet, path+separator+"consistent=true", token, ""); got.status != http.StatusBadGateway {
			t.Errorf("%s has to be new and is answered %d: %s", path, got.status, got.body)
		}
	}
	mend()
	testkit.Eventually(t, "answers are new again", func() bool {
		return r.do(t, http.MethodGet, paths[0], token, "").header.Get("Age") == ""
	})
}

// TestWhatIsMadeFromOldCachesSaysItsAge ends every watch of the gateway for good, as if its account had lost the right. The API server answers everything else. What
// is made from several kinds used to look new.
func TestWhatIsMadeFromOldCachesSaysItsAge(t *testing.T) {
	t.Parallel()
	watching, end := context.WithCancel(t.Context())
	defer end()
	r := newMeddledRig(t, func(request *http.Request) error {
		if request.URL.Query().Get("watch") == "" {
			return nil
		}
		ctx, cancel := context.WithCancel(request.Context())
		context.AfterFunc(watching, cancel)
		*request = *request.WithContext(ctx) //nolint:contextcheck // that of the request, which the test ends early
		return watching.Err()
	})
	s := newShop(t, r)
	admin := r.user(t, "", everything())
	requests := []struct{ method, path, body string }{
		{http.MethodGet, "/v1/search?q=" + s.ns, ""},
		{http.MethodGet, "/v1/apps?ns=" + s.ns, ""},
		{http.MethodGet, "/v1/nodes/" + s.ns + "/why", ""},
		{http.MethodGet, "/v1/nodes/" + s.ns + "/describe", ""},
		{http.MethodGet, "/v1/usage/nodepools/" + s.ns, ""},
		{http.MethodPost, "/v1/nodepools/" + s.ns + "/preview", poolBody(s.ns, `{"labels":{"tier":"gold"}}`)},
	}
	for _, one := range requests {
		if got := r.do(t, one.method, one.path, admin, one.body); got.status != http.StatusOK || got.header.Get("Age") != "" || got.header.Get("Warning") != "" {
			t.Errorf("%s is %d, and says that it is old: %v", one.path, got.status, got.header)
		}
	}
	end()
	for _, one := range requests {
		testkit.Eventually(t, one.path+" says its age", func() bool {
			got := r.do(t, one.method, one.path, admin, one.body)
			age, err := strconv.Atoi(got.header.Get("Age"))
			return got.status == http.StatusOK && err == nil && age > 0 && len(got.header.Values("Warning")) == 1
		})
	}
}

// TestAListThatLacksANamespaceIsNotWhole asks for what the caller may list in two namespaces, of which one is not answered. The other used to
// be all of the list.
func TestAListThatLacksANamespaceIsNotWhole(t *testing.T) {
	t.Parallel()
	var broken atomic.Value
	broken.Store("")
	r := newMeddledRig(t, func(request *http.Request) error {
		if ns := broken.Load(); ns != "" && request.URL.Path == fmt.Sprintf("/api/v1/namespaces/%s/services", ns) {
			return errors.New("the connection is broken")
		}
		return nil
	})
	home := r.Namespace(t)
	token := r.token(t, home, "user")
	spaces := []string{r.Namespace(t), r.Namespace(t)}
	for _, ns := range spaces {
		r.grant(t, home, ns, rule("get,list,watch", "", "services"))
		r.service(t, ns, "web")
	}
	ask := func() answer { return r.do(t, http.MethodGet, "/v1/services?consistent=true", token, "") }
	testkit.Eventually(t, "the caller may list both", func() bool { return len(ask().names(t)) == len(spaces) })
	for _, ns := range spaces {
		broken.Store(ns)
		if got := ask(); got.status != http.StatusBadGateway {
			t.Errorf("without %s the list is answered %d: %s", ns, got.status, got.body)
		}
	}
}

// TestACacheThatLacksAWriteIsNotRead has a cache that does not see a write in time. Its readers get the API server's answer until it has.
func TestACacheThatLacksAWriteIsNotRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token, ns := r.user(t, "", everything()), r.Namespace(t)
	store := r.kind(t, view.ServicesPlural).Store
	must(t, store.Update(object("Service", ns, "ghost", 1))) // which only the cache has
	list := func() []string { return r.do(t, http.MethodGet, "/v1/services?ns="+ns, token, "").names(t) }
	if diff := cmp.Diff([]string{ns + "/ghost"}, list()); diff != "" {
		t.Fatalf("the cache (-want +got):\n%s", diff)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if store.AwaitVersion(late, strconv.Itoa(math.MaxInt)) == nil {
		t.Fatal("the cache has seen the future")
	}
	if diff := cmp.Diff([]string{}, list()); diff != "" {
		t.Errorf("a list (-want +got):\n%s", diff)
	}
	if got := r.do(t, http.MethodGet, "/v1/services/"+ns+"/ghost", token, ""); got.status != http.StatusNotFound {
		t.Errorf("an object that only the cache has: %d", got.status)
	}
}

// TestEventSourceIsNotRefusedInAnOutage holds that a browser reconnects: it never does after an error status.
func TestEventSourceIsNotRefusedInAnOutage(t *testing.T) {
	t.Parallel()
	l := &line{}
	r := newRig(t, l.on)
	token := r.user(t, "", everything()) // nobody has asked for it yet
	mend := l.sever()
	ask := func(accept string) (status int, err error) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+"/v1/watch?kinds=kubeconfigs", http.NoBody)
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Accept", accept)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	if status, err := ask("text/event-stream"); err == nil {
		t.Errorf("an EventSource is answered %d", status)
	}
	if status, err := ask("*/*"); err != nil || status != http.StatusBadGateway {
		t.Errorf("a program is answered %d, %v", status, err)
	}
	mend()
	testkit.Eventually(t, "the stream begins", func() bool {
		status, err := ask("text/event-stream")
		return err == nil && status == http.StatusOK
	})
}

// TestNobodyIsDeniedInDoubt has a stream whose rights cannot be asked for when it begins. It used to say that they were denied.
func TestNobodyIsDeniedInDoubt(t *testing.T) {
	t.Parallel()
	l := &line{}
	r := newRig(t, l.on)
	ns := r.Namespace(t)
	token := r.user(t, ns, rule("list,watch", "", "services"))
	r.service(t, ns, "web")
	testkit.Eventually(t, "the identity is known", func() bool { // of which the rights to watch are not part
		return r.do(t, http.MethodGet, "/v1/services/"+ns+"/absent", token, "").status == http.StatusForbidden
	})
	mend := l.sever()
	f := r.follow(t, token, ns, "", view.ServicesPlural)
	l.inDoubt(t)
	if len(f.events) > 0 {
		t.Errorf("in doubt the stream says %q", describeEvent(<-f.events))
	}
	if got := r.do(t, http.MethodGet, "/v1/me", token, ""); got.status != http.StatusBadGateway {
		t.Errorf("what the caller may see is %d %s", got.status, got.body)
	}
	mend()
	seen := f.until("the snapshot", done)
	for _, event := range seen {
		if event == "denied services" {
			t.Errorf("the stream says %q", seen)
		}
	}
}

// TestReadyMeansFilled holds that nobody is sent to a gateway whose stores are empty, and that a kind which its account cannot watch
// does not keep it from being ready.
func TestReadyMeansFilled(t *testing.T) {
	t.Parallel()
	r := &rig{Harness: testkit.New(t), log: &logLines{}}
	config := rest.AnonymousClientConfig(r.Config)
	config.BearerToken = r.user(t, "", rule("list,watch", "", "services"))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	g, err := New(t.Context(), Options{Config: config, Listener: listener, Now: time.Now})
	must(t, err)
	must(t, listener.Close())
	if err := g.Ready(nil); err == nil || !strings.Contains(err.Error(), view.ServicesPlural) {
		t.Errorf("before its start: %v", err)
	}
	r.serve(t, Options{Config: config, Plaintext: true})
	testkit.Eventually(t, "it is ready", func() bool { return r.g.Ready(nil) == nil })
	if r.kind(t, view.ServicesPlural).Store.Refused() || !r.kind(t, view.DeploymentsPlural).Store.Refused() {
		t.Error("the wrong kinds are refused")
	}
}
