// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// kubelet is a node for the API server: it speaks the HTTP of a kubelet, and its containers are functions.
type kubelet struct {
	// history is what containers have logged, by pod and container. Default: nil, for the request itself.
	history map[string]string
	// lines are what containers log, until it is closed.
	lines <-chan string
	// ended gets the command of each program that has ended. Default: nil, nobody is told.
	ended chan<- string
}

// kubelet starts a node.
func (r *rig) kubelet(t *testing.T, node string, k kubelet) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		switch elements := strings.Split(request.URL.Path, "/"); elements[1] {
		case "exec", "attach":
			k.stream(w, request, elements)
		default:
			k.log(w, request)
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // which are not the server's any more once they are streams
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	must(t, err)
	number, err := strconv.Atoi(port)
	must(t, err)
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
	r.Create(t, object)
	object.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}}
	object.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(number)
	must(t, r.Live.Status().Update(t.Context(), object))
}

// log is the log of a container: what it has logged, and then the lines.
func (k kubelet) log(w http.ResponseWriter, request *http.Request) {
	if k.history == nil {
		_, _ = fmt.Fprintf(w, "%s?%s\n", request.URL.Path, request.URL.RawQuery)
	} else if request.URL.Query().Get("tailLines") != "0" {
		_, _ = io.WriteString(w, k.history[strings.Join(strings.Split(request.URL.Path, "/")[3:], "/")])
	}
	for request.URL.Query().Get("follow") == "true" {
		if http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case line, more := <-k.lines:
			if !more {
				return
			}
			_, _ = fmt.Fprintln(w, line)
		case <-request.Context().Done():
			return
		}
	}
}

// stream serves exec and attach with the code of a real kubelet.
func (k kubelet) stream(w http.ResponseWriter, request *http.Request, path []string) {
	streams, err := remotecommand.NewOptions(request)
	if err != nil || len(path) != 5 {
		http.Error(w, fmt.Sprint(path, err), http.StatusBadRequest)
		return
	}
	if path[1] == "attach" {
		remotecommand.ServeAttach(w, request, k, path[3], "", path[4], streams, time.Hour, time.Minute, remotecommand.SupportedStreamingProtocols)
		return
	}
	remotecommand.ServeExec(w, request, k, path[3], "", path[4], request.URL.Query()["command"], streams, time.Hour, time.Minute,
		remotecommand.SupportedStreamingProtocols)
}

// AttachContainer implements remotecommand.Attacher.
func (k kubelet) AttachContainer(ctx context.Context, pod, uid, container string, in io.Reader, out, errs io.WriteCloser, tty bool,
	resize <-chan remotecommand.TerminalSize,
) error {
	_, _ = fmt.Fprintf(out, "attached to %s/%s\n", pod, container)
	return k.ExecInContainer(ctx, pod, uid, container, []string{"cat"}, in, out, errs, tty, resize, 0)
}

// ExecInContainer implements remotecommand.Executor.
func (k kubelet) ExecInContainer(_ context.Context, _, _, _ string, command []string, in io.Reader, out, errs io.WriteCloser, _ bool,
	resize <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	if k.ended != nil {
		defer func() { k.ended <- strings.Join(command, " ") }()
	}
	switch command[0] {
	case "cat":
		_, err := io.Copy(out, in)
		return err
	case "size":
		size := <-resize
		_, err := fmt.Fprintf(out, "%dx%d", size.Width, size.Height)
		return err
	case "echo":
		_, err := fmt.Fprintf(out, "%q", command[1:])
		return err
	case "exit":
		_, _ = fmt.Fprint(errs, "no good")
		code, err := strconv.Atoi(command[1])
		if err != nil {
			return err
		}
		return utilexec.CodeExitError{Err: fmt.Errorf("exit %d", code), Code: code}
	default:
		return fmt.Errorf("there is no program %q", command[0])
	}
}

// through returns a configuration whose requests go through a proxy, which tells the headers that it sees.
func through(t *testing.T, config *rest.Config, seen chan<- http.Header) *rest.Config {
	t.Helper()
	target, _, err := rest.DefaultServerUrlFor(config)
	must(t, err)
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	must(t, err)
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			if request.In.Header.Get("Upgrade") != "" {
				seen <- request.In.Header.Clone()
			}
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	out := rest.CopyConfig(config)
	out.Host, out.TLSClientConfig = server.URL, rest.TLSClientConfig{}
	return out
}
