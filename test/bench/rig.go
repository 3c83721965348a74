// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-operator/windlass/internal/kube"
)

// Where the shipped manifests put the manager.
const (
	systemNamespace = "windlass-system"
	accountName     = "windlass"
	leaseName       = "windlass"
)

// User agents, as far as the first slash.
const (
	agentWindlass = "windlass"
	agentBench    = "bench"
	agentFloor    = "floor"
	agentArticle  = "article"
	agentKubelet  = "kubelet"

	agentControllers = "kube-controller-manager"
)

// Processes whose CPU time is measured, besides the manager and what makes pods run.
const (
	processBench     = "bench"
	processAPIServer = "apiserver"
	processEtcd      = "etcd"
)

// silence is how long nothing may be written before a piece of work counts as done.
const silence = 500 * time.Millisecond

// rig is a control plane on the loopback address, in processes of this program: etcd, which does not wait for the disk, so
// that the disk is not what is measured, and the API server, with its audit log on; where pods have to run, also the
// controller manager, the scheduler and the simulator of nodes.
type rig struct {
	root string
	// windlass is the program that is measured.
	windlass string
	dir      string
	env      *envtest.Environment
	scheme   *runtime.Scheme
	// client is the administrator's, who is subject to priority and fairness as everybody but system:masters is.
	client client.Client
	config *rest.Config
	// account has the rights of the manager's ServiceAccount.
	account *rest.Config
	// cache is how convergence is seen: by watches.
	cache  cache.Cache
	audit  *auditLog
	others []*process
	// pids are the processes whose CPU time is measured, by name.
	pids map[string]int
	end  context.CancelFunc
	// ownNodes is how many nodes there are.
	ownNodes int
}

// startRig starts a control plane with the shipped CRDs and rights applied. The rig is returned in any case, to be stopped.
func startRig(ctx context.Context, b *bench, whole bool) (*rig, error) {
	log.SetLogger(logr.Discard())
	r := &rig{scheme: kube.NewScheme(), pids: map[string]int{processBench: os.Getpid()}}
	ctx, r.end = context.WithCancel(ctx)
	var err error
	if r.root, err = findRoot(); err != nil {
		return r, err
	}
	if r.windlass, err = filepath.Abs(cmp.Or(b.options.Windlass, filepath.Join(r.root, "bin", "windlass"))); err != nil {
		return r, fmt.Errorf("cannot find the program to measure: %w", err)
	}
	if r.dir, err = os.MkdirTemp("", "windlass-bench-"); err != nil {
		return r, fmt.Errorf("cannot make a directory: %w", err)
	}
	if err := r.startServers(); err != nil {
		return r, err
	}
	if err := r.addAdministrator(ctx); err != nil {
		return r, err
	}
	if err := r.applyManifests(ctx); err != nil {
		return r, err
	}
	if r.cache, err = r.watchers(ctx); err != nil {
		return r, err
	}
	if whole {
		b.tell("starting controller manager, scheduler and simulator of nodes")
		err = r.startWorkloads()
	}
	return r, err
}

// findRoot returns the top folder of the repository, above the present one.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot find the repository: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "config", "crd", "bases")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("cannot find the repository above %q", dir)
		}
	}
}

func (r *rig) startServers() error {
	for _, path := range []string{r.program("etcd"), r.program("kube-apiserver"), r.windlass} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("cannot find %s: run \"make build\" first", path)
		}
	}
	policy := filepath.Join(r.dir, "audit-policy.yaml")
	r.audit = &auditLog{path: filepath.Join(r.dir, "audit.log")}
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("cannot write the audit policy: %w", err)
	}
	r.env = &envtest.Environment{
		BinaryAssetsDirectory:    filepath.Join(r.root, "bin", "k8s"),
		ControlPlaneStartTimeout: time.Minute,
		ControlPlaneStopTimeout:  30 * time.Second,
	}
	r.env.ControlPlane.GetAPIServer().Configure().
		Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement").
		Set("audit-policy-file", policy).Set("audit-log-path", r.audit.path).
		Set("audit-log-maxsize", "10000") // never turned over, because it is read by position
	if _, err := r.env.Start(); err != nil {
		return fmt.Errorf("cannot start the API server: %w", err)
	}
	r.pids[processAPIServer], r.pids[processEtcd] = child("kube-apiserver"), child("etcd")
	return nil
}

// applyManifests applies what an administrator applies, and takes a token of the manager's ServiceAccount.
func (r *rig) applyManifests(ctx context.Context) error {
	for _, args := range [][]string{
		{"apply", "--server-side", "-k", filepath.Join(r.root, "config", "crd")},
		{"apply", "--server-side", "-k", filepath.Join(r.root, "config", "rbac")},
	} {
		if err := r.kubectl(ctx, args...); err != nil {
			return err
		}
	}
	established := []string{
		"wait", "--for=condition=Established", "--timeout=30s", "-f", filepath.Join(r.root, "config", "crd", "bases"),
	}
	var err error
	for range 50 { // "kubectl wait" gives up on a CRD that has no conditions yet
		if err = r.kubectl(ctx, established...); err == nil {
			return r.takeAccount(ctx)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return err
}

// stop ends everything, the clients of the API server first: it would wait for their watches.
func (r *rig) stop() error {
	r.end()
	var errs []error
	for _, p := range r.others {
		errs = append(errs, p.stop())
	}
	if r.env != nil {
		errs = append(errs, r.env.Stop())
	}
	if r.dir != "" {
		errs = append(errs, os.RemoveAll(r.dir))
	}
	return errors.Join(errs...)
}
