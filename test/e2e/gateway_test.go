// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

// ask sends a request to the HTTP API.
func ask(ctx context.Context, method, url, token, body string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	return response.StatusCode, string(raw), err
}

// TestUI is the article's tour through "windlass ui": one URL, nodes and namespaces, a Deployment with its Service whose pods
// run, both gone again, and a clean end.
func TestUI(t *testing.T) {
	c := need(t)
	command := c.Command(context.WithoutCancel(t.Context()), c.Windlass, "ui", "--no-open", "--kubeconfig", c.Admin)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "ui.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	command.Stderr = log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = command.Process.Kill()
			_ = command.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	base, secret, ok := strings.Cut(strings.TrimSpace(line), "/?session=")
	if err != nil || !ok || !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Fatalf("it prints %q: %v", line, err)
	}
	expect := func(method, path, body string, status int, want string) {
		t.Helper()
		got, text, err := ask(t.Context(), method, base+path, secret, body)
		if err != nil || got != status || !strings.Contains(text, want) {
			t.Fatalf("%s %s: %d %v, want %d with %q: %.2000s", method, path, got, err, status, want, text)
		}
	}
	expect(http.MethodGet, "/v1/me", "", 200, `"session":true`)
	expect(http.MethodGet, "/v1/nodes", "", 200, `"kind":"NodeList"`)
	expect(http.MethodGet, "/v1/namespaces", "", 200, `"name":"kube-system"`)
	expect(http.MethodPost, "/v1/apps", "", 201, `"image":"nginx:alpine"`)
	t.Cleanup(func() { // a namespace stays for a while, and must not be in the way of the next run
		_ = c.Client.Delete(context.WithoutCancel(t.Context()), namespaced("testing"))
	})
	eventually(t, "both pods of the article run", func(ctx context.Context) error {
		pods := &corev1.PodList{}
		if err := c.Client.List(ctx, pods, client.InNamespace("testing"), client.MatchingLabels{"app": "k8s-test-app"}); err != nil {
			return err
		}
		running := 0
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if running != 2 {
			return fmt.Errorf("%d run", running)
		}
		return nil
	})
	expect(http.MethodGet, "/v1/deployments?ns=testing", "", 200, `"name":"k8s-test-stub"`)
	expect(http.MethodDelete, "/v1/apps/testing/k8s-test-stub", "", 200, `{"deployment":"deleted","service":"deleted"}`)
	err = c.Client.Get(t.Context(), client.ObjectKey{Namespace: "testing", Name: "k8s-test-stub"}, &appsv1.Deployment{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("afterwards the Deployment is there: %v", err)
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended = true
	if err := command.Wait(); err != nil {
		t.Errorf("it does not end in order: %v", err)
	}
	if raw, err := os.ReadFile(log.Name()); err != nil || strings.Contains(string(raw), secret) {
		t.Errorf("the log has the secret (%v)", err)
	}
}

func namespaced(name string) *corev1.Namespace {
	out := &corev1.Namespace{}
	out.Name = name
	return out
}

// TestManagerServesTheAPI runs the API beside the controllers, as make run does.
func TestManagerServesTheAPI(t *testing.T) {
	c := need(t)
	session := filepath.Join(t.TempDir(), "session")
	address := freeAddress(t)
	c.startManager(t, "--kubeconfig", c.Admin, "--gateway-bind-address", address, "--gateway-session-file", session).ready()
	raw, err := os.ReadFile(session)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(session); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the session file is readable for others: %v %v", info, err)
	}
	_, secret, _ := strings.Cut(strings.TrimSpace(string(raw)), "session=")
	eventually(t, "nodes are listed", func(ctx context.Context) error {
		status, body, err := ask(ctx, http.MethodGet, "http://"+address+"/v1/nodes?limit=1", secret, "")
		if err == nil && (status != 200 || !strings.Contains(body, `"NodeList"`)) {
			err = fmt.Errorf("status %d: %s", status, body)
		}
		return err
	})
}

