// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/client"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// line is the connection between the gateway and the API server, which can be held up and cut.
type line struct {
	mu sync.Mutex
	// held is closed when answers get through again; nil while they do.
	held chan struct{}
	cut  bool
	// reviews is how often somebody has asked who a caller is or what they may do since the line was cut.
	reviews int
	open    map[*lineConn]struct{}
}

type lineConn struct {
	net.Conn

	line   *line
	closed chan struct{}
	once   sync.Once
}

// dial implements rest.Config.Dial.
func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	out := &lineConn{Conn: conn, line: l, closed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return nil, errors.Join(fmt.Errorf("cannot reach %s: the line is cut", address), conn.Close())
	}
	if l.open == nil {
		l.open = map[*lineConn]struct{}{}
	}
	l.open[out] = struct{}{}
	return out, nil
}

// Read passes on what the API server sends, but not while the line is held.
func (c *lineConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.line.mu.Lock()
	held := c.line.held
	c.line.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-c.closed:
		}
	}
	return n, err
}

// Close implements net.Conn.
func (c *lineConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// hold keeps back all answers until the returned function is called, or the test ends.
func (l *line) hold(t *testing.T) (release func()) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	held := make(chan struct{})
	l.held = held
	release = sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		close(held)
		l.held = nil
	})
	t.Cleanup(release)
	return release
}

// sever cuts all connections and lets no new ones through until the returned function is called.
func (l *line) sever() (mend func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut, l.reviews = true, 0
	for conn := range l.open {
		_ = conn.Close()
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.cut = false
	}
}

// reviewCounter counts reviews among the requests.
type reviewCounter struct {
	http.RoundTripper

	line *line
}

// RoundTrip implements http.RoundTripper.
func (c reviewCounter) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.URL.Path, "reviews") {
		c.line.mu.Lock()
		c.line.reviews++
		c.line.mu.Unlock()
	}
	return c.RoundTripper.RoundTrip(request)
}

// inDoubt waits until a stream whose line is cut has asked in vain. Nobody else may ask at the time. It asks for fewer reviews for one
// question, and does not ask the next one before it knows that the last has failed.
func (l *line) inDoubt(t *testing.T) {
	t.Helper()
	reviewed := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.reviews
	}
	before := reviewed()
	testkit.Eventually(t, "the stream has asked in vain", func() bool { return reviewed() > before+10 })
}

// on puts the line between a gateway and its API server. Rights are believed for longer than any test takes.
func (l *line) on(o *Options) {
	o.Config.Dial, o.RightsTTL = l.dial, time.Hour
	o.Config.Wrap(func(next http.RoundTripper) http.RoundTripper { return reviewCounter{RoundTripper: next, line: l} })
}

