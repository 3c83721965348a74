// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPack reads what was packed as krew does: the manifest, the archives that it names, and what is in them.
func TestPack(t *testing.T) {
	t.Parallel()
	source, licence := t.TempDir(), filepath.Join(t.TempDir(), "LICENSE")
	must(t, os.WriteFile(licence, []byte("a licence"), 0o600))
	var programs []string
	for _, name := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"} {
		path := filepath.Join(source, filepath.Base(filepath.Dir(name))+"-"+filepath.Base(name))
		must(t, os.WriteFile(path, []byte("the program for "+name), 0o600))
		programs = append(programs, name+"="+path)
	}
	first, second := t.TempDir(), t.TempDir()
	for _, out := range []string{first, second} {
		must(t, pack(&release{version: "v1.2.3", url: "https://example.com/download", licence: licence}, out, programs))
	}
	raw, err := os.ReadFile(filepath.Join(first, "windlass.yaml"))
	must(t, err)
	var manifest plugin
	must(t, yaml.UnmarshalStrict(raw, &manifest))
	if manifest.Metadata.Name != "windlass" || manifest.Spec.Version != "v1.2.3" || len(manifest.Spec.Platforms) != 4 {
		t.Fatalf("the manifest is %+v", manifest)
	}
	for _, on := range manifest.Spec.Platforms {
		name := filepath.Base(on.URI)
		content, err := os.ReadFile(filepath.Join(first, name))
		must(t, err)
		sum := sha256.Sum256(content)
		if on.SHA256 != hex.EncodeToString(sum[:]) || on.Bin != program || on.URI != "https://example.com/download/v1.2.3/"+name {
			t.Errorf("the manifest says of %s: %+v", name, on)
		}
		again, err := os.ReadFile(filepath.Join(second, name))
		must(t, err)
		if !bytes.Equal(content, again) {
			t.Errorf("%s has other bytes when it is packed again", name)
		}
		labels := on.Selector.MatchLabels
		want := map[string]string{"LICENSE": "a licence", program: "the program for " + labels["os"] + "/" + labels["arch"]}
		if diff := cmp.Diff(want, unpacked(t, content)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// unpacked returns the files of an archive. The program must be one that can be run.
func unpacked(t *testing.T, content []byte) map[string]string {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	must(t, err)
	out := map[string]string{}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if err == io.EOF { //nolint:errorlint // because readers return it as it is
			return out
		}
		must(t, err)
		text, err := io.ReadAll(files)
		must(t, err)
		out[header.Name] = string(text)
		if runs := header.Mode&0o111 != 0; runs != (header.Name == program) {
			t.Errorf("%s has the mode %o", header.Name, header.Mode)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	t.Parallel()
	for sentence, of := range map[string]struct {
		version  string
		programs []string
	}{
		"a version that krew does not take": {"1.2", []string{"linux/amd64=a"}},
		"nothing":                           {"v1.2.3", nil},
		"a program without a platform":      {"v1.2.3", []string{"linux=a"}},
		"a program that does not exist":     {"v1.2.3", []string{"linux/amd64=" + filepath.Join(t.TempDir(), "nothing")}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if err := pack(&release{version: of.version, licence: "krew_test.go"}, t.TempDir(), of.programs); err == nil {
				t.Error("it is packed")
			}
		})
	}
}
