// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/plugin"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// output is what a server that still runs has written.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// TestUIActsAsTheUserOfTheFlags is about "kubectl windlass ui --as": the HTTP API must not have the rights of the kubeconfig then.
func TestUIActsAsTheUserOfTheFlags(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	as := rest.CopyConfig(h.Config)
	as.Impersonate = rest.ImpersonationConfig{UserName: "jane"}
	served, flags := newUI(), pflag.NewFlagSet("ui", pflag.ContinueOnError)
	served.Bind(flags)
	if err := flags.Parse([]string{"--no-open"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, ended := &output{}, make(chan error, 1)
	go func() {
		ended <- served.Serve(ctx, plugin.Context{Name: "staging", Namespace: "default", Config: as}, out, io.Discard)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	testkit.Eventually(t, "the URL is printed", func() bool { return strings.HasSuffix(out.String(), "\n") })
	address, err := url.Parse(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address.Host+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+address.Query().Get("session"))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, ""
		}
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(body)
	}
	testkit.Eventually(t, "the API knows the user", func() bool {
		status, body := ask("/v1/me")
		return status == http.StatusOK && strings.Contains(body, `"jane"`)
	})
	if _, body := ask("/v1/session"); !strings.Contains(body, `"cluster":"staging"`) {
		t.Errorf("the session does not name the cluster by its context: %s", body)
	}
	testkit.Eventually(t, "the API refuses what the user may not do", func() bool {
		status, _ := ask("/v1/nodes")
		return status == http.StatusForbidden
	})
}

// TestFlagsOfTheUIWithWrongValues: the call was wrong, and counted as one that something had prevented.
func TestFlagsOfTheUIWithWrongValues(t *testing.T) {
	t.Parallel()
	for wrong, want := range map[string]string{
		"--address=0.0.0.0:1": "give a loopback address", "--address=nowhere": "must be host:port", "-v=99": "-v is 99: it must be from 0 to 10",
	} {
		out := &output{}
		of := plugin.Options{
			Streams: plugin.Streams{In: strings.NewReader(""), Out: out, Err: out}, Now: time.Now, Getenv: func(string) string { return "" }, UI: newUI(),
		}
		code := plugin.Execute(t.Context(), of, []string{"ui", "--no-open", "--server", "https://127.0.0.1:1", wrong})
		if code != 2 || !strings.Contains(out.String(), want) || !strings.HasSuffix(out.String(), "See 'kubectl windlass ui --help'.\n") {
			t.Errorf("%s: it ends with %d: %s", wrong, code, out)
		}
	}
}
