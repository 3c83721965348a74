// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stage sets up what a visit of the web console needs: what "windlass ui" serves, in front of a real API server, and a browser.
//
// The browser is Debian's chromium, driven by playwright-core from web/node_modules. Where one of them or the built console is missing,
// the test is skipped and says what is missing.
package stage

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/windlass-operator/windlass/internal/gateway"
	"github.com/windlass-operator/windlass/internal/gateway/console"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// unstarted is what a visit exits with if the browser itself does not start.
const unstarted = 75

// patience is how long a visit may take on a machine that does other things as well.
const patience = 15 * time.Minute

// Browser returns the path of a browser that can be driven, or skips the test.
func Browser(t testing.TB) string {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium, in which the console is opened")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node, which drives the browser")
	}
	if _, err := os.Stat(filepath.Join(testkit.Root(), "web", "node_modules", "playwright-core")); err != nil {
		t.Skip("needs the packages of web/, which make build fetches from npm")
	}
	return chromium
}

// Serve starts what "windlass ui" serves for the harness' API server, and returns its URL.
func Serve(t testing.TB, h *testkit.Harness) string {
	t.Helper()
	root, err := console.New()
	must(t, err)
	if !root.Built() {
		t.Skip("needs the console: make build builds it where there is a Node")
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	g, err := gateway.New(t.Context(), gateway.Options{
		Config: h.Config, Listener: listener, Plaintext: true, Session: true, Root: root, Now: time.Now, Log: logr.Discard(),
	})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})
	for g.Ready(nil) != nil {
		select {
		case <-t.Context().Done():
			t.Fatal("the stores are not in step")
		case <-time.After(50 * time.Millisecond):
		}
	}
	return g.URL()
}

// Visit runs a script of the test's folder with the browser, the URL and further arguments, and returns what it printed.
func Visit(t testing.TB, script, chromium, url string, arguments ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, "node", append([]string{script, chromium, url}, arguments...)...)
	out, err := command.CombinedOutput()
	if failure, ended := errors.AsType[*exec.ExitError](err); ended && failure.ExitCode() == unstarted {
		t.Skipf("needs a browser that starts: %s", out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
