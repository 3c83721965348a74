// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/api"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func v5() []string { return []string{"v5.channel.k8s.io"} }

func opensConsole() rbacv1.PolicyRule {
	return rule("create", "cloudnative.tw", "virtualmachines/console")
}

func consoleOf(ns, name string) string { return "/v1/virtualmachines/" + ns + "/" + name + "/console" }

// console opens the console of a machine.
func (r *rig) console(t *testing.T, ns, name, token string) *websocket.Conn {
	t.Helper()
	socket, got, err := r.dial(t, consoleOf(ns, name), v5(), "Authorization", "Bearer "+token)
	if err != nil {
		t.Fatalf("%v: %d %s", err, got.status, got.body)
	}
	return socket
}

// answered waits until the machine has printed the words.
func answered(t *testing.T, from *websocket.Conn, words string) {
	t.Helper()
	var said bytes.Buffer
	for !strings.Contains(said.String(), words) {
		_, message, err := from.Read(t.Context())
		if err != nil {
			t.Fatalf("instead of %q: %v after %q", words, err, said.String())
		}
		if message[0] == stdout {
			said.Write(message[1:])
		}
	}
}

// TestConsoleOfAMachine types into a machine until its program ends, and until it is off.
func TestConsoleOfAMachine(t *testing.T) {
	t.Parallel()
	hosts := newSimulatedHosts()
	r := newRig(t, onHosts(hosts))
	ns := r.Namespace(t)
	hosts.start(t, ns, "vm")
	token := r.user(t, ns, opensConsole())
	for name, c := range map[string]struct {
		protocol string
		last     func(t *testing.T, socket *websocket.Conn)
	}{
		"its program ends": {"v4.channel.k8s.io", func(t *testing.T, socket *websocket.Conn) {
			t.Helper()
			send(t, socket, stdin, []byte("exit\r"))
		}},
		"it is off": {"v5.channel.k8s.io", func(t *testing.T, _ *websocket.Conn) { t.Helper(); hosts.stop(t, ns, "vm") }},
	} {
		hosts.start(t, ns, "vm")
		socket, got, err := r.dial(t, consoleOf(ns, "vm"), []string{c.protocol, "other"}, "Authorization", "Bearer "+token)
		must(t, err)
		if spoken := got.header.Get("Sec-WebSocket-Protocol"); spoken != c.protocol {
			t.Errorf("the subprotocol is %q, want %q", spoken, c.protocol)
		}
		send(t, socket, stdin, []byte("hello\r"))
		answered(t, socket, "heard: hello\r\n")
		send(t, socket, size, []byte(`{"Width":132,"Height":43}`))
		must(t, socket.Write(t.Context(), websocket.MessageBinary, nil)) // which keeps a connection alive
		send(t, socket, closing, []byte{stdin})
		send(t, socket, stdin, []byte("size\r"))
		answered(t, socket, "132x43\r\n")
		c.last(t, socket)
		ended := transcribe(t, socket)
		delete(ended.Streams, stdout)
		want := transcript{map[byte]string{}, metav1.Status{Status: metav1.StatusSuccess}, websocket.StatusNormalClosure}
		if diff := cmp.Diff(want, ended); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestConsoleElsewhere asks a gateway in a process of its own. It says where to ask, to those who may.
func TestConsoleElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	for token, want := range map[string]string{r.user(t, ns, opensConsole()): "NoHosts", r.user(t, ns): "Forbidden"} {
		_, got, err := r.dial(t, consoleOf(ns, "vm"), v5(), "Authorization", "Bearer "+token)
		if err == nil || !strings.Contains(string(got.body), `"code":"`+want+`"`) {
			t.Errorf("%d %s, want %s", got.status, got.body, want)
		}
	}
}

// TestConsoleIsWrittenDown wants to know who opened which console and why it ended, and nothing of what was typed and printed.
func TestConsoleIsWrittenDown(t *testing.T) {
	t.Parallel()
	hosts := newSimulatedHosts()
	r := newRig(t, onHosts(hosts))
	ns := r.Namespace(t)
	hosts.start(t, ns, "vm")
	socket := r.console(t, ns, "vm", r.user(t, ns, opensConsole()))
	send(t, socket, stdin, []byte("hidden-word\r"))
	answered(t, socket, "heard: hidden-word")
	if _, _, err := r.dial(t, consoleOf(ns, "vm"), v5(), "Authorization", "Bearer "+r.user(t, ns, readsConsole())); err == nil {
		t.Error("a reader may type")
	}
	must(t, socket.Close(websocket.StatusNormalClosure, ""))
	testkit.Eventually(t, "the session ends", func() bool {
		ended := r.log.with("Session ended")
		return len(ended) == 1 && strings.Contains(ended[0], `"kind"="VirtualMachine"`) && strings.Contains(ended[0], "the caller has left")
	})
	for _, status := range []string{`"status"=101`, `"status"=403`} {
		if opened := r.log.with(status); len(opened) != 1 || !strings.Contains(opened[0], `"action"="console"`) || !strings.Contains(opened[0], `"name"="vm"`) {
			t.Errorf("the lines with %s are %q", status, opened)
		}
	}
	for _, not := range []string{"hidden", "heard", "broke"} {
		if lines := r.log.with(not); len(lines) > 0 {
			t.Errorf("the log has %q", lines)
		}
	}
}

// TestConsolesEndWithTheProcess stops the gateway while a console is open.
func TestConsolesEndWithTheProcess(t *testing.T) {
	t.Parallel()
	hosts := newSimulatedHosts()
	r := newRig(t, onHosts(hosts))
	ns := r.Namespace(t)
	hosts.start(t, ns, "vm")
	socket := r.console(t, ns, "vm", r.user(t, ns, opensConsole()))
	r.stop()
	if got := transcribe(t, socket); got.Closed != websocket.StatusGoingAway {
		t.Errorf("it is closed with %d", got.Closed)
	}
	at, err := hosts.Console(t.Context(), ns, "vm")
	must(t, err) // and nobody holds it
	must(t, at.Close())
}

// TestAttackConsoleOfOthers asks for consoles with every right but the one to them, and as pages of others.
func TestAttackConsoleOfOthers(t *testing.T) {
	t.Parallel()
	hosts := newSimulatedHosts()
	r := newRig(t, onHosts(hosts))
	mine, theirs := r.Namespace(t), r.Namespace(t)
	for _, ns := range []string{mine, theirs} {
		hosts.start(t, ns, "vm")
	}
	one := opensConsole()
	one.ResourceNames = []string{"other"}
	may, path := r.user(t, mine, opensConsole()), consoleOf(mine, "vm")
	for name, c := range map[string]struct {
		path, token string
		protocols   []string
		header      []string
		status      int
		code        string
	}{
		"nobody":                             {path, "", v5(), nil, 401, "Unauthorized"},
		"somebody who reads what it prints":  {path, r.user(t, mine, readsConsole()), v5(), nil, 403, "Forbidden"},
		"somebody who changes machines":      {path, r.user(t, mine, rule("*", "cloudnative.tw", "virtualmachines", "virtualmachines/status")), v5(), nil, 403, "Forbidden"},
		"somebody who types into another":    {path, r.user(t, mine, one), v5(), nil, 403, "Forbidden"},
		"somebody of another namespace":      {consoleOf(theirs, "vm"), may, v5(), nil, 403, "Forbidden"},
		"a path to another namespace":        {consoleOf(mine, "..%2f"+theirs+"%2fvm"), may, v5(), nil, 404, "NoSuchPath"},
		"a page of another origin":           {path, may, v5(), []string{"Origin", "https://evil.example"}, 403, "CrossOrigin"},
		"a page without an origin":           {path, may, v5(), []string{"Origin", "null"}, 403, "CrossOrigin"},
		"a page of another site":             {path, may, v5(), []string{"Sec-Fetch-Site", "cross-site"}, 403, "CrossOrigin"},
		"a page of another port":             {path, may, v5(), []string{"Sec-Fetch-Site", "same-site"}, 403, "CrossOrigin"},
		"a subprotocol without a result":     {path, may, []string{"channel.k8s.io"}, nil, 426, "UpgradeRequired"},
		"no subprotocol":                     {path, may, nil, nil, 426, "UpgradeRequired"},
		"a parameter of nobody":              {path + "?force=true", may, v5(), nil, 422, "Invalid"},
		"somebody else, by impersonation":    {path, may, v5(), []string{"Impersonate-User", "admin"}, 400, "Impersonation"},
		"the session of another one, as yet": {path, "invented", v5(), nil, 401, "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := c.header
			if c.token != "" {
				header = append(header, "Authorization", "Bearer "+c.token)
			}
			_, got, err := r.dial(t, c.path, c.protocols, header...)
			if err == nil {
				t.Fatal("it is a WebSocket")
			}
			if got.status != c.status || !strings.Contains(string(got.body), `"code":"`+c.code+`"`) {
				t.Errorf("status %d, want %d with %s: %s", got.status, c.status, c.code, got.body)
			}
		})
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		if got := r.do(t, method, path, may, ""); got.status != http.StatusUpgradeRequired {
			t.Errorf("%s without a WebSocket: %d", method, got.status)
		}
	}
}

