// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
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
	for name, test := range map[string]struct{ flag, env, master, want string }{
		"both":                            {flag, env, "", "https://flag.invalid"},
		"the flag":                        {flag, "", "", "https://flag.invalid"},
		"the variable":                    {"", env, "", "https://env.invalid"},
		"another server":                  {flag, "", "https://master.invalid", "https://master.invalid"},
		"another server for the variable": {"", env, "https://master.invalid", "https://master.invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.env)
			config, err := loadConfig(test.flag, test.master)
			if err != nil || config.Host != test.want {
				t.Errorf("it leads to %+v, %v; want %s", config, err, test.want)
			}
		})
	}
}

func TestAKubeconfigThatDoesNotExistIsNamed(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("HOME", t.TempDir())
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	t.Setenv("KUBECONFIG", nowhere)
	want := "KUBECONFIG names \"" + nowhere + "\", which does not exist: correct it, or give a file with --kubeconfig"
	if config, err := loadConfig("", ""); err == nil || err.Error() != want {
		t.Errorf("it leads to %v, %v; want %q", config, err, want)
	}
}

func TestAnswersAreNotCompressed(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	asked := make(chan string, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Accept-Encoding") }))
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := "{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: \"" + server.URL + "\", insecure-skip-tls-verify: true}}], " +
		"users: [{name: u, user: {}}], contexts: [{name: c, context: {cluster: c, user: u}}]}"
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := restConfig(kubeconfig, "")
	if err != nil {
		t.Fatal(err)
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := httpClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if encoding := <-asked; encoding != "" {
		t.Errorf("answers may be encoded as %q", encoding)
	}
}
