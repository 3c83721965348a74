// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/console"
	"github.com/windlass-operator/windlass/test/rig"
)

const (
	// patience is how long a state may take, on a machine that has much else to do.
	patience = 4 * time.Minute
	// interval is how often it is asked for.
	interval = 200 * time.Millisecond
	// shown is the namespace of config/showcase.
	shown = "showcase"
	// viewer and editor are users who may see, and do, everything there and nothing elsewhere.
	viewer, editor = "viewer", "editor"
)

// showroom is a cluster like that of "make run": its nodes, samples and showcase, and a manager that serves the console.
type showroom struct {
	rig.Cluster

	// url is the URL that "make run" prints, ui the one of a "windlass ui" beside it, and api that of "kubectl proxy".
	url, ui, api string
	// written returns the end of the manager's log.
	written func() string
}

// need skips the test where a part has not been built.
func (s *showroom) need(t *testing.T) {
	t.Helper()
	if err := rig.CheckBuilt(s.Windlass, s.Devcluster, s.Kubectl); err != nil {
		t.Skip(err)
	}
	if root, err := console.New(); err != nil || !root.Built() {
		t.Skipf("needs the console: make build builds it where there is a Node (%v)", err)
	}
}

// newShowroom starts everything, or skips the test where a part has not been built.
func newShowroom(t *testing.T) *showroom {
	t.Helper()
	programs, err := rig.FindPrograms()
	must(t, err)
	s := &showroom{Cluster: rig.Cluster{Programs: programs, Name: "showroom"}}
	s.need(t)
	nodes, err := os.ReadFile(filepath.Join(s.Root, "config", "local", "cluster.yml"))
	must(t, err)
	config := filepath.Join(t.TempDir(), "cluster.yml")
	must(t, os.WriteFile(config, bytes.Replace(nodes, []byte("cluster_name: windlass"), []byte("cluster_name: "+s.Name), 1), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	t.Cleanup(func() { must(t, s.Down(context.WithoutCancel(t.Context()))) })
	must(t, s.Up(ctx, "--config", config))
	must(t, s.Install(ctx))
	s.manage(ctx, t)
	s.ui = serves(ctx, t, &s.Cluster, "http://", s.Windlass, "ui", "--no-open", "--kubeconfig", s.Admin)
	s.api = "http://" + serves(ctx, t, &s.Cluster, "Starting to serve on ", s.Kubectl, "proxy", "--port=0")
	return s
}

// serves starts a program that runs as long as the test, and returns the address in the line of its output that begins so.
func serves(ctx context.Context, t *testing.T, c *rig.Cluster, begins, program string, args ...string) (address string) {
	t.Helper()
	command := c.Command(context.WithoutCancel(ctx), program, args...)
	command.Dir = c.Dir
	name := filepath.Base(program) + "-" + args[0]
	process, err := rig.Start(name, filepath.Join(c.Dir, name+".log"), command)
	must(t, err)
	t.Cleanup(func() {
		if _, err := process.End(syscall.SIGTERM, patience); err != nil {
			t.Error(err)
		}
	})
	must(t, process.Until(ctx, interval, func(context.Context) error {
		out, err := process.Log()
		for line := range strings.Lines(out) {
			if whole, complete := strings.CutSuffix(line, "\n"); complete && strings.HasPrefix(whole, begins) {
				address = whole
				if begins != "http://" {
					address = strings.TrimPrefix(whole, begins)
				}
				return nil
			}
		}
		return errors.Join(err, errors.New("it has not printed its address: "+out))
	}))
	return address
}

// manage starts the manager, and reads the URL of the console.
func (s *showroom) manage(ctx context.Context, t *testing.T) {
	t.Helper()
	address, err := rig.FreeAddress(ctx)
	must(t, err)
	session := filepath.Join(s.Dir, "session")
	manager, err := s.StartManager(ctx, s.Admin, filepath.Join(s.Dir, "windlass.log"), "--vm-driver=simulated",
		"--allowed-provisioners=devcluster", "--provisioner-path=devcluster="+s.Devcluster, "--state-dir", filepath.Join(s.Dir, "runs"),
		"--gateway-bind-address", address, "--gateway-session-file", session, "--gateway-requests-per-second=0")
	must(t, err)
	t.Cleanup(func() {
		// A manager whose API server went away may end with an error: this is about what the browser sees of it.
		if _, err := manager.End(syscall.SIGTERM, patience); err != nil {
			t.Error(err)
		}
	})
	s.written = func() string { return "log of the manager:\n" + manager.Tail() }
	must(t, manager.Ready(ctx, interval))
	must(t, manager.Until(ctx, interval, func(context.Context) error {
		raw, err := os.ReadFile(session)
		s.url = strings.TrimSpace(string(raw))
		return err
	}))
}

// fill creates what "make run" creates, but for the clusters that would be whole control planes, and the user of one namespace. It returns
// when the slowest of it is as it stays.
func (s *showroom) fill(t *testing.T) {
	t.Helper()
	var samples []string
	for _, name := range []string{"nodepool-worker", "nodepool-gpu", "nodepool-edge", "podset", "podbuggertool", "kubeconfig", "virtualmachine"} {
		samples = append(samples, "-f", filepath.Join(s.Root, "config", "samples", name+".yaml"))
	}
	s.kubectl(t, append([]string{"apply", "--server-side"}, samples...)...)
	for _, folder := range []string{"showcase", filepath.Join("showcase", "machines")} {
		s.kubectl(t, "apply", "--server-side", "-k", filepath.Join(s.Root, "config", folder))
	}
	s.account(t, viewer, "view")
	s.account(t, editor, "admin", "windlass-virtualmachine-editor")
	wait := func(object, state string) {
		s.kubectl(t, "-n", shown, "wait", object, "--for="+state, "--timeout="+patience.String())
	}
	wait("virtualmachine/bench", "jsonpath={.status.phase}=Active")
	s.kubectl(t, "apply", "--server-side", "-f", filepath.Join(s.Root, "config", "showcase", "machines", "larger.yaml"))
	wait("virtualmachine/bench", "condition=RestartRequired")
	wait("virtualmachine/crash", "jsonpath={.status.startFailure.reason}=Crashed")
	wait("podset/train", "jsonpath={.status.availableReplicas}=4")
	wait("deployment/shop", "condition=Available")
	wait("nodepool/archive", "condition=Stalled")
	wait("cluster/lab", "jsonpath={.status.lastOperation.reason}=ConfigRefused")
	wait("cluster/staging", "condition=Reconciling")
}

// account creates a user with roles in the namespace of the showcase.
func (s *showroom) account(t *testing.T, name string, roles ...string) {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: shown, Name: name}}
	must(t, s.Client.Create(t.Context(), account))
	for _, role := range roles {
		must(t, s.Client.Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: shown, Name: name + "-" + role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: shown, Name: name}},
		}))
	}
}

func (s *showroom) kubectl(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	// An API server serves a kind a moment after its CRD is established, and an object may not have a status yet.
	must(t, rig.Until(ctx, interval, func(ctx context.Context) error {
		done := s.Run(ctx, s.Kubectl, args...)
		if done.Code != 0 {
			return errors.New(strings.Join(args, " ") + ": " + done.Err)
		}
		return nil
	}))
}
