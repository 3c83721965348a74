// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKubeconfigIsWhereTheUserSays holds that no path is fixed: --kubeconfig counts before $KUBECONFIG, and each of them alone is enough.
func TestKubeconfigIsWhereTheUserSays(t *testing.T) {
	write := func(host string) string {
		path := filepath.Join(t.TempDir(), "anywhere")
		content := "{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: \"" + host + "\"}}], " +
			"users: [{name: u, user: {token: t}}], contexts: [{name: c, context: {cluster: c, user: u}}]}"
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flag, env := write("https://flag.invalid"), write("https://env.invalid")
	t.Setenv("KUBERNETES_SERVICE_HOST", "") // or the tests run in a Pod
	t.Setenv("HOME", t.TempDir())
	for name, test := range map[string]struct{ flag, env, want string }{
		"both":         {flag, env, "https://flag.invalid"},
		"the flag":     {flag, "", "https://flag.invalid"},
		"the variable": {"", env, "https://env.invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.env)
			config, err := loadConfig(test.flag)
			if err != nil || config.Host != test.want {
				t.Errorf("it leads to %+v, %v; want %s", config, err, test.want)
			}
		})
	}
}
