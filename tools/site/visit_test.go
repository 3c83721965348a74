// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// chromium is Debian's, as for the console.
const chromium = "/usr/bin/chromium"

// TestVisit reads the built site in a real browser: desktop and phone, light and dark, English and Chinese. The search has to find what it
// should without a request to another host, under a policy that allows nothing but the site.
func TestVisit(t *testing.T) {
	t.Parallel()
	for _, needed := range []string{
		chromium, filepath.Join(root, "web", "node_modules", "playwright-core"), filepath.Join("node_modules", ".bin", "pagefind"),
	} {
		if _, err := os.Stat(needed); err != nil {
			t.Skipf("needs %s: run make build docs where there is Node and Chromium", needed)
		}
	}
	out := filepath.Join(t.TempDir(), "site")
	if err := build(root, out); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if said, err := exec.CommandContext(ctx, filepath.Join("node_modules", ".bin", "pagefind"), "--site", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	files := http.FileServer(http.Dir(out))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	said, err := exec.CommandContext(ctx, "node", "visit.mjs", server.URL, chromium, os.Getenv("WINDLASS_PICTURES")).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 75 {
		t.Skipf("needs a Chromium that starts: %s", said)
	}
	if err != nil {
		t.Errorf("%v:\n%s", err, said)
	}
}
