// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// self is the path of this test, a program that is built of modules as the real one is.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	must(t, err)
	return path
}

// packImage writes an image for the platforms into a folder. It has this test as its program, and on linux/amd64 once more beside it.
func packImage(t *testing.T, dir string, platforms ...string) string {
	t.Helper()
	out := filepath.Join(dir, "windlass")
	args := []string{
		"image", "-out", out, "-version", "v1.2.3", "-revision", "abc", "-created", "1700000000", "-licence", "../LICENSE",
		"-npm", "../web/package-lock.json", "-beside", "linux/amd64=" + self(t),
	}
	for _, each := range platforms {
		args = append(args, each+"="+self(t))
	}
	must(t, run(io.Discard, args))
	return out
}

// index reads the one image of a layout, and looks whether every digest, size and layer in it is right.
func index(t *testing.T, out string) v1.ImageIndex {
	t.Helper()
	all, err := layout.ImageIndexFromPath(out)
	must(t, err)
	list, err := all.IndexManifest()
	must(t, err)
	if len(list.Manifests) != 1 || list.Manifests[0].Annotations["io.containerd.image.name"] != "docker.io/library/windlass:dev" {
		t.Fatalf("the layout has %+v", list.Manifests)
	}
	one, err := all.ImageIndex(list.Manifests[0].Digest)
	must(t, err)
	must(t, validate.Index(one))
	return one
}

func TestImage(t *testing.T) {
	t.Parallel()
	out := packImage(t, t.TempDir(), "linux/amd64", "linux/arm64")
	images := index(t, out)
	list, err := images.IndexManifest()
	must(t, err)
	var on []string
	for _, each := range list.Manifests {
		on = append(on, each.Platform.String()+" "+each.Annotations["vnd.docker.reference.type"])
	}
	if diff := cmp.Diff([]string{"linux/amd64 ", "linux/arm64 ", "unknown/unknown attestation-manifest", "unknown/unknown attestation-manifest"}, on); diff != "" {
		t.Errorf("the index has other manifests (-want +got):\n%s", diff)
	}
	image, err := images.Image(list.Manifests[0].Digest)
	must(t, err)
	config, err := image.ConfigFile()
	must(t, err)
	if config.Config.User != "65532:65532" || config.OS != "linux" || config.Architecture != "amd64" || config.Created.Unix() != 1700000000 ||
		config.Config.Labels["org.opencontainers.image.version"] != "v1.2.3" || config.Config.Entrypoint[0] != "/usr/local/bin/windlass" {
		t.Errorf("its configuration is %+v", config)
	}
	manifest, err := image.Manifest()
	must(t, err)
	if manifest.Annotations["org.opencontainers.image.revision"] != "abc" || len(manifest.Layers) != 3 {
		t.Errorf("its manifest is %+v", manifest)
	}
	files := contents(t, image)
	for name, want := range map[string]string{
		"etc/passwd": "nonroot:x:65532:65532:", "etc/ssl/certs/ca-certificates.crt": "BEGIN CERTIFICATE", "licenses/LICENSE": "Apache License",
		"usr/local/bin/windlass": "", "usr/local/bin/" + filepath.Base(self(t)): "",
	} {
		if content, there := files[name]; !there || !strings.Contains(content, want) {
			t.Errorf("%s is missing, or without %q", name, want)
		}
	}
	if loaded, err := tarball.ImageFromPath(out+"-linux-amd64.docker.tar", nil); err != nil {
		t.Error(err)
	} else if got, err := loaded.ConfigName(); err != nil || got != manifest.Config.Digest {
		t.Errorf("the archive for Docker has the image %s (%v), want %s", got, err, manifest.Config.Digest)
	}
}

