// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
)

// startWithAPI starts a manager as "make run" does: with the HTTP API for the user of the kubeconfig. It returns the address of the API and
// the token of the session.
func (c *cluster) startWithAPI(t *testing.T, args ...string) (m *manager, address, token string) {
	t.Helper()
	session := filepath.Join(t.TempDir(), "session")
	args = append([]string{"--gateway-bind-address=127.0.0.1:0", "--gateway-session-file=" + session}, args...)
	running, err := c.StartManager(t.Context(), c.Admin, filepath.Join(t.TempDir(), "manager.log"), args...)
	if err != nil {
		t.Fatal(err)
	}
	m = &manager{Manager: running, t: t}
	t.Cleanup(m.finish)
	var location *url.URL
	eventually(t, "the session is written", func(context.Context) error {
		raw, err := os.ReadFile(session)
		if err != nil {
			return err
		}
		location, err = url.Parse(strings.TrimSpace(string(raw)))
		return err
	})
	return m, location.Scheme + "://" + location.Host, location.Query().Get("session")
}

// TestOutputOfAMachine reads what a machine has written through the API of the manager that reaches its host. Another instance says that it
// does not, and does once it has taken over.
func TestOutputOfAMachine(t *testing.T) {
	c := need(t)
	first, address, token := c.startWithAPI(t, "--vm-driver=simulated")
	c.apply(t, testVM)
	c.machineBecomes(t, "test-vm", cloudnativev1alpha1.PhaseActive)
	const path = "/v1/virtualmachines/default/test-vm/console/output"
	wants := func(address, token string, status int, text string) {
		t.Helper()
		eventually(t, fmt.Sprintf("the answer is %d with %q", status, text), func(ctx context.Context) error {
			code, body, err := ask(ctx, http.MethodGet, address+path, token, "")
			if err == nil && (code != status || !strings.Contains(body, text)) {
				err = fmt.Errorf("status %d: %s", code, body)
			}
			return err
		})
	}
	wants(address, token, http.StatusOK, "simulated machine: powered on")
	typeInto(t, address+"/v1/virtualmachines/default/test-vm/console", token)
	_, otherAddress, otherToken := c.startWithAPI(t, "--vm-driver=simulated")
	wants(otherAddress, otherToken, http.StatusServiceUnavailable, "NotLeading")
	c.remove(t, "vm", "test-vm")
	wants(address, token, http.StatusNotFound, "NotFound")
	first.stop()
	wants(otherAddress, otherToken, http.StatusNotFound, "NotFound")
}

// typeInto types into the console of a simulated machine until it answers, and leaves.
func typeInto(t *testing.T, address, token string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	socket, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{ //nolint:bodyclose // because the body is the connection of the WebSocket
		Subprotocols: []string{"v5.channel.k8s.io"}, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.CloseNow() }()
	if err := socket.Write(ctx, websocket.MessageBinary, []byte("\x00hello\r")); err != nil {
		t.Fatal(err)
	}
	for said := ""; !strings.Contains(said, "heard: hello"); {
		_, message, err := socket.Read(ctx)
		if err != nil {
			t.Fatalf("%v after %q", err, said)
		}
		said += string(message[1:])
	}
	if err := socket.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Errorf("leaving: %v", err)
	}
}
