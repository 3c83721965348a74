// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// insideConfig is a cluster.yml; its address is the name of a simulated node and is never dialled.
const insideConfig = `cluster_name: inside
nodes:
- {address: 10.200.1.7, user: ubuntu, role: [controlplane, worker, etcd]}
`

// insideManifest is a Cluster that is asked for its health often, so that the test is short.
const insideManifest = `apiVersion: clusterprovisioner.rke.io/v1alpha1
kind: Cluster
metadata: {name: inside}
spec:
  configPath: %s
  health: {interval: 1s, timeout: 2s, failureThreshold: 2}
`

// provisioned is a cluster that a Cluster has made, with devcluster in RKE's place.
type provisioned struct {
	*cluster

	// inside is the same environment with the new cluster's administrator in it. Its client still leads to the old one.
	inside *cluster
	// home is the directory of the new cluster, which is in the command line of its processes.
	home string
}

// TestInsideAProvisionedCluster uses a cluster that was provisioned, harms it, and proves that nothing is left of it.
func TestInsideAProvisionedCluster(t *testing.T) {
	c := need(t)
	dir := t.TempDir()
	config := filepath.Join(dir, "cluster.yml")
	if err := os.WriteFile(config, []byte(insideConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	inside := *c
	inside.Admin = filepath.Join(dir, "kube_config_cluster.yml") // beside the configuration, as RKE writes it
	inside.manager = inside.Admin
	p := &provisioned{cluster: c, inside: &inside, home: filepath.Join(c.Dir, "devcluster", "clusters", "inside")}

	c.startManager(t, "--provisioner-path=rke="+c.Devcluster, "--state-dir="+filepath.Join(dir, "runs")).ready()
	// Whatever a step finds, the cluster's processes do not outlive the test: this runs while the manager still does.
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = c.Run(ctx, c.Kubectl, "delete", "clusters.clusterprovisioner.rke.io", "inside", "--ignore-not-found", "--timeout=3m")
	})
	c.apply(t, fmt.Sprintf(insideManifest, config))
	p.becomes(t, clusterprovisionerv1alpha1.ConditionProvisioned, metav1.ConditionTrue, clusterprovisionerv1alpha1.ReasonApplied)
	p.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)
	// Each step stands on the one before.
	_ = t.Run("a second manager finds pools by the role labels of RKE", p.poolsWork) &&
		t.Run("a frozen etcd makes it not ready although its version is told", p.frozenEtcdShows) &&
		t.Run("removing it leaves no process", p.nothingIsLeft)
}

// becomes waits until a condition of the Cluster has the status and the reason.
func (p *provisioned) becomes(t *testing.T, conditionType string, value metav1.ConditionStatus, reason string) {
	t.Helper()
	p.conditionBecomes(t, "inside", conditionType, value, reason)
}

// poolsWork runs what the guide says: a manager of its own on the new cluster, whose role labels have the value "true".
func (p *provisioned) poolsWork(t *testing.T) {
	for _, directory := range []string{"crd", "rbac"} {
		p.inside.do(t, "apply", "--server-side", "-k", filepath.Join(root, "config", directory))
	}
	// "kubectl wait" gives up on a CRD that has no conditions yet, so it is asked again.
	eventually(t, "the CRDs are established", func(ctx context.Context) error {
		done := p.inside.Run(ctx, p.Kubectl, "wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")
		if done.Code != 0 {
			return errors.New(done.Err)
		}
		return nil
	})
	p.inside.startManager(t).ready()
	p.inside.apply(t, pool("worker", "1"))
	eventually(t, "the node is in the pool", func(ctx context.Context) error {
		done := p.inside.Run(ctx, p.Kubectl, "get", "nodes", "-o", "name",
			"-l", "node-role.kubernetes.io/worker=true,node-pool.lailin.xyz/worker=1")
		if strings.TrimSpace(done.Out) != "node/10.200.1.7" {
			return fmt.Errorf("the pool has %q: %s", done.Out, done.Err)
		}
		return nil
	})
	p.inside.do(t, "delete", "nodepools.nodes.lailin.xyz", "worker", "--timeout=3m")
}

// frozenEtcdShows stops etcd without ending it: the API server goes on answering what it knows by heart.
func (p *provisioned) frozenEtcdShows(t *testing.T) {
	etcd := p.processOf(t, "etcd")
	t.Cleanup(func() { _ = syscall.Kill(etcd, syscall.SIGCONT) })
	if err := syscall.Kill(etcd, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.becomes(t, status.Ready, metav1.ConditionFalse, clusterprovisionerv1alpha1.ReasonNotAnswering)
	// What was provisioned stays so: only its health has changed.
	p.becomes(t, clusterprovisionerv1alpha1.ConditionProvisioned, metav1.ConditionTrue, clusterprovisionerv1alpha1.ReasonApplied)
	if version := p.inside.do(t, "get", "--raw", "/version"); !strings.Contains(version, "gitVersion") {
		t.Errorf("/version answers %q", version)
	}
	if err := syscall.Kill(etcd, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)
}

// nothingIsLeft deletes the Cluster.
func (p *provisioned) nothingIsLeft(t *testing.T) {
	if before := processesNaming(t, p.home); len(before) == 0 {
		t.Fatal("no process of the cluster was found while it runs: this test could not see one that is left")
	}
	p.do(t, "delete", "clusters.clusterprovisioner.rke.io", "inside", "--timeout=3m")
	if left := processesNaming(t, p.home); len(left) > 0 {
		t.Errorf("the Cluster is gone and these processes are left:\n%s", strings.Join(left, "\n"))
	}
	if _, err := os.Stat(p.home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the Cluster is gone and %s is left (%v)", p.home, err)
	}
}

// processOf returns the process of a component, which is the cluster's own beyond doubt.
func (p *provisioned) processOf(t *testing.T, component string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.home, "run", component+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var record struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal(raw, &record); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(record.PID), "cmdline"))
	if err != nil || !strings.Contains(string(line), p.home) {
		t.Fatalf("process %d is not the cluster's %s: %q (%v)", record.PID, component, line, err)
	}
	return record.PID
}
