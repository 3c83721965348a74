// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
	"github.com/windlass-operator/windlass/test/rig"
)

const (
	// patience is how long a state may take: long, because a machine may be slow.
	patience = 3 * time.Minute
	// pollInterval is how often a state is looked at.
	pollInterval = 100 * time.Millisecond
)

// stage is an API server with what an administrator applies, and perhaps a Docker Engine.
type stage struct {
	rig.Cluster

	audit  auditLog
	engine *dockertest.Daemon
	// state is the directory of managers for runs of tools, which outlives them.
	state string
}

// newStage starts an API server, or skips the test where it, or the program, was not built.
func newStage(t *testing.T, name string) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("needs an API server, which -short leaves out")
	}
	if os.Getenv("WINDLASS_HANDOVER") == "" {
		t.Skip("takes minutes: run make handover")
	}
	programs, err := rig.FindPrograms()
	must(t, err)
	s := &stage{Cluster: rig.Cluster{Programs: programs, Name: name}}
	if err := rig.CheckBuilt(s.Windlass, s.Kubectl, s.Kubernetes("etcd"), s.Kubernetes("kube-apiserver")); err != nil {
		t.Skip(err)
	}
	must(t, s.MakeDir())
	t.Cleanup(func() { must(t, s.RemoveDir()) })
	s.state = filepath.Join(s.Dir, "runs")
	policy := filepath.Join(s.Dir, "audit-policy.yaml")
	must(t, os.WriteFile(policy, []byte(auditPolicy), 0o600))
	s.audit = auditLog(filepath.Join(s.Dir, "audit.log"))
	environment := &envtest.Environment{
		BinaryAssetsDirectory: filepath.Dir(s.Kubectl), ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: patience,
	}
	environment.ControlPlane.GetAPIServer().Configure().
		Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement").
		Set("audit-policy-file", policy).Set("audit-log-path", string(s.audit))
	t.Cleanup(func() { must(t, environment.Stop()) })
	config, err := environment.Start()
	must(t, err)
	must(t, s.Connect(config))
	must(t, rig.WriteKubeconfig(s.Admin, config))
	return s
}

// withEngine starts a Docker Engine for machines, where one can run: simulated machines end with their manager.
func (s *stage) withEngine(t *testing.T) {
	t.Helper()
	if missing := dockertest.Missing(); missing != "" {
		t.Logf("without machines on a Docker Engine: %s", missing)
		return
	}
	s.engine = dockertest.Start(t)
}

// args are the arguments of a manager, on which an engine is reached through a socket.
func (s *stage) args(t *testing.T, socket string) []string {
	t.Helper()
	args := []string{"--usage-in-status=off", "--allowed-provisioners=exec", "--state-dir=" + s.state, "--vm-driver=simulated"}
	if s.engine == nil {
		return args
	}
	hosts := filepath.Join(t.TempDir(), "hosts.yaml")
	must(t, os.WriteFile(hosts, []byte("hosts:\n- {name: host, driver: docker, endpoint: \"unix://"+socket+"\"}\n"), 0o600))
	return append(args, "--vm-driver=docker", "--vm-hosts="+hosts)
}

// leader is a running manager.
type leader struct {
	*rig.Manager

	metrics string
}

// start starts a manager of a program, and waits until it is ready: to lead, or to take over.
func (s *stage) start(t *testing.T, program, kubeconfig, identity string, args ...string) *leader {
	t.Helper()
	cluster := s.Cluster
	cluster.Windlass = program
	metrics, err := rig.FreeAddress(t.Context())
	must(t, err)
	running, err := cluster.StartManager(t.Context(), kubeconfig, filepath.Join(t.TempDir(), identity+".log"),
		append([]string{"--holder-identity=" + identity, "--metrics-bind-address=" + metrics}, args...)...)
	must(t, err)
	t.Cleanup(func() {
		if running.Ended() == nil {
			_, err := running.End(syscall.SIGTERM, patience)
			must(t, err)
		}
		if t.Failed() {
			t.Logf("log of %s:\n%s", identity, running.Tail())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, running.Ready(ctx, pollInterval))
	return &leader{Manager: running, metrics: metrics}
}

// stop ends a manager in order.
func (l *leader) stop(t *testing.T) {
	t.Helper()
	if code, err := l.End(syscall.SIGTERM, patience); code != 0 || err != nil {
		t.Fatalf("the manager ended with code %d: %v", code, err)
	}
}

// leads waits until the Lease is held by the identity.
func (s *stage) leads(t *testing.T, identity string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		lease := &coordinationv1.Lease{}
		if err := s.Client.Get(ctx, client.ObjectKey{Namespace: rig.Namespace, Name: rig.LeaseName}, lease); err != nil {
			return err
		}
		if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != identity {
			return fmt.Errorf("%q holds the Lease, want %q", holder, identity)
		}
		return nil
	})
}

// kubectl runs kubectl as the administrator and returns what it printed.
func (s *stage) kubectl(t *testing.T, in string, args ...string) string {
	t.Helper()
	command := s.Command(t.Context(), s.Kubectl, args...)
	command.Stdin = strings.NewReader(in)
	done := rig.Finish(command)
	if done.Code != 0 {
		t.Fatalf("kubectl %s: exit code %d: %s\n%s", strings.Join(args, " "), done.Code, done.Err, in)
	}
	return done.Out
}

// apply applies a manifest as the administrator.
func (s *stage) apply(t *testing.T, manifest string) {
	t.Helper()
	s.kubectl(t, strings.ReplaceAll(manifest, "\t", " "), "apply", "--server-side", "-f", "-")
}

// wait waits until an object, which may not exist yet, is as asked.
func (s *stage) wait(t *testing.T, about ...string) {
	t.Helper()
	object, state := about[:len(about)-1], about[len(about)-1]
	eventually(t, func(ctx context.Context) error {
		done := s.Run(ctx, s.Kubectl, append([]string{"wait", "--for=" + state, "--timeout=20s"}, object...)...)
		if done.Code != 0 {
			return errors.New(done.Err)
		}
		return nil
	})
}

// eventually waits until a check succeeds.
func eventually(t *testing.T, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, rig.Until(ctx, pollInterval, check))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
