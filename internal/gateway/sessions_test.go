// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// Channels of the protocol.
const (
	stdin, stdout, stderr, result, size byte = 0, 1, 2, 3, 4
	closing                             byte = 255
)

// tokenProtocol begins the subprotocol with a token.
const tokenProtocol = "base64url.bearer.authorization.k8s.io."

// room is a pod on a node that answers, and a user with the right to exec and attach.
type room struct {
	*rig

	ns, home, token string
	// ended gets the programs that have ended.
	ended chan string
}

// newRoom makes a pod "web" whose container can be reached.
func newRoom(t *testing.T, change ...func(*Options)) *room {
	t.Helper()
	r := &room{rig: newRig(t, change...), ended: make(chan string, 2000)}
	r.ns, r.home = r.Namespace(t), r.Namespace(t)
	r.kubelet(t, r.ns+"-node", kubelet{ended: r.ended})
	r.pod(t, r.ns, "web", r.ns+"-node")
	r.token = r.rig.token(t, r.home, "user")
	return r
}

// mayExec gives the user the rights, until the returned function takes them away.
func (r *room) mayExec(t *testing.T) (revoke func()) {
	t.Helper()
	binding := r.grant(t, r.home, r.ns, rule("get,create", "", "pods/exec", "pods/attach"))
	return func() { must(t, r.Live.Delete(t.Context(), binding)) }
}

// open opens a session. The header is pairs of names and values.
func (r *room) open(t *testing.T, query string, subprotocol []string, header ...string) (*websocket.Conn, answer, error) {
	t.Helper()
	return r.dial(t, "/v1/pods/"+r.ns+"/web/"+query, subprotocol, header...)
}

// dial opens a WebSocket. The header is pairs of names and values.
func (r *rig) dial(t *testing.T, path string, subprotocol []string, header ...string) (*websocket.Conn, answer, error) {
	t.Helper()
	options := &websocket.DialOptions{Subprotocols: subprotocol, HTTPHeader: http.Header{}, HTTPClient: &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}},
	}}}
	for i := 0; i+1 < len(header); i += 2 {
		options.HTTPHeader.Set(header[i], header[i+1])
	}
	socket, response, err := websocket.Dial(t.Context(), r.base+path, options) //nolint:bodyclose // because the library has closed it, or it is the connection of the WebSocket
	if err != nil {
		if response == nil {
			t.Fatal(err)
		}
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(response.Body)
		return nil, answer{response.StatusCode, response.Header, body.Bytes()}, err
	}
	socket.SetReadLimit(-1)
	t.Cleanup(func() { _ = socket.CloseNow() })
	return socket, answer{response.StatusCode, response.Header, nil}, nil
}

// session opens a session of the user.
func (r *room) session(t *testing.T, query string) *websocket.Conn {
	t.Helper()
	socket, _, err := r.open(t, query, []string{"v5.channel.k8s.io"}, "Authorization", "Bearer "+r.token)
	must(t, err)
	return socket
}

func send(t *testing.T, to *websocket.Conn, channel byte, content []byte) {
	t.Helper()
	must(t, to.Write(t.Context(), websocket.MessageBinary, append([]byte{channel}, content...)))
}

// greet waits until the program cat answers.
func greet(t *testing.T, socket *websocket.Conn) {
	t.Helper()
	send(t, socket, stdin, []byte("hello"))
	for said := ""; said != "hello"; {
		_, message, err := socket.Read(t.Context())
		must(t, err)
		if message[0] == stdout {
			said += string(message[1:])
		}
	}
}

// transcript is what a session has got on each channel, and the code that closed it.
type transcript struct {
	Streams map[byte]string
	Result  metav1.Status
	Closed  websocket.StatusCode
}

// transcribe reads until the session is closed.
func transcribe(t *testing.T, from *websocket.Conn) transcript {
	t.Helper()
	streams := map[byte]*bytes.Buffer{}
	out := transcript{Streams: map[byte]string{}}
	for {
		_, message, err := from.Read(t.Context())
		if err != nil {
			out.Closed = websocket.CloseStatus(err)
			break
		}
		if streams[message[0]] == nil {
			streams[message[0]] = &bytes.Buffer{}
		}
		streams[message[0]].Write(message[1:])
	}
	for channel, content := range streams {
		switch {
		case channel == result:
			must(t, json.Unmarshal(content.Bytes(), &out.Result))
		case content.Len() > 0:
			out.Streams[channel] = content.String()
		}
	}
	return out
}

