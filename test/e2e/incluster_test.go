// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/windlass-operator/windlass/test/rig"
)

// TestInClusterConfiguration starts the manager as a Pod does: with no kubeconfig, but with the environment and the files that a kubelet
// gives to containers. They are at fixed paths, so the manager gets a view of the file system of its own.
func TestInClusterConfiguration(t *testing.T) {
	c := need(t)
	if _, err := exec.LookPath("unshare"); err != nil || os.Getuid() != 0 {
		t.Skip("needs root and unshare, to put files where a kubelet would")
	}
	server, err := url.Parse(c.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(server.Host)
	if err != nil {
		t.Fatal(err)
	}
	ca := c.Config.CAData
	if len(ca) == 0 {
		if ca, err = os.ReadFile(c.Config.CAFile); err != nil {
			t.Fatal(err)
		}
	}
	account := t.TempDir()
	for name, content := range map[string][]byte{
		"ca.crt": ca, "namespace": []byte(namespace),
		"token": []byte(strings.TrimSpace(c.do(t, "create", "token", rig.ServiceAccount, "--namespace", namespace))),
	} {
		if err := os.WriteFile(filepath.Join(account, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const mounts = `mount -t tmpfs none "$(readlink -f /var/run)" && mkdir -p /var/run/secrets/kubernetes.io/serviceaccount &&
		cp "$1"/* /var/run/secrets/kubernetes.io/serviceaccount && shift && exec "$@"`
	command := c.Command(context.WithoutCancel(t.Context()), "unshare", "--mount", "sh", "-c", mounts, "sh", account,
		c.Windlass, "manager", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--vm-driver=simulated")
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "POD_NAME=windlass-in-a-pod",
		"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port,
	}
	process, err := rig.Start("windlass", filepath.Join(t.TempDir(), "manager.log"), command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if code, err := process.End(syscall.SIGTERM, patience); err != nil || code != 0 {
			t.Errorf("the manager ended with code %d: %v: %s", code, err, process.Tail())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := process.Until(ctx, pollInterval, func(ctx context.Context) error {
		holder, err := c.holder(ctx)
		if err == nil && holder != "windlass-in-a-pod" {
			err = fmt.Errorf("%q holds the Lease", holder)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
