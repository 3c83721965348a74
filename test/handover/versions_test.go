// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/test/rig"
)

var (
	// previous is what the present version is compared with.
	previous = flag.String("previous", "", "revision of the previous version (default: the newest tag v*, else the commit before the program last changed)")
	// rounds is how often each version takes over from the other.
	rounds = flag.Int("rounds", 2, "how often each version takes over from the other")
)

// TestVersionsAgree lets the previous version and this one lead in turns, over objects of all kinds. Once each has led, neither writes
// anything about what the other has made: each would otherwise undo what the other does, for as long as an upgrade takes, and after it was taken back.
func TestVersionsAgree(t *testing.T) {
	t.Parallel()
	s := newStage(t, "versions")
	revision := findPrevious(t, s.Root)
	tree, program := build(t, s.Root, revision)
	s.withEngine(t)

	// As the previous version was installed.
	now := s.Root
	s.Root = tree
	must(t, s.Install(t.Context()))
	s.Root = now
	_, kubeconfig, err := s.TakeAccount(t.Context(), rig.ServiceAccount)
	must(t, err)
	args := s.args(t, s.socket())
	leads := s.start(t, program, kubeconfig, "previous-0", args...)
	s.leads(t, "previous-0")
	s.populate(t, t.TempDir())
	s.settled(t, leads)

	// As an upgrade begins: with CRDs and roles.
	before := s.stored(t)
	must(t, s.Install(t.Context()))
	after := s.stored(t)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("stored objects differ when they are read under the new CRDs (-before +after):\n%s", diff)
	}
	s.stillValid(t)

	for round := range 2 * *rounds {
		name, next := fmt.Sprintf("now-%d", round), s.Windlass
		if round%2 == 1 {
			name, next = fmt.Sprintf("previous-%d", round), program
		}
		mark := s.audit.mark(t)
		successor := s.start(t, next, kubeconfig, name, args...)
		leads.stop(t)
		s.leads(t, name)
		leads = successor
		s.settled(t, leads)
		writes := s.audit.since(t, mark)
		t.Logf("%s took over: %d writes", name, len(writes))
		for i := range writes {
			if round > 0 || writes[i].Status.Code >= 300 { // the new version may add what the old one does not know, once
				t.Errorf("%s has written, although nothing changed: %s", name, &writes[i])
			}
		}
	}
}

// findPrevious returns the revision of the previous version, or skips the test where the history is not there.
func findPrevious(t *testing.T, root string) string {
	t.Helper()
	if *previous != "" {
		return *previous
	}
	git := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	tag := git("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^")
	changed := git("log", "-1", "--format=%H", "--", "api", "cmd", "config", "internal", "go.mod")
	before := git("rev-parse", "--verify", "--quiet", changed+"^")
	found := tag
	if found == "" {
		found = before
	}
	if found == "" {
		t.Skip("needs the history of the repository, which is not here or is shallow: name a revision with -args -previous=…")
	}
	t.Logf("the previous version is %s", git("log", "-1", "--format=%h %s", found))
	return found
}

// build builds the program of a revision, and returns where its tree and the program are.
func build(t *testing.T, root, revision string) (tree, program string) {
	t.Helper()
	tree = t.TempDir()
	archive := exec.CommandContext(t.Context(), "git", "-C", root, "archive", revision, "api", "cmd", "config", "internal", "go.mod", "go.sum")
	archived, err := archive.Output()
	if err != nil {
		t.Fatalf("cannot read revision %q: %v", revision, err)
	}
	unpack := exec.CommandContext(t.Context(), "tar", "-x", "-C", tree)
	unpack.Stdin = bytes.NewReader(archived)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("cannot unpack revision %q: %v: %s", revision, err, out)
	}
	program = filepath.Join(tree, "windlass")
	compile := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-tags=grpcnotrace",
		"-ldflags=-s -w -X github.com/windlass-operator/windlass/internal/app.version=previous", "-o", program, "./cmd/windlass")
	compile.Dir = tree
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("cannot build revision %q: %v: %s", revision, err, out)
	}
	return tree, program
}

// socket is that of the engine, empty without one.
func (s *stage) socket() string {
	if s.engine == nil {
		return ""
	}
	return s.engine.Socket()
}

// stored returns the objects of all kinds as the API server reads them, as text.
func (s *stage) stored(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, kind := range kinds {
		text := s.kubectl(t, "", "get", kind, "-A", "-o", "yaml")
		if !strings.Contains(text, "\n- apiVersion: ") {
			t.Fatalf("there are no %s", kind)
		}
		out[kind] = text
	}
	return out
}

// stillValid sends every object back as it was read: who changes one field of it must not be refused because of another.
func (s *stage) stillValid(t *testing.T) {
	t.Helper()
	for _, text := range s.stored(t) {
		var list struct {
			Items []map[string]any `json:"items"`
		}
		must(t, yaml.Unmarshal([]byte(text), &list))
		for _, object := range list.Items {
			raw, err := yaml.Marshal(object)
			must(t, err)
			s.kubectl(t, string(raw), "replace", "--dry-run=server", "--validate=strict", "-f", "-")
			s.kubectl(t, string(raw), "replace", "--dry-run=server", "--subresource=status", "-f", "-")
		}
	}
}
