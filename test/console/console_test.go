// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway"
	"github.com/windlass-operator/windlass/internal/gateway/console"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// unstarted is what visit.mjs exits with if the browser itself does not start.
const unstarted = 75

// TestFirstVisit opens the URL of "windlass ui" in a browser. visit.mjs says what it looks at.
func TestFirstVisit(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	root, err := console.New()
	must(t, err)
	if !root.Built() {
		t.Skip("needs the console: make build builds it where there is a Node")
	}
	url := serve(t, root)

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "node", "visit.mjs", chromium, url)
	out, err := command.CombinedOutput()
	if failure, ended := errors.AsType[*exec.ExitError](err); ended && failure.ExitCode() == unstarted {
		t.Skipf("needs a browser that starts: %s", out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// browser returns the path of a browser that can be driven, or skips the test.
func browser(t *testing.T) string {
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

// serve starts what "windlass ui" serves, and returns its URL. There is a node to see.
func serve(t *testing.T, root *console.Console) string {
	t.Helper()
	h := testkit.New(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "console-" + h.Namespace(t)}}
	must(t, h.Live.Create(t.Context(), node))
	t.Cleanup(func() { _ = h.Live.Delete(context.WithoutCancel(t.Context()), node) })
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
	testkit.Eventually(t, "the stores are in step", func() bool { return g.Ready(nil) == nil })
	return g.URL()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
