// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/gateway/api"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// simulatedHosts reaches machines on one simulated host. Their UIDs are their names.
type simulatedHosts struct{ machine.Driver }

func newSimulatedHosts() *simulatedHosts {
	return &simulatedHosts{simulated.NewHost(simulated.Script{}).Open()}
}

func machineOf(namespace, name string) machine.Identity {
	return machine.Identity{Installation: "here", UID: namespace + "." + name, Namespace: namespace, Name: name}
}

// Output implements api.Hosts.
func (h *simulatedHosts) Output(ctx context.Context, namespace, name string, tail int, follow bool) (io.ReadCloser, error) {
	return h.Driver.Output(ctx, machineOf(namespace, name), machine.OutputOptions{Tail: tail, Follow: follow})
}

// Console implements api.Hosts.
func (h *simulatedHosts) Console(ctx context.Context, namespace, name string) (api.Console, error) {
	return h.Driver.Console(ctx, machineOf(namespace, name))
}

// Runs implements api.Hosts.
func (*simulatedHosts) Runs(context.Context, string) ([]view.Run, error) { return nil, nil }

// RunLog implements api.Hosts.
func (*simulatedHosts) RunLog(context.Context, string, string, int, bool) (io.ReadCloser, error) {
	return nil, provision.ErrNoRun
}

// start makes a machine and powers it on.
func (h *simulatedHosts) start(t *testing.T, namespace, name string) {
	t.Helper()
	spec := machine.Spec{Identity: machineOf(namespace, name), Image: machine.Image{Name: "os"}}
	must(t, h.Prepare(t.Context(), spec))
	_, err := h.Create(t.Context(), spec)
	must(t, err)
	must(t, h.Start(t.Context(), spec.Identity))
}

// stop powers a machine off.
func (h *simulatedHosts) stop(t *testing.T, namespace, name string) {
	t.Helper()
	must(t, h.Stop(t.Context(), machineOf(namespace, name), machine.PowerOff{Mode: machine.Hard}))
}

func onHosts(hosts *simulatedHosts) func(*Options) { return func(o *Options) { o.Hosts = hosts } }

func readsConsole() rbacv1.PolicyRule {
	return rule("get", "cloudnative.tw", "virtualmachines/console")
}

// followText opens a text that is followed.
func (r *rig) followText(t *testing.T, path, token string) *bufio.Scanner {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+path, http.NoBody)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d", path, response.StatusCode)
	}
	return bufio.NewScanner(response.Body)
}

// TestOutputOfAMachine reads what a machine has written, and follows it until the machine is off.
func TestOutputOfAMachine(t *testing.T) {
	t.Parallel()
	hosts := newSimulatedHosts()
	r := newRig(t, onHosts(hosts))
	ns := r.Namespace(t)
	hosts.start(t, ns, "vm")
	token := r.user(t, ns, readsConsole())
	path := "/v1/virtualmachines/" + ns + "/vm/console/output"

	followed := r.followText(t, path+"?follow=true", token)
	if !followed.Scan() || !strings.Contains(followed.Text(), "powered on") {
		t.Fatalf("the first line is %q: %v", followed.Text(), followed.Err())
	}
	hosts.stop(t, ns, "vm")
	if !followed.Scan() || !strings.Contains(followed.Text(), "powered off") {
		t.Fatalf("the second line is %q: %v", followed.Text(), followed.Err())
	}
	if followed.Scan() {
		t.Errorf("of a machine that is off there is %q", followed.Text())
	}
	for query, want := range map[string]int{"": 2, "?tailLines=1": 1, "?tailLines=0": 0, "?follow=true&tailLines=1": 1} {
		got := r.do(t, http.MethodGet, path+query, token, "")
		if lines := strings.Count(string(got.body), "\n"); got.status != http.StatusOK || lines != want {
			t.Errorf("%s: status %d with %d lines, want %d: %s", query, got.status, lines, want, got.body)
		}
	}
	for _, query := range []string{"?tailLines=-2", "?tailLines=many", "?follow=perhaps", "?lines=5"} {
		if got := r.do(t, http.MethodGet, path+query, token, ""); got.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: status %d: %s", query, got.status, got.body)
		}
	}
}