// TestManagerServesTheAPIInTheCluster runs the API beside the controllers under the manager's own account, with what
// config/gateway-in-manager binds it to and nothing else: the test fails if the API server refuses it anything.
func TestManagerServesTheAPIInTheCluster(t *testing.T) {
	c := need(t)
	binding := filepath.Join(root, "config", "gateway-in-manager", "role_binding.yaml")
	c.do(t, "apply", "--server-side", "-f", binding)
	t.Cleanup(func() { c.Run(context.WithoutCancel(t.Context()), c.Kubectl, "delete", "-f", binding) })
	eventually(t, "the API server knows of the binding", func(ctx context.Context) error {
		asked := c.Run(ctx, c.Kubectl, "auth", "can-i", "create", "tokenreviews", "--as=system:serviceaccount:"+namespace+":"+rig.ServiceAccount)
		if asked.Code != 0 {
			return fmt.Errorf("%s%s", asked.Out, asked.Err)
		}
		return nil
	})
	address, metrics := freeAddress(t), freeAddress(t)
	c.startManager(t, "--gateway-plaintext", "--gateway-bind-address", address, "--metrics-bind-address", metrics).ready()
	// Somebody who may read what the API serves, and write nothing of it.
	token := strings.TrimSpace(c.do(t, "create", "token", "windlass-gateway", "-n", namespace))
	eventually(t, "every kind is read from a cache", func(ctx context.Context) error {
		for _, plural := range []string{
			"nodes", "namespaces", "deployments", "services", "nodepools", "podsets", "podbuggertools", "virtualmachines", "clusters", "kubeconfigs",
		} {
			before, err := cacheReads(ctx, metrics)
			if err != nil {
				return err
			}
			status, body, err := ask(ctx, http.MethodGet, "http://"+address+"/v1/"+plural, token, "")
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("status %d: %.500s", status, body)
			}
			after, metricErr := cacheReads(ctx, metrics)
			if err := errors.Join(err, metricErr); err != nil {
				return fmt.Errorf("%s: %w", plural, err)
			}
			if before == after {
				return fmt.Errorf("%s come from the API server", plural)
			}
		}
		return nil
	})
	// The manager's account may create Deployments; who calls may not.
	status, body, err := ask(t.Context(), http.MethodPost, "http://"+address+"/v1/apps", token, `{"name":"a","namespace":"default","image":"a:1"}`)
	if err != nil || status != http.StatusForbidden || !strings.Contains(body, "windlass-gateway") {
		t.Errorf("a write is answered %d %v: %.500s", status, err, body)
	}
}

// cacheReads returns the line of the metrics that counts what was read from caches.
func cacheReads(ctx context.Context, address string) (string, error) {
	_, body, err := ask(ctx, http.MethodGet, "http://"+address+"/metrics", "", "")
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, `windlass_gateway_reads_total{from="cache"}`) {
			return line, err
		}
	}
	return "", err
}

// TestGatewayAlone runs the API under its shipped account, which may do so little that nothing else could run with it.
func TestGatewayAlone(t *testing.T) {
	c := need(t)
	_, account, err := c.TakeAccount(t.Context(), "windlass-gateway")
	if err != nil {
		t.Fatal(err)
	}
	address, health := freeAddress(t), freeAddress(t)
	log, err := os.Create(filepath.Join(t.TempDir(), "gateway.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	command := c.Command(context.WithoutCancel(t.Context()), c.Windlass, "gateway", "--kubeconfig", account, "--plaintext", "--bind-address", address,
		"--health-probe-bind-address", health, "--metrics-bind-address=0")
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Errorf("it does not end in order: %v", err)
		}
		raw, err := os.ReadFile(log.Name())
		if err != nil || strings.Contains(string(raw), "forbidden") || strings.Contains(string(raw), `"controllers"=["`) {
			t.Errorf("its log is (%v):\n%s", err, raw)
		}
	})
	eventually(t, "it is ready", func(ctx context.Context) error {
		status, _, err := ask(ctx, http.MethodGet, "http://"+health+"/readyz", "", "")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d", status)
		}
		return err
	})
	token := c.do(t, "create", "token", "windlass", "-n", namespace)
	for path, want := range map[string]int{"/v1/nodes": 200, "/v1/services": 403, "/v1/nodepools": 200} {
		status, body, err := ask(t.Context(), http.MethodGet, "http://"+address+path, strings.TrimSpace(token), "")
		if err != nil || status != want {
			t.Errorf("%s: %d %v, want %d: %.500s", path, status, err, want, body)
		}
	}
}
