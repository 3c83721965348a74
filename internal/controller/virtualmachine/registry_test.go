// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// TestPullSecretOfSeveralTeams has entries for parts of a registry, as GitLab's deploy tokens need them. Which of them was used was random.
func TestPullSecretOfSeveralTeams(t *testing.T) {
	t.Parallel()
	var entries []string
	for _, server := range []string{
		"https://index.docker.io/v1/", "docker.io/me", "https://docker.io/v2/me/app", "docker.io/library", "bare.example/team",
		"https://registry.example/v2/", "registry.example/tea", "registry.example/team/a", "http://registry.example/team/a/deep/", "registry.example/team/b",
	} {
		entries = append(entries, fmt.Sprintf(`%q:{"username":%[1]q}`, server))
	}
	config := []byte(`{"auths":{` + strings.Join(entries, ",") + `}}`)
	for image, want := range map[string]string{
		"registry.example/team/a:1":          "registry.example/team/a",
		"registry.example/team/a@sha256:1":   "registry.example/team/a",
		"registry.example/team/a/app":        "registry.example/team/a",
		"registry.example/team/a/deep/app:1": "http://registry.example/team/a/deep/",
		"registry.example/team/b/app":        "registry.example/team/b",
		"registry.example/team/abc/app":      "https://registry.example/v2/",
		"registry.example/app":               "https://registry.example/v2/",
		"bare.example/team":                  "bare.example/team",
		"bare.example/other":                 "",
		"nginx:1":                            "docker.io/library",
		"docker.io/nginx":                    "docker.io/library",
		"you/app":                            "https://index.docker.io/v1/",
		"me/other":                           "docker.io/me",
		"index.docker.io/me/app:1":           "https://docker.io/v2/me/app",
		"registry.example:5000/team/a/app:1": "",
	} {
		for range 20 { // in which the order of a map differs
			got, err := registryAuth(config, image)
			if got == nil {
				got = &machine.RegistryAuth{}
			}
			if got.Username != want || err != nil {
				t.Fatalf("for %s, the entry %q is used, want %q: %v", image, got.Username, want, err)
			}
		}
	}
}