// TestOutputElsewhere asks a gateway in a process of its own. It says where to ask, to those who may.
func TestOutputElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	path := "/v1/virtualmachines/" + ns + "/vm/console/output"
	for token, want := range map[string]view.Code{r.user(t, ns, readsConsole()): "NoHosts", r.user(t, ns): "Forbidden"} {
		if got := r.do(t, http.MethodGet, path, token, "").problem(t); got.Code != want {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

// TestAttackOutputOfOthers asks for the output of machines with every right but the one to it.
func TestAttackOutputOfOthers(t *testing.T) {
	t.Parallel()
	hosts := newSimulatedHosts()
	r := newRig(t, onHosts(hosts))
	mine, theirs := r.Namespace(t), r.Namespace(t)
	for _, ns := range []string{mine, theirs} {
		hosts.start(t, ns, "vm")
	}
	one := readsConsole()
	one.ResourceNames = []string{"other"}
	output := "/vm/console/output"
	for name, c := range map[string]struct {
		token, path string
		want        int
	}{
		"nobody": {"", mine + output, 401},
		"somebody who reads machines, not consoles":     {r.user(t, mine, rule("*", "cloudnative.tw", "virtualmachines", "virtualmachines/status")), mine + output, 403},
		"somebody who opens consoles":                   {r.user(t, mine, rule("create", "cloudnative.tw", "virtualmachines/console")), mine + output, 403},
		"somebody who reads the console of another one": {r.user(t, mine, one), mine + output, 403},
		"a reader in another namespace":                 {r.user(t, mine, readsConsole()), theirs + output, 403},
		"a path to another namespace":                   {r.user(t, mine, readsConsole()), mine + "/..%2f" + theirs + "%2fvm/console/output", 404},
		"a path with dots":                              {r.user(t, mine, readsConsole()), mine + "/../" + theirs + output, 404},
	} {
		got := r.do(t, http.MethodGet, "/v1/virtualmachines/"+c.path, c.token, "")
		if got.status != c.want || strings.Contains(string(got.body), "powered") {
			t.Errorf("%s: status %d, want %d: %s", name, got.status, c.want, got.body)
		}
	}

	home := r.Namespace(t)
	token := r.token(t, home, "user")
	right := r.grant(t, home, mine, readsConsole())
	followed := r.followText(t, "/v1/virtualmachines/"+mine+output+"?follow=true", token)
	if !followed.Scan() {
		t.Fatal(followed.Err())
	}
	must(t, r.Live.Delete(t.Context(), right))
	for followed.Scan() { // until it ends, although the machine runs
		t.Errorf("without the right there is %q", followed.Text())
	}
}

// endlessHosts has machines that never stop writing.
type endlessHosts struct{ simulatedHosts }

func (*endlessHosts) Output(ctx context.Context, _, _ string, _ int, _ bool) (io.ReadCloser, error) {
	reading, writing := io.Pipe()
	context.AfterFunc(ctx, func() { _ = writing.CloseWithError(ctx.Err()) })
	go func() {
		line := []byte(strings.Repeat("x", 1023) + "\n")
		for {
			if _, err := writing.Write(line); err != nil {
				return
			}
		}
	}()
	return reading, nil
}

// TestAttackOutputThatNobodyReads opens outputs without end and reads none of them. Others read on.
func TestAttackOutputThatNobodyReads(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Hosts, o.StreamsPerCaller = &endlessHosts{}, 4 })
	ns := r.Namespace(t)
	slow, token := r.user(t, ns, readsConsole()), r.user(t, ns, readsConsole())
	path := "/v1/virtualmachines/" + ns + "/vm/console/output?follow=true"
	for range 4 {
		r.followText(t, path, slow)
	}
	if got := r.do(t, http.MethodGet, path, slow, ""); got.status != http.StatusTooManyRequests {
		t.Errorf("one stream too many: status %d", got.status)
	}
	followed := r.followText(t, path, token)
	for n := range 5000 { // more than what buffers on the way hold
		if !followed.Scan() {
			t.Fatalf("after %d lines: %v", n, followed.Err())
		}
	}
}

// pipedHosts has machines whose output is what the test writes.
type pipedHosts struct {
	simulatedHosts

	output *io.PipeReader
}

func (h *pipedHosts) Output(ctx context.Context, _, _ string, _ int, _ bool) (io.ReadCloser, error) {
	context.AfterFunc(ctx, func() { _ = h.output.CloseWithError(ctx.Err()) })
	return h.output, nil
}

