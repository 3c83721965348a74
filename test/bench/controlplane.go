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
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/test/rig"
)

// User agents, as far as the first slash.
const (
	agentWindlass = "windlass"
	agentBench    = "bench"
	agentFloor    = "floor"
	agentArticle  = "article"
	agentKubelet  = "kubelet"
	// agentController is a controller that does nothing but send patches which it is given.
	agentController = "controller"

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

// patience is how long anything may take that is waited for: long, because a machine may be slow.
const patience = 10 * time.Minute

// etcdBytes is how large etcd's data may become, 8 GiB. The API server removes old versions of objects every five minutes, and in that time ten rounds
// on 5,000 nodes write more than the 2 GiB that etcd takes by default.
const etcdBytes = "8589934592"

// controlPlane is a control plane on the loopback address, in processes of this program: etcd, which does not wait for the
// disk, so that the disk is not what is measured, and the API server, with its audit log on; where pods have to run, also
// the controller manager, the scheduler and the simulator of nodes.
type controlPlane struct {
	// Cluster has the program that is measured, and the administrator's client. The administrator is subject to priority and
	// fairness as everybody but system:masters is.
	rig.Cluster

	env    *envtest.Environment
	scheme *runtime.Scheme
	// account has the rights of the manager's ServiceAccount, and accountConfig is a kubeconfig of it.
	account       *rest.Config
	accountConfig string
	// cache is how convergence is seen: by watches.
	cache  cache.Cache
	audit  *auditLog
	others []*rig.Process
	// pids are the processes whose CPU time is measured, by name.
	pids map[string]int
	end  context.CancelFunc
	// ownNodes is how many nodes there are.
	ownNodes int
	// pprof is where managers serve their profiles; empty for nowhere.
	pprof string
}

// startControlPlane starts a control plane with the shipped CRDs and rights applied. It is returned in any case, to be
// stopped.
func startControlPlane(ctx context.Context, b *bench, whole bool) (*controlPlane, error) {
	log.SetLogger(logr.Discard())
	r := &controlPlane{
		Cluster: rig.Cluster{Name: agentBench}, scheme: kube.NewScheme(), pids: map[string]int{processBench: os.Getpid()},
		pprof: b.options.Pprof,
	}
	ctx, r.end = context.WithCancel(ctx)
	var err error
	if r.Programs, err = rig.FindPrograms(); err != nil {
		return r, err
	}
	if r.Windlass, err = filepath.Abs(cmp.Or(b.options.Windlass, r.Windlass)); err != nil {
		return r, fmt.Errorf("cannot find the program to measure: %w", err)
	}
	if err := r.MakeDir(); err != nil {
		return r, err
	}
	if err := r.startServers(); err != nil {
		return r, err
	}
	if err := r.addAdministrator(ctx); err != nil {
		return r, err
	}
	if err := r.install(ctx); err != nil {
		return r, err
	}
	if r.cache, err = r.watchers(ctx); err != nil {
		return r, err
	}
	if whole {
		b.tell("starting controller manager, scheduler and simulator of nodes")
		err = r.startWorkloads(ctx)
	}
	return r, err
}

func (r *controlPlane) startServers() error {
	if err := rig.CheckBuilt(r.Kubernetes("etcd"), r.Kubernetes("kube-apiserver"), r.Windlass); err != nil {
		return err
	}
	policy := filepath.Join(r.Dir, "audit-policy.yaml")
	r.audit = &auditLog{path: filepath.Join(r.Dir, "audit.log")}
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("cannot write the audit policy: %w", err)
	}
	r.env = &envtest.Environment{
		BinaryAssetsDirectory:    filepath.Join(r.Root, "bin", "k8s"),
		ControlPlaneStartTimeout: time.Minute,
		ControlPlaneStopTimeout:  30 * time.Second,
	}
	r.env.ControlPlane.Etcd = &envtest.Etcd{}
	r.env.ControlPlane.Etcd.Configure().Set("quota-backend-bytes", etcdBytes)
	r.env.ControlPlane.GetAPIServer().Configure().
		Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement").
		Set("audit-policy-file", policy).Set("audit-log-path", r.audit.path).
		Set("audit-log-maxsize", "10000") // never turned over, because it is read by position
	if _, err := r.env.Start(); err != nil {
		return fmt.Errorf("cannot start the API server: %w", err)
	}
	r.pids[processAPIServer], r.pids[processEtcd] = rig.Child("kube-apiserver"), rig.Child("etcd")
	return nil
}

// install applies what an administrator applies, and takes a token of the manager's ServiceAccount.
func (r *controlPlane) install(ctx context.Context) (err error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.Install(waiting); err != nil {
		return err
	}
	r.account, r.accountConfig, err = r.TakeAccount(ctx, rig.ServiceAccount)
	return err
}

// stop ends everything, the clients of the API server first: it would wait for their watches.
func (r *controlPlane) stop() error {
	r.end()
	var errs []error
	for _, p := range r.others {
		errs = append(errs, endInOrder(p))
	}
	if r.env != nil {
		errs = append(errs, r.env.Stop())
	}
	return errors.Join(append(errs, r.RemoveDir())...)
}
