// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package realnode

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/opencontainers/go-digest"
)

// PauseImage keeps the namespaces of every pod. It is built from noded and never pulled.
const PauseImage = "devcluster.local/pause:1"

// namespace is the namespace of containerd in which the kubelet's images and containers are.
const namespace = "k8s.io"

// answerPatience is how long containerd can take for an answer, as long as the other components can.
const answerPatience = 2 * time.Second

// Runtime is the containerd of a running node.
type Runtime struct{ client *containerd.Client }

// Connect reaches a node's containerd from outside of the node, through the root directory of its first process.
func Connect(pid int) (Runtime, error) {
	return connect(inside(pid, socket))
}

func connect(path string) (Runtime, error) {
	client, err := containerd.New(path, containerd.WithTimeout(answerPatience), containerd.WithDefaultNamespace(namespace))
	if err != nil {
		return Runtime{}, fmt.Errorf("cannot reach containerd at %q: %w", path, err)
	}
	return Runtime{client: client}, nil
}

// Close ends the connection.
func (r Runtime) Close() { _ = r.client.Close() }

// Healthy returns nil if containerd and its interface for the kubelet serve. The client itself would wait for a connection for ever.
func (r Runtime) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	serving, err := r.client.IsServing(ctx)
	if err != nil {
		return err
	}
	if !serving {
		return errors.New("containerd does not serve yet")
	}
	return nil
}

// Furnished returns nil if the first process of a node has created all mounts.
func Furnished(pid int) error {
	_, err := os.Stat(inside(pid, readyFile))
	return err
}

// inside returns the path, outside of the node, of a path inside it.
func inside(pid int, path string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), "root", path)
}

// ParseReference completes the name of an image as the kubelet does: busybox:1.36 is docker.io/library/busybox:1.36. A
// tag other than the default is required: the kubelet pulls the default tag for every pod, and nothing can be pulled.
func ParseReference(ref string) (string, error) {
	named, err := reference.ParseDockerRef(ref)
	if err != nil {
		return "", fmt.Errorf("cannot use %q as the name of an image: %w", ref, err)
	}
	if named.String() == reference.TagNameOnly(reference.TrimNamed(named)).String() {
		return "", fmt.Errorf("cannot use %q as the name of an image: add a tag such as :1, because pods always pull an image without one", ref)
	}
	return named.String(), nil
}

// Import loads an image archive, from docker save or with an OCI layout, under a name. It replaces an image of that name.
// Names in the archive are ignored, so it must contain exactly one image.
func (r Runtime) Import(ctx context.Context, ref string, archive io.Reader) error {
	ref, err := ParseReference(ref)
	if err != nil {
		return err
	}
	// Without a lease, containerd could remove content that has no name yet.
	ctx, done, err := r.client.WithLease(namespaces.WithNamespace(ctx, namespace))
	if err != nil {
		return fmt.Errorf("cannot import image %q: %w", ref, err)
	}
	defer func() { _ = done(context.WithoutCancel(ctx)) }()
	found, err := r.client.Import(ctx, archive, containerd.WithDigestRef(func(d digest.Digest) string { return "import@" + d.String() }))
	if err != nil {
		return fmt.Errorf("cannot import image %q: %w", ref, err)
	}
	manifests := map[digest.Digest]images.Image{}
	for _, image := range found {
		manifests[image.Target.Digest] = image
	}
	if len(manifests) != 1 {
		err = fmt.Errorf("cannot import image %q: the archive contains %d images, exactly one is allowed", ref, len(manifests))
	}
	for _, image := range manifests {
		if err == nil {
			err = r.adopt(ctx, ref, image)
		}
	}
	return errors.Join(err, r.forget(ctx, ref, found))
}

// adopt gives an image its name, with the label that makes the kubelet see it. It is unpacked when a pod first needs it.
func (r Runtime) adopt(ctx context.Context, ref string, image images.Image) error {
	image.Name, image.Labels = ref, map[string]string{"io.cri-containerd.image": "managed"}
	store := r.client.ImageService()
	_, err := store.Create(ctx, image)
	if errdefs.IsAlreadyExists(err) {
		_, err = store.Update(ctx, image, "target", "labels")
	}
	if err != nil {
		return fmt.Errorf("cannot name image %q: %w", ref, err)
	}
	return nil
}

// forget removes all names from an import except the given one.
func (r Runtime) forget(ctx context.Context, ref string, found []images.Image) error {
	for _, image := range found {
		if image.Name == ref {
			continue
		}
		if err := r.client.ImageService().Delete(ctx, image.Name); err != nil && !errdefs.IsNotFound(err) {
			return fmt.Errorf("cannot remove the name %q: %w", image.Name, err)
		}
	}
	return nil
}

// Has reports whether an image of that name exists.
func (r Runtime) Has(ctx context.Context, ref string) (bool, error) {
	_, err := r.client.ImageService().Get(namespaces.WithNamespace(ctx, namespace), ref)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Wrap writes the archive of an image with one static program, /bin/<as>, which is also the entry point.
func Wrap(ref, program, as string, out io.Writer) error {
	ref, err := ParseReference(ref)
	if err != nil {
		return err
	}
	tag, err := name.NewTag(ref)
	if err != nil {
		return fmt.Errorf("cannot use %q as the name of an image: %w", ref, err)
	}
	image, err := imageOf(program, as)
	if err != nil {
		return fmt.Errorf("cannot pack program %q: %w", program, err)
	}
	if err := tarball.Write(tag, image, out); err != nil {
		return fmt.Errorf("cannot write the image of program %q: %w", program, err)
	}
	return nil
}

// imageOf builds an image for the architecture of this machine, because the program is built for it.
func imageOf(program, as string) (v1.Image, error) {
	contents, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	raw, err := layerOf(as, contents)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil })
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.Architecture, config.OS = runtime.GOARCH, "linux"
	config.Config = v1.Config{Entrypoint: []string{"/bin/" + as}, Env: []string{"PATH=/bin"}}
	return mutate.ConfigFile(image, config)
}

// layerOf returns a file system with one program. It has no times, so that the same program gives the same image.
func layerOf(as string, contents []byte) ([]byte, error) {
	var raw bytes.Buffer
	archive := tar.NewWriter(&raw)
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "bin/", Mode: 0o755}); err != nil {
		return nil, err
	}
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "bin/" + as, Mode: 0o755, Size: int64(len(contents))}); err != nil {
		return nil, err
	}
	if _, err := archive.Write(contents); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return raw.Bytes(), nil
}
