// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/windlass-operator/windlass/test/rig"
)

// early is a manager that was started before its CRDs.
type early struct {
	code  int
	log   string
	alive error // what /healthz said while it waited
	ready error // what /readyz said while it waited
}

// waitsForCRDs is in the log of a manager that waits for its CRDs.
const waitsForCRDs = "Waiting for the CRDs"

// installUnder applies the CRDs and rights under a manager that waits for them, and ends it once it is ready.
func (c *cluster) installUnder(ctx context.Context) error {
	manager, err := c.StartManager(ctx, c.Admin, filepath.Join(c.Dir, "early.log"), "--log-format=json", "--lease-lock-name=early")
	if err != nil {
		return err
	}
	err = manager.Until(ctx, pollInterval, func(context.Context) error {
		log, err := manager.Log()
		if err == nil && !strings.Contains(log, waitsForCRDs) {
			err = fmt.Errorf("its log is %q", log)
		}
		return err
	})
	if err == nil {
		err = manager.Until(ctx, pollInterval, func(ctx context.Context) error { // it says so a moment before it answers
			c.early.alive, c.early.ready = manager.Probe(ctx, "/healthz"), manager.Probe(ctx, "/readyz")
			return c.early.alive
		})
	}
	if err == nil {
		if err = c.Install(ctx); err == nil {
			err = manager.Ready(ctx, pollInterval)
		}
	}
	code, ending := manager.End(syscall.SIGTERM, patience)
	log, reading := manager.Log()
	c.early.code, c.early.log = code, log
	return errors.Join(err, ending, reading)
}

// TestAManagerWaitsForItsCRDs is about "kubectl apply -k config/default", which starts the Deployment before the CRDs are established.
func TestAManagerWaitsForItsCRDs(t *testing.T) {
	c := need(t)
	if c.early.alive != nil || c.early.ready == nil || !strings.Contains(c.early.ready.Error(), "503") {
		t.Errorf("while it waited, /healthz said %v and /readyz %v, want 200 and 503", c.early.alive, c.early.ready)
	}
	if said := strings.Count(c.early.log, waitsForCRDs); said != 1 || c.early.code != 0 || !strings.Contains(c.early.log, `"msg":"Starting"`) {
		t.Errorf("it said %d times that it waits, and ended with code %d:\n%s", said, c.early.code, c.early.log)
	}
	const missing = `"missing":["clusters.clusterprovisioner.rke.io","kubeconfigs.clusterprovisioner.rke.io","nodepools.nodes.lailin.xyz",` +
		`"podbuggertools.apps.jicki.cn","podsets.apps.jicki.cn","virtualmachines.cloudnative.tw"]`
	if !strings.Contains(c.early.log, missing) {
		t.Errorf("the log does not have %s:\n%s", missing, c.early.log)
	}
}

// TestMissingRightsAreNamed starts the manager with an account that may do nothing, and with one that lacks a single verb.
func TestMissingRightsAreNamed(t *testing.T) {
	c := need(t)
	const name = "lacks-a-right"
	c.apply(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: `+name+`, namespace: `+namespace+`}}`)
	t.Cleanup(func() {
		c.Run(context.WithoutCancel(t.Context()), c.Kubectl, "delete", "clusterrole,clusterrolebinding,serviceaccount", name, "-n", namespace)
	})
	_, account, err := c.TakeAccount(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	start := func() rig.Result {
		return c.Run(t.Context(), c.Windlass, "manager", "--kubeconfig", account, "--controllers=podbuggertool", "--leader-elect=false",
			"--metrics-bind-address=0", "--health-probe-bind-address=0")
	}
	line := func(verbs, on string) string {
		return fmt.Sprintf("windlass: controller \"podbuggertool\" needs the right to %s %s, which this account does not have on the API server at %s\n",
			verbs, on, c.Config.Host)
	}
	const todo = "windlass: apply the roles first with \"kubectl apply --server-side -k config/rbac\", or switch off what needs them\n"
	want := line("list, watch", "pods") + line("patch", "pods/ephemeralcontainers") + line("list, patch, watch", "podbuggertools.apps.jicki.cn") +
		line("patch", "podbuggertools.apps.jicki.cn/status") + line("create, patch", "events.events.k8s.io") + todo
	if got := start(); got.Code != 1 || got.Err != want {
		t.Errorf("without rights: exit code %d and\n%s, want 1 and\n%s", got.Code, got.Err, want)
	}

	c.apply(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: `+name+`}, rules: [
		{apiGroups: [""], resources: [pods], verbs: [list, watch]},
		{apiGroups: [""], resources: [pods/ephemeralcontainers], verbs: [patch]},
		{apiGroups: [apps.jicki.cn], resources: [podbuggertools], verbs: [list, watch, patch]},
		{apiGroups: [apps.jicki.cn], resources: [podbuggertools/status], verbs: [get]},
		{apiGroups: [events.k8s.io], resources: [events], verbs: [create, patch]}]}`)
	c.do(t, "create", "clusterrolebinding", name, "--clusterrole="+name, "--serviceaccount="+namespace+":"+name)
	eventually(t, "the role is in force", func(ctx context.Context) error {
		if got := c.Run(ctx, c.Kubectl, "auth", "can-i", "list", "pods", "--as=system:serviceaccount:"+namespace+":"+name); got.Code != 0 {
			return errors.New(got.Out + got.Err)
		}
		return nil
	})
	if got, want := start(), line("patch", "podbuggertools.apps.jicki.cn/status")+todo; got.Code != 1 || got.Err != want {
		t.Errorf("without one right: exit code %d and\n%s, want 1 and\n%s", got.Code, got.Err, want)
	}
}

// TestCheckSaysWhatAManagerWouldSay runs the command of "helm test".
func TestCheckSaysWhatAManagerWouldSay(t *testing.T) {
	c := need(t)
	want := "The API server at " + c.Config.Host + " serves and grants what these controllers need: [podset]\n"
	if got := c.Run(t.Context(), c.Windlass, "check", "--kubeconfig", c.manager, "--controllers=podset"); got.Code != 0 || got.Out != want {
		t.Errorf("exit code %d, %q and %q, want 0 and %q", got.Code, got.Out, got.Err, want)
	}
	_, gateway, err := c.TakeAccount(t.Context(), "windlass-gateway")
	if err != nil {
		t.Fatal(err)
	}
	const lacks = `controller "podset" needs the right to create, patch deployments.apps`
	got := c.Run(t.Context(), c.Windlass, "check", "--kubeconfig", gateway, "--controllers=podset")
	if got.Code != 1 || !strings.Contains(got.Err, lacks) || got.Out != "" {
		t.Errorf("with an account that lacks rights: exit code %d, %q and %q, want 1 and %q", got.Code, got.Out, got.Err, lacks)
	}
}
