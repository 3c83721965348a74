// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-operator/windlass/internal/machine"
)

// dockerHub is how container engines write the registry of images that name none.
const dockerHub = "https://index.docker.io/v1/"

// registryAuth returns the credentials for the image from a Docker configuration, nil if it has none. Of several entries for its registry, the one
// with the longest path counts, as for a kubelet. Its errors never quote the configuration.
func registryAuth(raw []byte, image string) (*machine.RegistryAuth, error) {
	var config struct {
		Auths map[string]struct {
			Username string `json:"username"`
			Password string `json:"password"`
			Auth     string `json:"auth"`
		} `json:"auths"`
	}
	if json.Unmarshal(raw, &config) != nil {
		return nil, fmt.Errorf("%s is not a Docker configuration", corev1.DockerConfigJsonKey)
	}
	registry, repository := splitImage(image)
	wanted, _ := splitServer(registry)
	server, longest := "", -1
	for _, candidate := range slices.Sorted(maps.Keys(config.Auths)) { // of equal ones always the same
		if host, path := splitServer(candidate); host == wanted && covers(path, repository) && len(path) > longest {
			server, longest = candidate, len(path)
		}
	}
	if longest < 0 {
		return nil, nil
	}
	entry := config.Auths[server]
	username, password := entry.Username, entry.Password
	if entry.Auth != "" {
		decoded, err := base64.StdEncoding.DecodeString(entry.Auth)
		user, pass, ok := strings.Cut(string(decoded), ":")
		if err != nil || !ok {
			return nil, fmt.Errorf("the auth of the entry for %q is not valid", server)
		}
		username, password = user, pass
	}
	return &machine.RegistryAuth{Username: username, Password: password, ServerAddress: registry}, nil
}

// splitImage returns the registry of an image and what follows. The registry is what precedes the first slash, if it looks like a host.
func splitImage(image string) (registry, repository string) {
	first, rest, ok := strings.Cut(image, "/")
	switch {
	case !ok || !strings.ContainsAny(first, ".:") && first != "localhost":
		rest = image
	case first != "docker.io" && first != "index.docker.io":
		return first, rest
	}
	if !strings.Contains(rest, "/") {
		rest = "library/" + rest
	}
	return dockerHub, rest
}

// splitServer returns the host of an entry and the path that it is for, without what different tools add to them.
func splitServer(server string) (host, path string) {
	server = strings.TrimPrefix(strings.TrimPrefix(server, "https://"), "http://")
	host, path, _ = strings.Cut(strings.TrimRight(server, "/"), "/")
	if version, rest, _ := strings.Cut(path, "/"); version == "v1" || version == "v2" {
		path = rest
	}
	if host == "docker.io" || host == "registry-1.docker.io" {
		host = "index.docker.io"
	}
	return host, path
}

// covers reports whether an entry for the path is for the repository, which may end in a tag or a digest. An empty path is for all.
func covers(path, repository string) bool {
	rest, ok := strings.CutPrefix(repository, path)
	return ok && (path == "" || rest == "" || strings.ContainsAny(rest[:1], "/:@"))
}
