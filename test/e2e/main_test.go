// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests what is shipped: the built binary, against a real control plane with simulated nodes, through kubectl and
// the API. The manager always runs with the rights of its own ServiceAccount, as config/rbac gives them, and a test in which
// the API server refused it anything has failed.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-operator/windlass/test/rig"
)

// namespace is where the shipped manifests put the manager.
const namespace = rig.Namespace

// nodeCount is how many simulated nodes the cluster has. Tests share them, one test at a time, and leave them clean.
const nodeCount = 60

// root is the top folder of the repository, seen from this package.
const root = "../.."

// installed is a cluster in which Windlass runs already, as Pods. Tests that start a manager with flags of their own are skipped there, and
// the others start none. test/incluster names those that make sense.
var installed = flag.String("installed", "", "kubeconfig of a cluster where Windlass is installed, which tests use instead of one of their own")

// cluster is a cluster; most tests share one.
type cluster struct {
	rig.Cluster

	// manager is a kubeconfig with the rights of the manager's ServiceAccount. Empty where the manager runs already.
	manager string
	// early is what happened to a manager that was started before the CRDs were there.
	early early
}

// shared is the cluster, or why there is none.
var shared struct {
	*cluster

	skip string
}

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() {
		shared.skip = "needs a whole cluster, which -short leaves out"
		return m.Run()
	}
	c, err := newCluster("e2e")
	if err != nil {
		shared.skip = err.Error()
		return m.Run()
	}
	if *installed != "" {
		return c.runInstalled(m)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	err = c.start(ctx, "--name", c.Name, "--nodes", strconv.Itoa(nodeCount))
	defer c.stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot start the cluster of the tests: %v\n", err)
		return 1
	}
	shared.cluster = c
	return m.Run()
}

// runInstalled runs the tests in a cluster that others have started, and will delete.
func (c *cluster) runInstalled(m *testing.M) int {
	if err := c.Attach(*installed); err != nil {
		fmt.Fprintf(os.Stderr, "cannot use the cluster of -installed: %v\n", err)
		return 1
	}
	shared.cluster = c
	code := m.Run()
	if err := c.RemoveDir(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// newCluster returns a cluster that has not been started, or an error if a program that it needs has not been built.
func newCluster(name string) (*cluster, error) {
	programs, err := rig.FindPrograms()
	if err != nil {
		return nil, err
	}
	c := &cluster{Cluster: rig.Cluster{Programs: programs, Name: name}}
	return c, rig.CheckBuilt(c.Windlass, c.Devcluster, c.Kubectl)
}

// start starts the cluster that the arguments of "devcluster up" describe, and applies what an administrator applies.
func (c *cluster) start(ctx context.Context, args ...string) (err error) {
	if err := c.Up(ctx, args...); err != nil {
		return err
	}
	if err := c.installUnder(ctx); err != nil {
		return err
	}
	_, c.manager, err = c.TakeAccount(ctx, rig.ServiceAccount)
	return err
}

// stop deletes the cluster.
func (c *cluster) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := c.Down(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// need returns the cluster, or skips the test where there is none.
func need(t *testing.T) *cluster {
	t.Helper()
	if shared.cluster == nil {
		t.Skip(shared.skip)
	}
	return shared.cluster
}