// TestAttackRightsAreTakenAwayInAConsole holds that a console ends with the right to it, and can be opened by others then.
func TestAttackRightsAreTakenAwayInAConsole(t *testing.T) {
	t.Parallel()
	hosts := newSimulatedHosts()
	r := newRig(t, onHosts(hosts))
	ns, home := r.Namespace(t), r.Namespace(t)
	hosts.start(t, ns, "vm")
	token := r.token(t, home, "user")
	right := r.grant(t, home, ns, opensConsole(), readsConsole())
	socket := r.console(t, ns, "vm", token)
	send(t, socket, stdin, []byte("hello\r"))
	answered(t, socket, "heard: hello")
	must(t, r.Live.Delete(t.Context(), right))
	if got := transcribe(t, socket); got.Closed != websocket.StatusPolicyViolation {
		t.Errorf("it is closed with %d", got.Closed)
	}
	testkit.Eventually(t, "nobody holds the console", func() bool {
		at, err := hosts.Console(t.Context(), ns, "vm")
		return err == nil && at.Close() == nil
	})
}

// TestAttackMessagesToAConsole sends what a console does not take. Each ends its session only.
func TestAttackMessagesToAConsole(t *testing.T) {
	t.Parallel()
	hosts := newSimulatedHosts()
	r := newRig(t, onHosts(hosts))
	ns := r.Namespace(t)
	token := r.user(t, ns, opensConsole())
	for name, c := range map[string]struct {
		message []byte
		closed  websocket.StatusCode
	}{
		"huge":                 {make([]byte, 16<<20), websocket.StatusMessageTooBig},
		"output":               {[]byte{stdout, 'x'}, websocket.StatusUnsupportedData},
		"result":               {[]byte{result, '{', '}'}, websocket.StatusUnsupportedData},
		"no-size":              {[]byte{size, '{'}, websocket.StatusUnsupportedData},
		"negative-size":        {append([]byte{size}, `{"Width":-1,"Height":1}`...), websocket.StatusUnsupportedData},
		"size-of-a-megabyte":   {append([]byte{size}, `{"Width":1`+strings.Repeat(" ", 100<<10)+`}`...), websocket.StatusUnsupportedData},
		"size-of-a-wide-world": {append([]byte{size}, `{"Width":70000,"Height":1}`...), websocket.StatusUnsupportedData},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts.start(t, ns, name)
			socket := r.console(t, ns, name, token)
			go func() { _ = socket.Write(t.Context(), websocket.MessageBinary, c.message) }() // which can fail in the middle
			// -1: the close was lost behind what the gateway did not read
			if got := transcribe(t, socket); got.Closed != c.closed && (name != "huge" || got.Closed != -1) || len(got.Streams) > 0 {
				t.Errorf("it ends as %+v, want %d", got, c.closed)
			}
			testkit.Eventually(t, "the console is free", func() bool {
				at, err := hosts.Console(t.Context(), ns, name)
				return err == nil && at.Close() == nil
			})
		})
	}
}

