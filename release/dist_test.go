// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// release makes all but the images of a release, in a folder.
func release(t *testing.T) string {
	t.Helper()
	out, from := t.TempDir(), filepath.Join(t.TempDir(), "windlass")
	must(t, os.MkdirAll(filepath.Join(from, "templates"), 0o700))
	for name, content := range map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: windlass\nversion: 0.0.0-dev\nappVersion: v0.0.0-dev\n", "values.yaml": "image:\n  repository: ghcr.io/windlass-operator/windlass\nreplicas: 2\n",
		"templates/deployment.yaml": "kind: Deployment\n",
	} {
		must(t, os.WriteFile(filepath.Join(from, name), []byte(content), 0o600))
	}
	at := []string{"-version", "v1.2.3", "-created", "1700000000"}
	for _, args := range [][]string{
		append(append([]string{"archive", "-out", out, "-licence", "../LICENSE"}, at...), "linux/amd64="+self(t), "darwin/arm64="+self(t)),
		append(append([]string{"chart", "-out", out, "-repository", "registry.example.com/team/windlass"}, at...), from),
		{"sums", out},
	} {
		must(t, run(io.Discard, args))
	}
	return out
}

func TestRelease(t *testing.T) {
	t.Parallel()
	first, second := release(t), release(t)
	if diff := cmp.Diff(sumsOf(t, first), sumsOf(t, second)); diff != "" {
		t.Errorf("the second time other files are written (-first +second):\n%s", diff)
	}
	var names []string
	for name := range sumsOf(t, first) {
		names = append(names, name)
	}
	if len(names) != 6 {
		t.Errorf("there are %v", names)
	}
	got := unpacked(t, filepath.Join(first, "windlass-1.2.3.tgz"))
	want := map[string]string{
		"windlass/Chart.yaml":  "apiVersion: v2\nname: windlass\nversion: 1.2.3\nappVersion: v1.2.3\n",
		"windlass/values.yaml": "image:\n  repository: registry.example.com/team/windlass\nreplicas: 2\n", "windlass/templates/deployment.yaml": "kind: Deployment\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the chart has other files (-want +got):\n%s", diff)
	}
	program, err := os.ReadFile(self(t))
	must(t, err)
	if files := unpacked(t, filepath.Join(first, "windlass_v1.2.3_darwin_arm64.tar.gz")); files["windlass"] != string(program) || files["LICENSE"] == "" {
		t.Error("the archive does not have the program and the licence")
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = first
	if out, err := check.CombinedOutput(); err != nil || strings.Count(string(out), ": OK") != 5 {
		t.Errorf("sha256sum says %v: %s", err, out)
	}
}

// TestAChartNamesTheImageOfAnotherRegistry refuses values in which the image cannot be found, or that would have another one replaced.
func TestAChartNamesTheImageOfAnotherRegistry(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"image:\n  repository: ghcr.io/a/b\n":                                  "",
		"image:\n  repo: ghcr.io/a/b\n":                                        "values.yaml has 0 lines that name the repository of an image, not 1",
		"image:\n  repository: ghcr.io/a/b\nproxy:\n  repository: ghcr.io/c\n": "values.yaml has 2 lines that name the repository of an image, not 1",
	} {
		from := filepath.Join(t.TempDir(), "windlass")
		must(t, os.MkdirAll(from, 0o700))
		must(t, os.WriteFile(filepath.Join(from, "values.yaml"), []byte(values), 0o600))
		err := run(io.Discard, []string{"chart", "-out", t.TempDir(), "-version", "v1.2.3", "-created", "1700000000", "-repository", "registry.example.com/windlass", from})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", values, err, want)
		}
	}
	// The chart of the project is one of them.
	must(t, run(io.Discard, []string{
		"chart", "-out", t.TempDir(), "-version", "v1.2.3", "-created", "1700000000", "-repository", "registry.example.com/windlass", "../charts/windlass",
	}))
}

// unpacked returns the files of an archive.
func unpacked(t *testing.T, path string) map[string]string {
	t.Helper()
	packed, err := os.ReadFile(path)
	must(t, err)
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	must(t, err)
	out := map[string]string{}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		must(t, err)
		content, err := io.ReadAll(files)
		must(t, err)
		out[header.Name] = string(content)
	}
}
