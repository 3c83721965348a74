// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// The first start once failed because the driver had not waited for the pull.
func TestPullIsAwaitedAndAuthenticated(t *testing.T) {
	t.Parallel()
	daemon, _, _ := shared(t)
	host := serve(t, daemon, authenticated(registry(t, "whole")))
	driver := fetching(t, daemon, host)
	spec := specOf(newIdentity())
	spec.Image.Name = host + "/library/nginx:1.17.4"
	spec.Image.Registry = &machine.RegistryAuth{Username: "somebody", Password: "wrong-horse", ServerAddress: host}
	if err := driver.Prepare(t.Context(), spec); !errors.Is(err, machine.ErrImagePull) || strings.Contains(err.Error(), "wrong-horse") {
		t.Fatalf("Prepare with a wrong password returned %v, want %v without it", err, machine.ErrImagePull)
	}
	spec.Image.Registry.Password = "correct-horse"
	if got := run(t, driver, spec); got.State != machine.StateRunning {
		t.Errorf("the machine is %s", got.State)
	}
}

func TestPullFails(t *testing.T) {
	t.Parallel()
	daemon, _, _ := shared(t)
	parrot := func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := r.BasicAuth(); !ok {
			w.Header().Set("WWW-Authenticate", "Basic realm=registry")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, `{"errors":[{"code":"UNKNOWN","message":"you said %s"}]}`, r.Header.Get("Authorization"))
	}
	for name, test := range map[string]struct {
		serve http.HandlerFunc
		want  error
	}{
		"the registry wants nobody": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, machine.ErrImagePull,
		},
		"the registry has no such image": {
			func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v2/" {
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}`)
			}, machine.ErrImageNotFound,
		},
		"the registry talks nonsense": {
			func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, machine.ErrImagePull,
		},
		"the registry repeats the password": {parrot, machine.ErrImagePull},
		"a layer is not what was announced": {broken(registry(t, "broken")), machine.ErrImagePull},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(newIdentity())
			host := serve(t, daemon, test.serve)
			spec.Image.Name = host + "/library/nginx:1.17.4"
			spec.Image.Registry = &machine.RegistryAuth{Username: "somebody", Password: "correct-horse"}
			err := fetching(t, daemon, host).Prepare(t.Context(), spec)
			if !errors.Is(err, test.want) {
				t.Errorf("Prepare returned %v, want %v", err, test.want)
			}
			// c29tZWJvZHk6Y29ycmVjdC1ob3JzZQ== is what goes over the wire.
			if err != nil && (strings.Contains(err.Error(), "correct-horse") || strings.Contains(err.Error(), "c29tZWJvZHk6")) {
				t.Error("the error holds the credentials")
			}
		})
	}
}

func TestNameThatIsNoImage(t *testing.T) {
	t.Parallel()
	_, driver, _ := shared(t)
	spec := specOf(newIdentity())
	for _, name := range []string{"", "Nginx", "../../containers/json", "nginx:1.17.4?tag=x"} {
		spec.Image.Name = name
		if err := driver.Prepare(t.Context(), spec); !errors.Is(err, machine.ErrInvalid) {
			t.Errorf("Prepare of %q returned %v, want %v", name, err, machine.ErrInvalid)
		}
	}
}

// fetching returns a driver that fetches images from the registry, which is on the loopback address of the engine.
func fetching(t *testing.T, daemon *dockertest.Daemon, registry string) machine.Driver {
	t.Helper()
	host := daemon.Host()
	host.Containers.Registries = []string{registry}
	return open(t, host)
}

// serve serves a registry where the engine finds it, and returns its address.
func serve(t *testing.T, daemon *dockertest.Daemon, handler http.HandlerFunc) string {
	t.Helper()
	listener, err := daemon.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().String()
}

// authenticated lets only somebody in.
func authenticated(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "somebody" || password != "correct-horse" {
			w.Header().Set("WWW-Authenticate", "Basic realm=registry")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// broken sends layers that end too early, after the engine has begun to report its progress.
func broken(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		next(whole, r)
		body := whole.Body.Bytes()
		if len(body) > 64<<10 {
			body = body[:len(body)/2]
		}
		maps.Copy(w.Header(), whole.Header())
		_, _ = w.Write(body)
	}
}

// registry serves one image, whatever its name. Another author's is another image, none of which an engine has yet.
func registry(t *testing.T, author string) http.HandlerFunc {
	t.Helper()
	layer, err := dockertest.Layer()
	if err != nil {
		t.Skip("no image: " + err.Error())
	}
	layer = append(slices.Clone(layer), make([]byte, 512*len(author))...) // An archive may end in any number of zeros.
	blobs := map[string][]byte{}
	add := func(blob []byte) map[string]any {
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(blob))
		blobs[digest] = blob
		return map[string]any{"digest": digest, "size": len(blob)}
	}
	encode := func(value any) []byte {
		out, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const kind = "application/vnd.docker.distribution.manifest.v2+json"
	layerOf := add(layer)
	layerOf["mediaType"] = "application/vnd.docker.image.rootfs.diff.tar"
	config := add(encode(map[string]any{
		"os": "linux", "architecture": runtime.GOARCH, "author": author,
		"config": map[string]any{"Entrypoint": []string{"/guest"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []any{layerOf["digest"]}},
	}))
	config["mediaType"] = "application/vnd.docker.container.image.v1+json"
	manifest := encode(map[string]any{"schemaVersion": 2, "mediaType": kind, "config": config, "layers": []any{layerOf}})
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/manifests/"):
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Docker-Content-Digest", fmt.Sprintf("sha256:%x", sha256.Sum256(manifest)))
			_, _ = w.Write(manifest)
		case strings.Contains(r.URL.Path, "/blobs/"):
			_, _ = w.Write(blobs[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]])
		default:
			w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
		}
	}
}
