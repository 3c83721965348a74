// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// rkeConfig is a cluster.yml as the article has it; its address is the name of a simulated node and is never dialled.
const rkeConfig = `cluster_name: clusteraws
nodes:
- address: 10.200.0.7
  user: ubuntu
  role: [controlplane, worker, etcd]
services:
  kubelet:
    extra_args:
      cgroup-driver: systemd
      fail-swap-on: "false"
`

// clusterManifest is the article's.
const clusterManifest = `apiVersion: clusterprovisioner.rke.io/v1alpha1
kind: Cluster
metadata:
  name: clusteraws
  labels:
    aws: "true"
spec:
  configPath: %s
`

// TestClusterOfTheArticle brings up a second control plane, with devcluster in RKE's place, and removes it for certain. The manager is
// killed while the tool runs.
func TestClusterOfTheArticle(t *testing.T) {
	c := need(t)
	dir := t.TempDir()
	config := filepath.Join(dir, "cluster.yml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(rkeConfig)
	args := []string{"--provisioner-path=rke=" + c.Devcluster, "--state-dir=" + filepath.Join(dir, "runs")}
	m := c.startManager(t, args...).ready()
	c.apply(t, fmt.Sprintf(clusterManifest, config))
	c.clusterBecomes(t, "its tool runs", func(cluster *clusterprovisionerv1alpha1.Cluster) bool {
		return cluster.Status.LastOperation != nil
	})
	m.kill()
	c.startManager(t, args...).ready()
	cluster := c.clusterBecomes(t, "it is ready", ready)
	if last := cluster.Status.LastOperation; last.Attempt != 1 || last.Action != clusterprovisionerv1alpha1.ActionUp {
		t.Errorf("the last operation is %+v, want the first and only up", last)
	}

	inside := filepath.Join(dir, "kubeconfig")
	encoded := c.do(t, "-n", cluster.Status.KubeconfigRef.Namespace, "get", "secret", cluster.Status.KubeconfigRef.Name, "-o", "jsonpath={.data.value}")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(inside, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	nodes := c.do(t, "--kubeconfig", inside, "get", "nodes", "--no-headers")
	if !strings.Contains(nodes, "10.200.0.7") || !strings.Contains(nodes, "controlplane,etcd,worker") {
		t.Errorf("the cluster has the nodes\n%s", nodes)
	}

	write(rkeConfig + "ssh_agent_auth: true\n")
	write(strings.Replace(rkeConfig, "services:", "- {address: 10.200.0.8, user: ubuntu, role: [worker]}\nservices:", 1))
	cluster = c.clusterBecomes(t, "the second node is there", func(cluster *clusterprovisionerv1alpha1.Cluster) bool {
		return ready(cluster) && cluster.Status.Nodes != nil && cluster.Status.Nodes.Desired == 2 && cluster.Status.Nodes.Ready == 2
	})
	var listed []string
	for _, node := range cluster.Status.Nodes.Items {
		listed = append(listed, fmt.Sprintf("%s %s %s", node.Name, node.Ready, strings.Join(node.Roles, ",")))
	}
	if got := strings.Join(listed, "; "); got != "10.200.0.7 True controlplane,etcd,worker; 10.200.0.8 True worker" {
		t.Errorf("the status lists the nodes %s", got)
	}

	c.do(t, "delete", "cluster.clusterprovisioner.rke.io", "clusteraws", "--timeout=60s")
	if list := c.Run(t.Context(), c.Devcluster, "list"); strings.Contains(list.Out, "clusteraws") {
		t.Errorf("the cluster is still there:\n%s", list.Out)
	}
}

// ready reports whether the cluster's summary is True.
func ready(cluster *clusterprovisionerv1alpha1.Cluster) bool {
	return apimeta.IsStatusConditionTrue(cluster.Status.Conditions, status.Ready)
}

// clusterBecomes waits until the article's Cluster is as wanted, and returns it.
func (c *cluster) clusterBecomes(
	t *testing.T, what string, wanted func(*clusterprovisionerv1alpha1.Cluster) bool,
) *clusterprovisionerv1alpha1.Cluster {
	t.Helper()
	found := &clusterprovisionerv1alpha1.Cluster{}
	eventually(t, what, func(ctx context.Context) error {
		if err := c.Client.Get(ctx, client.ObjectKey{Name: "clusteraws"}, found); err != nil {
			return err
		}
		if !wanted(found) {
			return fmt.Errorf("status is %+v", found.Status)
		}
		return nil
	})
	return found
}