// chatty is a console that never stops printing, whatever is typed.
type chatty struct {
	done chan struct{}
	end  func()
}

func (c *chatty) Read(into []byte) (int, error) {
	select {
	case <-c.done:
		return 0, io.EOF
	default:
		return copy(into, strings.Repeat("x", 4096)), nil
	}
}

// Write takes nothing, as a machine that does not listen.
func (c *chatty) Write([]byte) (int, error) {
	<-c.done
	return 0, io.ErrClosedPipe
}

func (c *chatty) Close() error {
	c.end()
	return nil
}

func (*chatty) Resize(context.Context, uint16, uint16) error { return nil }

// chattyHosts has machines with such consoles.
type chattyHosts struct {
	simulatedHosts

	closed chan struct{}
}

func (h *chattyHosts) Console(context.Context, string, string) (api.Console, error) {
	done := make(chan struct{})
	return &chatty{done, sync.OnceFunc(func() { close(done); h.closed <- struct{}{} })}, nil
}

// TestAttackConsolesThatNobodyReads opens consoles that print without end, reads none of them, and types more than the machine takes. One more is
// refused, others read on, and all that was opened is closed.
func TestAttackConsolesThatNobodyReads(t *testing.T) {
	t.Parallel()
	hosts := &chattyHosts{closed: make(chan struct{}, 100)}
	r := newRig(t, func(o *Options) { o.Hosts, o.StreamsPerCaller = hosts, 4 })
	ns := r.Namespace(t)
	slow, token := r.user(t, ns, opensConsole()), r.user(t, ns, opensConsole())
	var open []*websocket.Conn
	for range 4 {
		socket := r.console(t, ns, "vm", slow)
		send(t, socket, stdin, []byte("hello\r"))
		open = append(open, socket)
	}
	_, got, err := r.dial(t, consoleOf(ns, "vm"), v5(), "Authorization", "Bearer "+slow)
	if err == nil || got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
		t.Errorf("one console too many: %d %s", got.status, got.body)
	}
	reads := r.console(t, ns, "vm", token)
	for n := range 5000 { // more than what buffers on the way hold
		if _, message, err := reads.Read(t.Context()); err != nil || message[0] != stdout {
			t.Fatalf("after %d messages: %v", n, err)
		}
	}
	for _, socket := range append(open, reads) {
		must(t, socket.CloseNow())
	}
	for range 5 {
		<-hosts.closed
	}
	testkit.Eventually(t, "a console can be opened again", func() bool {
		socket, got, err := r.dial(t, consoleOf(ns, "vm"), v5(), "Authorization", "Bearer "+slow)
		if err != nil && got.status != http.StatusTooManyRequests {
			t.Fatal(err)
		}
		return err == nil && socket.CloseNow() == nil
	})
}

// TestConsoleIsInTheMatrixOfRights tells a page whether to offer the console.
func TestConsoleIsInTheMatrixOfRights(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	for _, c := range []struct {
		has             rbacv1.PolicyRule
		output, console bool
	}{{readsConsole(), true, false}, {opensConsole(), false, true}} {
		got := read[view.RightsMatrix](t, r.do(t, http.MethodGet, "/v1/rights?ns="+ns, r.user(t, ns, c.has), ""))
		want := view.Actions{
			"get": false, "list": false, "watch": false, "create": false, "update": false, "patch": false, "delete": false,
			"output": c.output, "console": c.console,
		}
		if diff := cmp.Diff(want, got.Namespaces[ns]["virtualmachines"]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