func TestSessions(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mayExec(t)
	blob := make([]byte, 700<<10)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(blob)
	success := metav1.Status{Status: metav1.StatusSuccess}
	failure := metav1.Status{
		Status: metav1.StatusFailure, Reason: "NonZeroExitCode",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "ExitCode", Message: "7"}}},
	}
	for name, c := range map[string]struct {
		query, protocol string
		send            func(t *testing.T, to *websocket.Conn)
		want            transcript
	}{
		"bytes arrive as they are, in messages of any size": {
			"exec?command=cat&stdin=true&stdout=true", "v5.channel.k8s.io", func(t *testing.T, to *websocket.Conn) {
				t.Helper()
				for left, size := blob, 1; len(left) > 0; size = min(4*size, 250<<10) {
					size = min(size, len(left))
					send(t, to, stdin, left[:size])
					left = left[size:]
				}
				send(t, to, closing, []byte{stdin})
			},
			transcript{map[byte]string{stdout: string(blob)}, success, websocket.StatusNormalClosure},
		},
		"a program that fails tells its code": {
			"exec?command=exit&command=7&stdout=true&stderr=true", "v5.channel.k8s.io", nil,
			transcript{map[byte]string{stderr: "no good"}, failure, websocket.StatusNormalClosure},
		},
		"the words of a command stay apart": {
			"exec?command=echo&command=a+b&command=%26c&command=&container=main&stdout=1", "v5.channel.k8s.io", nil,
			transcript{map[byte]string{stdout: `["a b" "&c" ""]`}, success, websocket.StatusNormalClosure},
		},
		"the size of a terminal reaches the program": {
			"exec?command=size&tty=true&stdin=true&stdout=true", "v5.channel.k8s.io", func(t *testing.T, to *websocket.Conn) {
				t.Helper()
				send(t, to, size, []byte(`{"Width":132,"Height":43}`))
			},
			transcript{map[byte]string{stdout: "132x43"}, success, websocket.StatusNormalClosure},
		},
		"attach": {
			"attach?stdin=true&stdout=true", "v5.channel.k8s.io", func(t *testing.T, to *websocket.Conn) {
				t.Helper()
				send(t, to, stdin, []byte("hello"))
				send(t, to, closing, []byte{stdin})
			},
			transcript{map[byte]string{stdout: "attached to web/main\nhello"}, success, websocket.StatusNormalClosure},
		},
		"the protocol before": {
			"exec?command=exit&command=7&stdout=true&stderr=true", "v4.channel.k8s.io", nil,
			transcript{map[byte]string{stderr: "no good"}, failure, websocket.StatusNormalClosure},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _, err := r.open(t, c.query, []string{"unknown", c.protocol}, "Authorization", "Bearer "+r.token)
			must(t, err)
			if socket.Subprotocol() != c.protocol {
				t.Errorf("the subprotocol is %q", socket.Subprotocol())
			}
			if c.send != nil {
				go c.send(t, socket) // while the other side answers
			}
			got := transcribe(t, socket)
			got.Result.TypeMeta, got.Result.Message = metav1.TypeMeta{}, "" // which differ between the protocols
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%.2000s", diff)
			}
		})
	}
}