// TestTextThatWasCutOffLooksWhole reads texts whose source breaks, or takes longer than a request may. Their readers took them for the end.
func TestTextThatWasCutOffLooksWhole(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*io.PipeWriter){
		"a source that breaks":           func(to *io.PipeWriter) { _ = to.CloseWithError(errors.New("the host is gone")) },
		"a source that takes too long":   func(*io.PipeWriter) {},
		"a source that comes to its end": func(to *io.PipeWriter) { _ = to.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output, to := io.Pipe()
			r := newRig(t, func(o *Options) { o.Hosts, o.Timeout = &pipedHosts{output: output}, 10*time.Second })
			ns := r.Namespace(t)
			token := r.user(t, ns, readsConsole())
			go func() {
				_, _ = to.Write([]byte("one\n"))
				end(to)
			}()
			text := r.followText(t, "/v1/virtualmachines/"+ns+"/vm/console/output", token)
			for text.Scan() {
				if text.Text() != "one" {
					t.Errorf("the text has %q", text.Text())
				}
			}
			if whole := strings.Contains(name, "end"); whole != (text.Err() == nil) {
				t.Errorf("the text ends with %v", text.Err())
			}
		})
	}
}

// TestATextThatTheGatewayEndsLooksOver follows a run that goes on, until the gateway ends the text. Its readers took that for the end of the run.
func TestATextThatTheGatewayEndsLooksOver(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, r *rig, cookie string, right client.Object){
		"the gateway stops": func(_ *testing.T, r *rig, _ string, _ client.Object) { r.stop() },
		"the session ends": func(t *testing.T, r *rig, cookie string, _ client.Object) {
			t.Helper()
			r.do(t, http.MethodDelete, "/v1/session", "", "", "Cookie", cookie)
		},
		"the right is taken away": func(t *testing.T, r *rig, _ string, right client.Object) {
			t.Helper()
			must(t, r.Live.Delete(t.Context(), right))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := &runningHosts{run: provision.Run{ID: "up-1", Action: provision.Up, Phase: provision.Running, Log: "first\n"}}
			r := newRig(t, func(o *Options) { o.Hosts = hosts })
			home := r.Namespace(t)
			token := r.token(t, home, "user")
			right := r.grant(t, home, "", readsRuns())
			cookie := r.logIn(t, token)
			status, body := r.eventSource(t, "/v1/clusters/prod/log?follow=true", "Cookie", cookie)
			followed := bufio.NewScanner(body)
			if status != http.StatusOK || !followed.Scan() || followed.Text() != "first" {
				t.Fatalf("status %d with %q: %v", status, followed.Text(), followed.Err())
			}
			end(t, r, cookie, right)
			for followed.Scan() {
				t.Errorf("it goes on: %q", followed.Text())
			}
			if !errors.Is(followed.Err(), io.ErrUnexpectedEOF) {
				t.Errorf("it ends with %v", followed.Err())
			}
			testkit.Eventually(t, "the log says why", func() bool { return len(r.log.with("A text was cut off")) == 1 })
		})
	}
}

// TestQuietTextOverHTTP2IsCutOff follows a text that has nothing new for longer than a request, or one piece of a text, may take. With HTTP/2 that
// ended the answer.
func TestQuietTextOverHTTP2IsCutOff(t *testing.T) {
	t.Parallel()
	output, to := io.Pipe()
	const quiet = 3 * time.Second
	r := newRig(t, func(o *Options) {
		// Deadlines are two seconds away, and those of one piece of a text one.
		o.Hosts, o.Timeout = &pipedHosts{output: output}, 30*time.Second
		o.Now = func() time.Time { return time.Now().Add(-29 * time.Second) }
	})
	ns := r.Namespace(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+"/v1/virtualmachines/"+ns+"/vm/console/output?follow=true", http.NoBody)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+r.user(t, ns, readsConsole()))
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	response, err := (&http.Client{Transport: transport}).Do(request)
	must(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.ProtoMajor != 2 || response.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %d", response.Proto, response.StatusCode)
	}
	text := bufio.NewScanner(response.Body)
	for _, line := range []string{"one", "two"} {
		<-time.After(quiet)
		_, err := to.Write([]byte(line + "\n"))
		must(t, err)
		if !text.Scan() || text.Text() != line {
			t.Fatalf("after a while without a line the text has %q: %v", text.Text(), text.Err())
		}
	}
}
