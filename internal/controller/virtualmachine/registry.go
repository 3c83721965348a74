// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-operator/windlass/internal/machine"
)

// dockerHub is how container engines write the registry of images that name none.
const dockerHub = "https://index.docker.io/v1/"

// registryAuth returns the credentials for the image's registry from a Docker configuration, nil if it has none. Its errors never
// quote the configuration.
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
	registry := registryOf(image)
	for server, entry := range config.Auths {
		if serverName(server) != serverName(registry) {
			continue
		}
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
	return nil, nil
}

// registryOf returns the registry of an image: what precedes the first slash, if it looks like a host.
func registryOf(image string) string {
	first, _, ok := strings.Cut(image, "/")
	if ok && (strings.ContainsAny(first, ".:") || first == "localhost") && first != "docker.io" && first != "index.docker.io" {
		return first
	}
	return dockerHub
}

// serverName is the host of a registry, without what different tools add to it.
func serverName(server string) string {
	server = strings.TrimPrefix(strings.TrimPrefix(server, "https://"), "http://")
	server, _, _ = strings.Cut(server, "/")
	if server == "docker.io" || server == "registry-1.docker.io" {
		return "index.docker.io"
	}
	return server
}