// TestSessionsAreRefusedInWords holds that what is wrong with a request is said before it becomes a WebSocket.
func TestSessionsAreRefusedInWords(t *testing.T) {
	t.Parallel()
	r := newRoom(t, func(o *Options) { o.Session = true })
	r.mayExec(t)
	other, secret := r.user(t, r.ns, rule("get,list", "", "pods", "pods/log")), secretOf(t, r.g)
	looker := r.user(t, r.ns, rule("get", "", "pods/exec"))
	cookie, _, _ := strings.Cut(r.do(t, http.MethodGet, "/?session="+secret, "", "").header.Get("Set-Cookie"), ";")
	v5 := []string{"v5.channel.k8s.io"}
	const good = "exec?command=cat&stdin=true"
	inProtocol := func(token string) string { return tokenProtocol + base64.RawURLEncoding.EncodeToString([]byte(token)) }
	for name, c := range map[string]struct {
		query, token string
		protocols    []string
		header       []string
		status       int
		code         string
	}{
		"without the right":                       {good, other, v5, nil, 403, "Forbidden"},
		"with the right to get only":              {good, looker, v5, nil, 403, "Forbidden"},
		"without a token":                         {good, "", v5, nil, 401, "Unauthorized"},
		"a container that does not exist":         {good + "&container=absent", r.token, v5, nil, 400, "BadRequest"},
		"no command":                              {"exec?stdin=true", r.token, v5, nil, 422, "Invalid"},
		"no stream":                               {"exec?command=cat", r.token, v5, nil, 422, "Invalid"},
		"a terminal with stderr":                  {good + "&tty=true&stderr=true", r.token, v5, nil, 422, "Invalid"},
		"a parameter twice":                       {good + "&stdin=true", r.token, v5, nil, 422, "Invalid"},
		"a parameter of nobody":                   {good + "&shell=true", r.token, v5, nil, 422, "Invalid"},
		"a command for attach":                    {"attach?command=cat&stdin=true", r.token, v5, nil, 422, "Invalid"},
		"a subprotocol without a result":          {good, r.token, []string{"channel.k8s.io"}, nil, 426, "UpgradeRequired"},
		"no subprotocol":                          {good, r.token, nil, nil, 426, "UpgradeRequired"},
		"a page of another origin":                {good, r.token, v5, []string{"Origin", "https://evil.example"}, 403, "CrossOrigin"},
		"a page without an origin":                {good, r.token, v5, []string{"Origin", "null"}, 403, "CrossOrigin"},
		"a page of another port, with a cookie":   {good, "", v5, []string{"Cookie", cookie, "Origin", "http://127.0.0.1:1"}, 403, "CrossOrigin"},
		"a page of another site, with a cookie":   {good, "", v5, []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, 403, "CrossOrigin"},
		"a page of another port, as it is told":   {good, "", v5, []string{"Cookie", cookie, "Sec-Fetch-Site", "same-site"}, 403, "CrossOrigin"},
		"a page of ours, whose user has no right": {good, "", v5, []string{"Cookie", cookie, "Origin", r.base}, 403, "Forbidden"},
		"two tokens":                              {good, r.token, append(v5, inProtocol(r.token)), nil, 401, "Unauthorized"},
		"a token that is not encoded":             {good, "", append(v5, tokenProtocol+"%%"), nil, 401, "Unauthorized"},
		"nothing beside the token":                {good, "", []string{inProtocol(r.token)}, nil, 401, "Unauthorized"},
		"an invented token":                       {good, "", append(v5, inProtocol("invented")), nil, 401, "Unauthorized"},
		"a pod elsewhere":                         {"../../../v1/pods/default/absent/" + good, r.token, v5, nil, 404, "NoSuchPath"},
		"a pod whose name leads elsewhere":        {"..%2f..%2fkube-system%2fpods%2fx/" + good, r.token, v5, nil, 404, "NoSuchPath"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := c.header
			if c.token != "" {
				header = append(header, "Authorization", "Bearer "+c.token)
			}
			_, got, err := r.open(t, c.query, c.protocols, header...)
			if err == nil {
				t.Fatal("it is a WebSocket")
			}
			// The client of the test cuts bodies.
			if got.status != c.status || !strings.Contains(string(got.body), `"code":"`+c.code+`"`) || got.header.Get("Content-Type") != mediaProblem {
				t.Errorf("status %d, want %d with %s: %s", got.status, c.status, c.code, got.body)
			}
		})
	}
	for _, c := range []struct {
		query  string
		status int
		header []string
	}{
		{good, 426, nil},
		{good, 400, []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Protocol", v5[0], "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "short"}},
	} {
		if got := r.do(t, http.MethodGet, "/v1/pods/"+r.ns+"/web/"+c.query, r.token, "", c.header...); got.status != c.status {
			t.Errorf("%v: %d %s", c.header, got.status, got.problem(t).Detail)
		}
	}
	if got := r.do(t, http.MethodGet, "/v1/pods/"+r.ns+"/absent/"+good, r.token, "", "Connection", "Upgrade", "Upgrade", "websocket",
		"Sec-WebSocket-Protocol", v5[0], "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg=="); got.status != http.StatusNotFound {
		t.Errorf("a pod that does not exist: %d %s", got.status, got.body)
	}
}