const serviceBody = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"ports":[{"port":1}]}}`

// warm makes the gateway know the caller and their right to create Services, and have a connection for them.
func (r *rig) warm(t *testing.T, token, namespace string) {
	t.Helper()
	if got := r.do(t, http.MethodGet, "/v1/services/"+namespace+"/absent", token, ""); got.status != http.StatusNotFound {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	// A body of another kind is refused after it is known that the caller may create Services.
	if got := r.do(t, http.MethodPost, "/v1/services?ns="+namespace, token, "{}"); got.status != http.StatusUnprocessableEntity {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
}

// post sends a write in the background, and returns when the API server has done it and its answer is on the way.
func (r *rig) post(ctx context.Context, t *testing.T, token, namespace string) (answered chan error) {
	t.Helper()
	answered = make(chan error, 1)
	c := &client.Client{Base: r.base, Token: token}
	go func() {
		_, err := client.Kind[corev1.Service]{Plural: view.ServicesPlural}.Create(ctx, c, namespace, webService("web"), client.WriteOptions{})
		answered <- err
	}()
	testkit.Eventually(t, "the API server has the Service", func() bool { //nolint:contextcheck // because ctx ends before the test does
		web := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		return r.Get(t, web)
	})
	return answered
}

// TestWhoLeavesCancelsTheCall is a half of the ninth defect: what the gateway asks for a caller ends when he leaves. The API server's
// answer never comes, so nothing but that can have ended it.
func TestWhoLeavesCancelsTheCall(t *testing.T) {
	t.Parallel()
	l := &line{}
	r := newRig(t, l.on)
	token, ns := r.user(t, "", everything()), r.Namespace(t)
	r.warm(t, token, ns)
	l.hold(t)
	ctx, leave := context.WithCancel(t.Context())
	answered := r.post(ctx, t, token, ns)
	if lines := r.log.with(`"msg"="Write"`); len(lines) > 0 {
		t.Fatalf("there is an answer already: %q", lines)
	}
	leave()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller gets %v", err)
	}
	testkit.Eventually(t, "the call has ended", func() bool { return len(r.log.with(`"msg"="Write"`)) == 1 })
}

// TestAnswersHaveAnEnd is the other: an API server that does not answer is waited for so long and no longer, while a stream that is
// older than that goes on.
func TestAnswersHaveAnEnd(t *testing.T) {
	t.Parallel()
	l := &line{}
	r := newRig(t, l.on, func(o *Options) { o.Timeout = time.Second })
	token, ns := r.user(t, "", everything()), r.Namespace(t)
	f := r.follow(t, token, ns, "", view.ServicesPlural)
	f.until("the snapshot", done)
	release := l.hold(t)
	got := r.do(t, http.MethodGet, "/v1/services/"+ns+"/absent", token, "")
	if problem := got.problem(t); got.status != http.StatusGatewayTimeout || !strings.HasSuffix(problem.Type, ":Timeout") {
		t.Errorf("the answer is %d %s", got.status, got.body)
	}
	release()
	r.service(t, ns, "later")
	f.until("what happens later", func(e client.Event) bool { return e.Name == client.EventUpsert })
}

// TestAPIServerThatIsNotThere holds that what cannot be asked is 502 and says no address, that the cache needs nobody, and that streams
// lose nothing but time.
func TestAPIServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	l := &line{}
	r := newRig(t, l.on, func(o *Options) { o.RightsTTL = 50 * time.Millisecond })
	token, ns := r.user(t, "", everything()), r.Namespace(t)
	f := r.follow(t, token, ns, "", view.ServicesPlural)
	f.until("the snapshot", done)
	mend := l.sever()
	got := r.do(t, http.MethodPost, "/v1/services?ns="+ns, token, serviceBody)
	problem := got.problem(t)
	host := strings.TrimPrefix(r.Config.Host, "https://")
	if got.status != http.StatusBadGateway || strings.Contains(string(got.body), host) || strings.Contains(string(got.body), "127.0.0.1") {
		t.Errorf("the answer is %d %s", got.status, got.body)
	}
	if lines := r.log.with(problem.Instance); len(lines) == 0 || !strings.Contains(strings.Join(lines, ""), "the line is cut") {
		t.Errorf("the log says %q", lines)
	}
	l.inDoubt(t)

	// What happens while nobody can say who may see it has to wait.
	must(t, r.kind(t, view.ServicesPlural).Store.Update(object("Service", ns, "meanwhile", 1)))
	l.inDoubt(t)
	if len(f.events) > 0 {
		t.Errorf("meanwhile the stream says %q", describeEvent(<-f.events))
	}
	mend()
	r.service(t, ns, "later")
	seen := f.until("what happens later", func(e client.Event) bool { return describeEvent(e) == "upsert services later" })
	// That the API server knows nothing of the first one may be told in between.
	seen = slices.DeleteFunc(seen, func(event string) bool { return event == "delete services meanwhile" })
	if diff := cmp.Diff([]string{"upsert services meanwhile", "upsert services later"}, seen); diff != "" {
		t.Errorf("then the stream says (-want +got):\n%s", diff)
	}
}

// TestRunningRequestsEnd holds that a gateway that is told to end takes no more requests, and answers those it has.
func TestRunningRequestsEnd(t *testing.T) {
	t.Parallel()
	l := &line{}
	r := newRig(t, l.on)
	token, ns := r.user(t, "", everything()), r.Namespace(t)
	r.warm(t, token, ns)
	release := l.hold(t)
	answered := r.post(t.Context(), t, token, ns)
	r.stop()
	testkit.Eventually(t, "nobody is let in any more", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", r.g.options.Listener.Addr().String())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	release()
	if err := <-answered; err != nil {
		t.Errorf("the request that was there gets %v", err)
	}
}

// TestRedirectsAreNotFollowed has an API server that would send the gateway, with the caller's token, to somebody else.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	visited := make(chan string, 8)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// Caches may follow their own API server, and know no names; a caller's request never goes there.
		if strings.HasSuffix(r.URL.Path, "/web") || r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/services") {
			visited <- r.URL.Path
		}
	}))
	t.Cleanup(elsewhere.Close)
	astray := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(astray.Close)
	r := &rig{log: &logLines{}}
	r.serve(t, Options{Plaintext: true, Config: &rest.Config{Host: astray.URL, BearerToken: "secret"}, Session: true})
	for _, got := range []answer{
		r.do(t, http.MethodGet, "/v1/services/default/web", secretOf(t, r.g), ""),
		r.do(t, http.MethodPost, "/v1/services?ns=default", secretOf(t, r.g), serviceBody),
	} {
		if problem := got.problem(t); got.status < 400 || strings.Contains(problem.Detail, elsewhere.URL) || got.header.Get("Location") != "" {
			t.Errorf("the answer is %d with %v: %s", got.status, got.header, got.body)
		}
	}
	select {
	case path := <-visited:
		t.Errorf("somebody else was asked for %s", path)
	default:
	}
}

// TestPanicIsAProblem has a page that breaks.
func TestPanicIsAProblem(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) {
		o.Root = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken at 10.0.0.1") })
	})
	if got := r.do(t, http.MethodPost, "/page", "", ""); got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") == "" {
		t.Errorf("a write to a page is answered %d %s", got.status, got.body)
	}
	if got := r.do(t, http.MethodGet, "/v1/nothing", "", ""); got.status != http.StatusUnauthorized {
		t.Errorf("the pages are in front of the API: %d %s", got.status, got.body)
	}
	got := r.do(t, http.MethodGet, "/page", "", "")
	problem := got.problem(t)
	if got.status != http.StatusInternalServerError || strings.Contains(string(got.body), "10.0.0.1") {
		t.Errorf("the answer is %d %s", got.status, got.body)
	}
	if lines := r.log.with(problem.Instance); len(lines) == 0 || !strings.Contains(lines[0], "broken at") || !strings.Contains(lines[0], "outage_test") {
		t.Errorf("the log says %q", lines)
	}
}
