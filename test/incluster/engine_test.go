// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package incluster

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
	"github.com/windlass-operator/windlass/test/rig"
)

// TestEngine runs the image on a real Docker Engine: the one that the Dockerfile makes, and the one that make image wrote. Nothing is pulled,
// because there is no base image.
func TestEngine(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs a Docker Engine, which -short leaves out")
	}
	programs, err := rig.FindPrograms()
	must(t, err)
	packer := filepath.Join(programs.Root, "bin", "release")
	if err := rig.CheckBuilt(programs.Windlass, packer); err != nil {
		t.Skip(err)
	}
	engine := dockertest.Start(t)
	api, err := engine.Client()
	must(t, err)
	t.Cleanup(func() { _ = api.Close() })
	for sentence, bring := range map[string]func(t *testing.T) string{
		"the Dockerfile":            func(t *testing.T) string { t.Helper(); return build(t, api, &programs, packer) },
		"the archive of make image": func(t *testing.T) string { t.Helper(); return load(t, api, &programs, packer) },
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			ref := bring(t)
			found, err := api.ImageInspect(t.Context(), ref)
			must(t, err)
			if found.Config.User != "65532:65532" || found.Config.Entrypoint[0] != "/usr/local/bin/windlass" {
				t.Errorf("its configuration is %+v", found.Config)
			}
			if code, out := runs(t, api, ref); code != 0 || !strings.Contains(out, "windlass v") {
				t.Errorf("it ends with %d and prints %q", code, out)
			}
		})
	}
}

// build sends what docker build would send, and returns the name of the image.
func build(t *testing.T, api *client.Client, programs *rig.Programs, packer string) string {
	t.Helper()
	dir := t.TempDir()
	rootfs := exec.CommandContext(t.Context(), packer, "rootfs", "-out", filepath.Join(dir, "dist", "rootfs"), "-licence", filepath.Join(programs.Root, "LICENSE"))
	if out, err := rootfs.CombinedOutput(); err != nil {
		t.Fatalf("cannot write the files of the image: %v\n%s", err, out)
	}
	must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	for name, mode := range map[string]os.FileMode{"Dockerfile": 0o644, "bin/windlass": 0o755} {
		content, err := os.ReadFile(filepath.Join(programs.Root, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), content, mode))
	}
	var sent bytes.Buffer
	packed := tar.NewWriter(&sent)
	must(t, packed.AddFS(os.DirFS(dir)))
	must(t, packed.Close())
	const ref = "windlass:built"
	built, err := api.ImageBuild(t.Context(), &sent, client.ImageBuildOptions{Tags: []string{ref}, NetworkMode: "none", Remove: true})
	must(t, err)
	defer func() { _ = built.Body.Close() }()
	said, err := io.ReadAll(built.Body)
	if err != nil || bytes.Contains(said, []byte(`"error"`)) {
		t.Fatalf("the engine cannot build it (%v): %s", err, said)
	}
	return ref
}

// load sends the archive that is for Docker, and returns the name of the image.
func load(t *testing.T, api *client.Client, programs *rig.Programs, packer string) string {
	t.Helper()
	const ref = "windlass:loaded"
	out := filepath.Join(t.TempDir(), "windlass")
	pack := exec.CommandContext(t.Context(), packer, "image", "-out", out, "-ref", ref, "-licence", filepath.Join(programs.Root, "LICENSE"),
		"linux/"+runtime.GOARCH+"="+programs.Windlass)
	if said, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("cannot write the image: %v\n%s", err, said)
	}
	file, err := os.Open(out + "-linux-" + runtime.GOARCH + ".docker.tar")
	must(t, err)
	defer func() { _ = file.Close() }()
	loaded, err := api.ImageLoad(t.Context(), file)
	must(t, err)
	defer func() { _ = loaded.Close() }()
	_, err = io.Copy(io.Discard, loaded)
	must(t, err)
	return ref
}

// runs has a container print its version, with a root file system that is read-only and without any capability.
func runs(t *testing.T, api *client.Client, ref string) (code int64, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	made, err := api.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config:     &container.Config{Image: ref, Cmd: []string{"version"}},
		HostConfig: &container.HostConfig{ReadonlyRootfs: true, CapDrop: []string{"ALL"}, NetworkMode: "none"},
	})
	must(t, err)
	copied, err := api.CopyFromContainer(ctx, made.ID, client.CopyFromContainerOptions{SourcePath: "/var/lib/windlass"})
	must(t, err)
	defer func() { _ = copied.Content.Close() }()
	if header, err := tar.NewReader(copied.Content).Next(); err != nil || header.Uid != 65532 || header.Mode&0o777 != 0o700 {
		t.Errorf("its user cannot write to /var/lib/windlass: %+v (%v)", header, err)
	}
	waited := api.ContainerWait(ctx, made.ID, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	_, err = api.ContainerStart(ctx, made.ID, client.ContainerStartOptions{})
	must(t, err)
	select {
	case ended := <-waited.Result:
		code = ended.StatusCode
	case err := <-waited.Error:
		t.Fatal(err)
	}
	log, err := api.ContainerLogs(ctx, made.ID, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true})
	must(t, err)
	defer func() { _ = log.Close() }()
	raw, err := io.ReadAll(log)
	must(t, err)
	return code, string(raw)
}
