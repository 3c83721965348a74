// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/kube"
)

// Where the shipped manifests put the manager.
const (
	Namespace      = "windlass-system"
	ServiceAccount = "windlass"
	LeaseName      = "windlass"
)

// Cluster is a control plane, with the programs that are run against it.
type Cluster struct {
	Programs

	Name string
	// Dir is a temporary directory, and the home of every program that runs.
	Dir string
	// As is the user that programs run as; nil is the user of the test.
	As *syscall.Credential
	// Env is added to the environment of programs, as "NAME=value".
	Env []string
	// Admin is the path of the administrator's kubeconfig.
	Admin  string
	Config *rest.Config
	Client client.WithWatch
}

// Up starts the devcluster that the arguments of "devcluster up" describe. Call Down even if Up fails.
func (c *Cluster) Up(ctx context.Context, args ...string) error {
	if err := c.MakeDir(); err != nil {
		return err
	}
	up := c.Command(ctx, c.Devcluster, append([]string{"up", "--kubeconfig", c.Admin}, args...)...)
	if out, err := up.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot start devcluster %q: %w: %s", c.Name, err, out)
	}
	return c.connectAsAdmin()
}

// Attach uses a cluster that others have started, whose administrator's kubeconfig it is given. End with RemoveDir.
func (c *Cluster) Attach(kubeconfig string) error {
	if err := c.MakeDir(); err != nil {
		return err
	}
	c.Admin = kubeconfig
	return c.connectAsAdmin()
}

func (c *Cluster) connectAsAdmin() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Admin)
	if err != nil {
		return fmt.Errorf("cannot use the kubeconfig of cluster %q: %w", c.Name, err)
	}
	config.QPS = -1
	return c.Connect(config)
}

// Down deletes the devcluster and its directory. The directory stays if the devcluster does: it is needed to try again.
func (c *Cluster) Down(ctx context.Context) error {
	if c.Dir == "" {
		return nil
	}
	if out, err := c.Command(ctx, c.Devcluster, "down", "--name", c.Name).CombinedOutput(); err != nil {
		return fmt.Errorf("cannot delete devcluster %q: %w: %s", c.Name, err, out)
	}
	return c.RemoveDir()
}

// MakeDir makes the directory of the cluster.
func (c *Cluster) MakeDir() (err error) {
	if c.Dir, err = os.MkdirTemp("", "windlass-"+c.Name+"-"); err != nil {
		return fmt.Errorf("cannot make a directory for the cluster: %w", err)
	}
	c.Admin = c.kubeconfig("admin")
	return nil
}

// RemoveDir removes the directory of the cluster, if there is one.
func (c *Cluster) RemoveDir() error {
	if c.Dir == "" {
		return nil
	}
	return os.RemoveAll(c.Dir)
}

// Connect makes the administrator's client.
func (c *Cluster) Connect(config *rest.Config) (err error) {
	if c.Client, err = client.NewWithWatch(config, client.Options{Scheme: kube.NewScheme()}); err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	c.Config = config
	return nil
}

// Install applies what an administrator applies, the CRDs and the rights, and waits until the API server serves the kinds.
func (c *Cluster) Install(ctx context.Context) error {
	for _, part := range []string{"crd", "rbac"} {
		applied := c.Run(ctx, c.Kubectl, "apply", "--server-side", "-k", filepath.Join(c.Root, "config", part))
		if applied.Code != 0 {
			return fmt.Errorf("cannot apply config/%s: %s", part, applied.Err)
		}
	}
	// "kubectl wait" gives up on a CRD that has no conditions yet, so it is asked again.
	err := Until(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		waited := c.Run(ctx, c.Kubectl, "wait", "--for=condition=Established", "--timeout=30s",
			"-f", filepath.Join(c.Root, "config", "crd", "bases"))
		if waited.Code != 0 {
			return errors.New(waited.Err)
		}
		_, missing, err := kube.NewMapper(c.Config, kube.Kinds()...)
		if len(missing) > 0 {
			err = fmt.Errorf("clients do not find %v yet", missing)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot wait any longer for the CRDs: %w", err)
	}
	return nil
}