// contents returns the files of an image, but of programs only that they are there.
func contents(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	out := map[string]string{}
	raw := mutate.Extract(image)
	defer func() { _ = raw.Close() }()
	for files := tar.NewReader(raw); ; {
		header, err := files.Next()
		if err == io.EOF {
			return out
		}
		must(t, err)
		if header.ModTime.Unix() != 1700000000 {
			t.Errorf("%s is of %s", header.Name, header.ModTime)
		}
		if header.Size < 1<<20 {
			content, err := io.ReadAll(files)
			must(t, err)
			out[header.Name] = string(content)
		} else if out[header.Name] = ""; header.Mode != 0o755 {
			t.Errorf("%s has the mode %o", header.Name, header.Mode)
		}
	}
}

// TestAttestation follows the bill of materials as tools do: from its entry in the index to the image that it is of.
func TestAttestation(t *testing.T) {
	t.Parallel()
	out := packImage(t, t.TempDir(), "linux/amd64", "linux/arm64")
	images := index(t, out)
	list, err := images.IndexManifest()
	must(t, err)
	bill, err := images.Image(list.Manifests[2].Digest)
	must(t, err)
	layers, err := bill.Layers()
	must(t, err)
	raw, err := layers[0].Uncompressed()
	must(t, err)
	var said struct {
		PredicateType string `json:"predicateType"`
		Subject       []struct {
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
		Predicate json.RawMessage `json:"predicate"`
	}
	must(t, json.NewDecoder(raw).Decode(&said))
	of := list.Manifests[0].Digest
	if said.PredicateType != "https://spdx.dev/Document" || said.Subject[0].Digest["sha256"] != of.Hex ||
		list.Manifests[2].Annotations["vnd.docker.reference.digest"] != of.String() {
		t.Errorf("it is of %+v, want of %s", said.Subject, of)
	}
	beside, err := os.ReadFile(out + "-linux-amd64.spdx.json")
	must(t, err)
	var attested, written any
	must(t, json.Unmarshal(said.Predicate, &attested))
	must(t, json.Unmarshal(beside, &written))
	if diff := cmp.Diff(written, attested); diff != "" {
		t.Errorf("the attested bill differs from the file (-file +attested):\n%s", diff)
	}
}

// TestSameBytes packs twice, the second time over what an image of other platforms has left.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	packImage(t, second, "linux/s390x")
	must(t, os.Remove(filepath.Join(second, "windlass-linux-s390x.docker.tar")))
	must(t, os.Remove(filepath.Join(second, "windlass-linux-s390x.spdx.json")))
	for _, dir := range []string{first, second} {
		packImage(t, dir, "linux/amd64", "linux/arm64")
	}
	if diff := cmp.Diff(sumsOf(t, first), sumsOf(t, second)); diff != "" {
		t.Errorf("the second time other files are written (-first +second):\n%s", diff)
	}
}

// sumsOf are the checksums of the files in a folder.
func sumsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		sum := sha256.Sum256(content)
		out[strings.TrimPrefix(path, dir)] = hex.EncodeToString(sum[:])
		return err
	}))
	return out
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "text")
	must(t, os.WriteFile(text, []byte("not a program"), 0o600))
	for sentence, of := range map[string]struct {
		args []string
		want string
	}{
		"nothing to do":              {nil, "a command is missing"},
		"an unknown command":         {[]string{"push"}, `the command "push" is unknown`},
		"no program":                 {[]string{"image"}, "there is no program to pack"},
		"a program for no platform":  {[]string{"image", "bin/windlass"}, `"bin/windlass" is not os/arch=program`},
		"a program that is not one":  {[]string{"image", "linux/amd64=" + text}, "cannot read what"},
		"a program that is missing":  {[]string{"image", "linux/amd64=" + text + "s"}, "no such file"},
		"a name that is not allowed": {[]string{"image", "-ref", "Not A Name", "linux/amd64=" + self(t)}, `cannot use "Not A Name" as the name`},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			args := of.args
			if len(args) > 1 {
				args = append([]string{args[0], "-out", filepath.Join(t.TempDir(), "windlass"), "-licence", "../LICENSE"}, args[1:]...)
			}
			if err := run(io.Discard, args); err == nil || !strings.Contains(err.Error(), of.want) {
				t.Errorf("it says %v, want %q", err, of.want)
			}
		})
	}
}