// TestAttackRightsAreTakenAwayInASession holds that a session ends with the right to it.
func TestAttackRightsAreTakenAwayInASession(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	revoke := r.mayExec(t)
	socket := r.session(t, "exec?command=cat&stdin=true&stdout=true")
	greet(t, socket)
	revoke()
	if got := transcribe(t, socket); got.Closed != websocket.StatusPolicyViolation {
		t.Errorf("it is closed with %d", got.Closed)
	}
	if program := <-r.ended; program != "cat" {
		t.Errorf("what ends is %q", program)
	}
	testkit.Eventually(t, "the log says why", func() bool { return len(r.log.with("the caller no longer has the right")) == 1 })
}

// laterClock is a clock that the test puts forward.
type laterClock struct{ ahead atomic.Int64 }

func (c *laterClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *laterClock) add(length time.Duration) { c.ahead.Add(int64(length)) }

// idleAfter has sessions that end after the time without a request, by the clock.
func idleAfter(idle time.Duration, clock *laterClock) func(*Options) {
	return func(o *Options) { o.SessionIdle, o.Now = idle, clock.now }
}

// TestWhoTypesIsIdle types into a container and asks for nothing else. The session was idle all the same, and they were told that their token is not
// accepted any more. What the program prints is no sign of a person.
func TestWhoTypesIsIdle(t *testing.T) {
	t.Parallel()
	const idle = 10 * time.Minute
	clock := &laterClock{}
	r := newRoom(t, idleAfter(idle, clock))
	r.mayExec(t)
	cookie := r.logIn(t, r.token)
	socket, _, err := r.open(t, "exec?command=cat&stdin=true&stdout=true", v5(), "Cookie", cookie)
	must(t, err)
	for range 3 {
		clock.add(idle - time.Minute)
		greet(t, socket)
	}
	if got := r.do(t, http.MethodGet, "/v1/session", "", "", "Cookie", cookie, "Windlass-Unattended", "1"); got.status != http.StatusOK {
		t.Errorf("the session of somebody who has just typed: %d %s", got.status, got.body)
	}
	clock.add(idle)
	_, _, err = socket.Read(t.Context())
	closed, _ := errors.AsType[websocket.CloseError](err)
	want := websocket.CloseError{Code: websocket.StatusPolicyViolation, Reason: "the session has ended, or the API server no longer accepts the token"}
	if diff := cmp.Diff(want, closed); diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestAttackTokenInASubprotocol holds that a token that a browser puts into a subprotocol goes nowhere else.
func TestAttackTokenInASubprotocol(t *testing.T) {
	t.Parallel()
	seen := make(chan http.Header, 100)
	r := newRoom(t, func(o *Options) { o.Config = through(t, o.Config, seen) })
	r.mayExec(t)
	encoded := tokenProtocol + base64.RawURLEncoding.EncodeToString([]byte(r.token))
	socket, response, err := r.open(t, "exec?command=echo&command=hidden-word&stdout=true", []string{encoded, "v5.channel.k8s.io"}, "Origin", r.base)
	must(t, err)
	if got := transcribe(t, socket); got.Streams[stdout] != `["hidden-word"]` {
		t.Errorf("the session is %+v", got)
	}
	if response.header.Get("Sec-WebSocket-Protocol") != "v5.channel.k8s.io" {
		t.Errorf("the subprotocol is %v", response.header)
	}
	testkit.Eventually(t, "the session ends", func() bool { return len(r.log.with("Session ended")) == 1 })
	for len(seen) > 0 {
		header := <-seen
		if sent := header.Get("Sec-WebSocket-Protocol"); sent != "" && sent != "v5.channel.k8s.io" {
			t.Errorf("the API server is sent the subprotocols %q", sent)
		}
	}
	opened := r.log.with(`"action"="exec"`)
	if len(opened) == 0 || !strings.Contains(opened[0], `"status"=101`) || !strings.Contains(opened[0], `"name"="web"`) ||
		!strings.Contains(opened[0], "system:serviceaccount:"+r.home+":user") {
		t.Errorf("the lines about the session are %q", opened)
	}
	for _, secret := range []string{r.token, encoded, "hidden-word"} {
		if lines := r.log.with(secret); len(lines) > 0 {
			t.Errorf("the log has what it must not: %q", lines)
		}
	}
}

// TestATokenInASubprotocolWithALineEnd has a page that was given a token with the end of its line, as a file has it.
func TestATokenInASubprotocolWithALineEnd(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mayExec(t)
	encoded := tokenProtocol + base64.RawURLEncoding.EncodeToString([]byte(r.token+"\n"))
	socket, got, err := r.open(t, "exec?command=cat&stdin=true&stdout=true", append(v5(), encoded))
	if err != nil {
		t.Fatalf("%v: %d %s", err, got.status, got.body)
	}
	greet(t, socket)
}

// TestAttackAHugeMessage sends more than a message may have.
func TestAttackAHugeMessage(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mayExec(t)
	socket := r.session(t, "exec?command=cat&stdin=true&stdout=true")
	greet(t, socket)
	go func() { // which fails in the middle
		_ = socket.Write(t.Context(), websocket.MessageBinary, make([]byte, 16<<20))
	}()
	got := transcribe(t, socket)
	if got.Closed != websocket.StatusMessageTooBig && got.Closed != -1 || len(got.Streams) > 0 { // -1: the close was lost behind what the gateway did not read
		t.Errorf("it ends as %+v", got)
	}
	<-r.ended
	testkit.Eventually(t, "the log says why", func() bool { return len(r.log.with("a message must not be larger than")) == 1 })
}

// TestAttackAThousandSockets opens more sessions than a caller can have, and others once those are closed.
func TestAttackAThousandSockets(t *testing.T) {
	t.Parallel()
	r := newRoom(t, func(o *Options) { o.StreamsPerCaller = 4 })
	r.mayExec(t)
	var open []*websocket.Conn
	for range 4 {
		open = append(open, r.session(t, "exec?command=cat&stdin=true"))
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	for range 1000 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+"/v1/pods/"+r.ns+"/web/exec?command=cat&stdin=true", http.NoBody)
		must(t, err)
		for name, value := range map[string]string{
			"Authorization": "Bearer " + r.token, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
			"Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==", "Sec-WebSocket-Protocol": "v5.channel.k8s.io",
		} {
			request.Header.Set(name, value)
		}
		response, err := client.Do(request)
		must(t, err)
		must(t, response.Body.Close())
		if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" {
			t.Fatalf("one more session gets %d", response.StatusCode)
		}
	}
	for _, socket := range open {
		must(t, socket.CloseNow())
	}
	testkit.Eventually(t, "a session can be opened again", func() bool {
		socket, response, err := r.open(t, "exec?command=cat&stdin=true", []string{"v5.channel.k8s.io"}, "Authorization", "Bearer "+r.token)
		if err != nil && response.status != http.StatusTooManyRequests {
			t.Fatal(err)
		}
		return err == nil && socket.Close(websocket.StatusNormalClosure, "") == nil
	})
}

// TestSessionsEndWithTheProcess stops the gateway, which speaks TLS, while a session is open.
func TestSessionsEndWithTheProcess(t *testing.T) {
	t.Parallel()
	r := newRoom(t, func(o *Options) { o.Plaintext = false })
	r.mayExec(t)
	socket := r.session(t, "exec?command=cat&stdin=true&stdout=true")
	greet(t, socket)
	r.stop()
	if got := transcribe(t, socket); got.Closed != websocket.StatusGoingAway {
		t.Errorf("it is closed with %d", got.Closed)
	}
	if _, _, err := socket.Read(context.WithoutCancel(t.Context())); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("afterwards it is open: %v", err)
	}
	<-r.ended
}
