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
func Browser(tb testing.TB) string {
	tb.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		tb.Skip("needs chromium, in which the console is opened")
	}
	if _, err := exec.LookPath("node"); err != nil {
		tb.Skip("needs node, which drives the browser")
	}
	if _, err := os.Stat(filepath.Join(testkit.Root(), "web", "node_modules", "playwright-core")); err != nil {
		tb.Skip("needs the packages of web/, which make build fetches from npm")
	}
	return chromium
}

// Serve starts what "windlass ui" serves for the harness' API server, and returns its URL.
func Serve(tb testing.TB, h *testkit.Harness) string {
	tb.Helper()
	root, err := console.New()
	must(tb, err)
	if !root.Built() {
		tb.Skip("needs the console: make build builds it where there is a Node")
	}
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	must(tb, err)
	g, err := gateway.New(tb.Context(), gateway.Options{
		Config: h.Config, Listener: listener, Plaintext: true, Session: true, Root: root, Now: time.Now, Log: logr.Discard(),
	})
	must(tb, err)
	ctx, cancel := context.WithCancel(tb.Context())
	done := make(chan error, 1)
	go func() { done <- g.Start(ctx) }()
	tb.Cleanup(func() {
		cancel()
		must(tb, <-done)
	})
	for g.Ready(nil) != nil {
		select {
		case <-tb.Context().Done():
			tb.Fatal("the stores are not in step")
		case <-time.After(50 * time.Millisecond):
		}
	}
	return g.URL()
}

// Visit runs a script of the test's folder with the browser, the URL and further arguments, and returns what it printed.
func Visit(tb testing.TB, script, chromium, url string, arguments ...string) []byte {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	return Run(tb, exec.CommandContext(ctx, "node", append([]string{script, chromium, url}, arguments...)...))
}

// Run runs a visit and returns what it printed, or skips the test if the browser does not start. What the visit found stands at the end of
// a failed test, which is what a summary repeats: background, if any, is what servers wrote meanwhile, and comes before it.
func Run(tb testing.TB, visit *exec.Cmd, background ...func() string) []byte {
	tb.Helper()
	out, err := visit.CombinedOutput()
	if failure, ended := errors.AsType[*exec.ExitError](err); ended && failure.ExitCode() == unstarted {
		tb.Skipf("needs a browser that starts: %s", out)
	}
	if err != nil {
		for _, written := range background {
			tb.Log(written())
		}
		tb.Errorf("%v\n%s", err, out)
	}
	return out
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
