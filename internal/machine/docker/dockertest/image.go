// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/moby/moby/client"
)

// Image is the name of an image that the engine has. Its program serves HTTP on port 80 until it is stopped; see package guest for its
// arguments.
const Image = "nginx:1.17.4"

// importImage imports the image under a name, with changes in the syntax of a Dockerfile.
func importImage(ctx context.Context, api *client.Client, name string, changes ...string) error {
	layer, err := Layer()
	if err != nil {
		return err
	}
	changes = append([]string{`ENTRYPOINT ["/guest"]`, "EXPOSE 80"}, changes...)
	source := client.ImageImportSource{Source: bytes.NewReader(layer), SourceName: "-"}
	result, err := api.ImageImport(ctx, source, name, client.ImageImportOptions{Changes: changes})
	if err != nil {
		return fmt.Errorf("cannot import image %q: %w", name, err)
	}
	defer result.Close()
	if _, err := io.Copy(io.Discard, result); err != nil {
		return fmt.Errorf("cannot import image %q: %w", name, err)
	}
	return nil
}

// Layer returns the files of the image as a tar archive.
func Layer() ([]byte, error) { return layer() }

// layer compiles the program once for a process.
var layer = sync.OnceValues(func() (archived []byte, err error) { //nolint:gochecknoglobals // because compiling takes seconds
	dir, err := os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "guest")
	const program = "github.com/windlass-operator/windlass/internal/machine/docker/dockertest/guest"
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot compile the guest: %w\n%s", err, out)
	}
	return archive(path)
})

// archive returns the program as /guest, and the shell of this machine as /bin/sh with its libraries.
func archive(path string) ([]byte, error) {
	files := map[string]string{"guest": path, "bin/sh": "/bin/sh"}
	libraries, err := exec.CommandContext(context.Background(), "ldd", "/bin/sh").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot find the libraries of /bin/sh: %w", err)
	}
	for word := range strings.FieldsSeq(string(libraries)) {
		if filepath.IsAbs(word) {
			files[strings.TrimPrefix(word, "/")] = word
		}
	}
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content, err := os.ReadFile(files[name])
		if err != nil {
			return nil, fmt.Errorf("cannot read a file of the guest: %w", err)
		}
		if err := writer.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			return nil, fmt.Errorf("cannot pack the guest: %w", err)
		}
		if _, err := writer.Write(content); err != nil {
			return nil, fmt.Errorf("cannot pack the guest: %w", err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("cannot pack the guest: %w", err)
	}
	return out.Bytes(), nil
}
