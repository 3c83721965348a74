// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// A machine that was stopped to be replaced was started once more, because an answer in between was lost.
func TestStopWhoseAnswerIsLostHasStopped(t *testing.T) {
	t.Parallel()
	daemon, direct, _ := shared(t)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = daemon.RoundTripper()
	proxy.ModifyResponse = func(answer *http.Response) error {
		if strings.HasSuffix(answer.Request.URL.Path, "/kill") {
			text := []byte(`{"message":"too late"}`)
			answer.StatusCode, answer.ContentLength, answer.Body = http.StatusGatewayTimeout, int64(len(text)), io.NopCloser(bytes.NewReader(text))
			answer.Header = http.Header{"Content-Type": {"application/json"}}
		}
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	driver := open(t, machine.Host{Name: "late", Endpoint: "tcp://" + server.Listener.Addr().String()})
	spec := specOf(newIdentity())
	run(t, direct, spec)
	if err := driver.Stop(t.Context(), spec.Identity, hard); err != nil {
		t.Errorf("Stop returned %v, want no error: the machine is off", err)
	}
	if now := get(t, direct, spec.Identity); now.State == machine.StateRunning {
		t.Errorf("the machine is %+v, want it to be off", now)
	}
}
