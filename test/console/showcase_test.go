// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/test/console/stage"
)

// scene is what showcase.mjs is told.
type scene struct {
	// URL and UI are the consoles of the manager and of "windlass ui", and API is "kubectl proxy".
	URL, UI, API string
	// Record is the file that names the process of the API server, which Devcluster starts again for the cluster Name.
	Record, Devcluster, Name string
	// Tokens are those of users.
	Tokens map[string]string
}

// TestShowcase visits every page of the console on the showcase of "make run", does what a person can do there, and then takes the API
// server away. showcase.mjs says what it looks at.
//
//nolint:paralleltest // because one cluster at a time is what two cores can do
func TestShowcase(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a whole cluster, which -short leaves out")
	}
	chromium := stage.Browser(t)
	s := newShowroom(t)
	s.fill(t)
	told := scene{
		URL: s.url, UI: s.ui, API: s.api, Devcluster: s.Devcluster, Name: s.Name, Tokens: map[string]string{},
		Record: filepath.Join(s.Dir, "devcluster", "clusters", s.Name, "run", "kube-apiserver.json"),
	}
	for _, name := range []string{viewer, editor} {
		token, err := s.Token(t.Context(), shown, name)
		must(t, err)
		told.Tokens[name] = token
	}
	s.visit(t, "showcase.mjs", chromium, told)
}

// visit runs a script with the browser and what it is told.
func (s *showroom) visit(t *testing.T, script, chromium string, told any) {
	t.Helper()
	raw, err := json.Marshal(told)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	command := s.Command(ctx, "node", script, chromium, string(raw))
	album, wanted := os.Getenv("WINDLASS_PICTURES"), cmp.Or(os.Getenv("WINDLASS_VISITS"), ".")
	command.Env = append(command.Env, "WINDLASS_PICTURES="+album, "WINDLASS_VISITS="+wanted)
	t.Logf("visits: %s", wanted)
	t.Logf("%s", stage.Run(t, command, s.written))
	if album != "" {
		shrink(t, album)
		renew(t, album, filepath.Join(s.Root, "docs", "pictures"))
	}
}
