// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// onKill returns a driver whose answers to signals are changed on the way.
func onKill(t *testing.T, daemon *dockertest.Daemon, change func(answer *http.Response) error) machine.Driver {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = daemon.RoundTripper()
	proxy.FlushInterval = -1
	proxy.ModifyResponse = func(answer *http.Response) error {
		if strings.HasSuffix(answer.Request.URL.Path, "/kill") {
			return change(answer)
		}
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return open(t, machine.Host{Name: "late", Endpoint: "tcp://" + server.Listener.Addr().String()})
}

// A machine that was stopped to be replaced was started once more, because an answer in between was lost.
func TestStopWhoseAnswerIsLostHasStopped(t *testing.T) {
	t.Parallel()
	daemon, direct, _ := shared(t)
	driver := onKill(t, daemon, func(answer *http.Response) error {
		text := []byte(`{"message":"too late"}`)
		answer.StatusCode, answer.ContentLength, answer.Body = http.StatusGatewayTimeout, int64(len(text)), io.NopCloser(bytes.NewReader(text))
		answer.Header = http.Header{"Content-Type": {"application/json"}}
		return nil
	})
	spec := specOf(newIdentity())
	run(t, direct, spec)
	if err := driver.Stop(t.Context(), spec.Identity, hard); err != nil {
		t.Errorf("Stop returned %v, want no error: the machine is off", err)
	}
	if now := get(t, direct, spec.Identity); now.State == machine.StateRunning {
		t.Errorf("the machine is %+v, want it to be off", now)
	}
}

// A start that outlived its instance came between the end of a container and the wait for it, and the call hung until its limit.
func TestStopOfAContainerThatIsStartedAgainEnds(t *testing.T) {
	t.Parallel()
	daemon, direct, api := shared(t)
	for name, how := range map[string]machine.PowerOff{
		"at once": hard, "softly": {Mode: machine.Soft, Grace: time.Hour}, "softly, if it can": {Mode: machine.TrySoft, Grace: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(newIdentity())
			driver := onKill(t, daemon, func(answer *http.Response) error { return startAgain(t, api, answer.Request) })
			run(t, direct, spec)
			eventually(t, func() bool { // before, it ignores the signal
				reading, err := direct.Output(t.Context(), spec.Identity, machine.OutputOptions{Tail: -1})
				if err != nil {
					return false
				}
				printed, err := io.ReadAll(reading)
				return errors.Join(err, reading.Close()) == nil && bytes.Contains(printed, []byte("ready"))
			})
			if err := driver.Stop(t.Context(), spec.Identity, how); err != nil {
				t.Errorf("Stop returned %v, want no error: the run that was stopped has ended", err)
			}
			if now := get(t, direct, spec.Identity); now.State != machine.StateRunning {
				t.Errorf("the machine is %+v, want it to run: it was started again", now)
			}
		})
	}
}

// The machine could not be removed, because it ran again, and stayed for ten seconds.
func TestDeleteOfAContainerThatIsStartedAgainDeletesIt(t *testing.T) {
	t.Parallel()
	daemon, direct, api := shared(t)
	spec := specOf(newIdentity())
	times := 0
	driver := onKill(t, daemon, func(answer *http.Response) error {
		if times++; times > 1 {
			return nil
		}
		return startAgain(t, api, answer.Request)
	})
	run(t, direct, spec)
	if err := driver.Delete(t.Context(), spec.Identity, hard); err != nil {
		t.Errorf("Delete returned %v, want no error", err)
	}
	if now, err := direct.Get(t.Context(), spec.Identity); !errors.Is(err, machine.ErrNotFound) {
		t.Errorf("the machine is %+v, %v, want it to be gone", now, err)
	}
}

// The engine said of a removal, for whose end it was waited, that it had failed. The machine counted as gone, and stayed.
func TestDeleteThatTheEngineCouldNotFinishFails(t *testing.T) {
	t.Parallel()
	daemon, direct, _ := shared(t)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = daemon.RoundTripper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := func(status int, text string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
		switch {
		case r.Method == http.MethodDelete:
			answer(http.StatusConflict, `{"message":"removal is already in progress"}`)
		case strings.HasSuffix(r.URL.Path, "/json") && path.Base(path.Dir(path.Dir(r.URL.Path))) == "containers":
			answer(http.StatusOK, `{"State":{"Status":"removing"}}`)
		case strings.HasSuffix(r.URL.Path, "/wait"):
			answer(http.StatusOK, `{"StatusCode":0,"Error":{"Message":"busy"}}`)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	driver := open(t, machine.Host{Name: "stuck", Endpoint: "tcp://" + server.Listener.Addr().String()})
	spec := specOf(newIdentity())
	create(t, direct, spec)
	if err := driver.Delete(t.Context(), spec.Identity, hard); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("Delete returned %v, want what the engine said", err)
	}
}

// startAgain starts a container again as soon as a signal has ended it.
func startAgain(t *testing.T, api *client.Client, signal *http.Request) error {
	t.Helper()
	container := path.Base(path.Dir(signal.URL.Path))
	waited := api.ContainerWait(t.Context(), container, client.ContainerWaitOptions{})
	select {
	case <-waited.Result:
	case err := <-waited.Error:
		return err
	}
	_, err := api.ContainerStart(t.Context(), container, client.ContainerStartOptions{})
	return err
}
