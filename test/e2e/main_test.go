// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests what is shipped: the built binary, against a real control plane with simulated nodes, through kubectl and
// the API. The manager always runs with the rights of its own ServiceAccount, as config/rbac gives them, and a test in which
// the API server refused it anything has failed.
package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-operator/windlass/internal/kube"
)

// Where the shipped manifests put the manager.
const (
	namespace      = "windlass-system"
	serviceAccount = "windlass"
	leaseName      = "windlass"
)

// nodeCount is how many simulated nodes the cluster has. Tests share them, one test at a time, and leave them clean.
const nodeCount = 60

// root is the top folder of the repository, seen from this package.
const root = "../.."

// cluster is a cluster; most tests share one.
type cluster struct {
	name       string
	dir        string
	devcluster string
	windlass   string
	kubectl    string
	// admin and manager are kubeconfigs: the administrator's, and one with the rights of the manager's ServiceAccount.
	admin, manager string
	config         *rest.Config
	client         client.WithWatch
	// withoutCRDs is how the manager ended before the CRDs were there.
	withoutCRDs result
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
	c := &cluster{name: "e2e"}
	if missing := c.find(); missing != "" {
		shared.skip = missing
		return m.Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	err := c.start(ctx, "--name", c.name, "--nodes", strconv.Itoa(nodeCount))
	defer c.stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot start the cluster of the tests: %v\n", err)
		return 1
	}
	shared.cluster = c
	return m.Run()
}

// find finds the programs, or says which one is missing.
func (c *cluster) find() (missing string) {
	for path, name := range map[*string]string{&c.windlass: "windlass", &c.devcluster: "devcluster", &c.kubectl: "k8s/kubectl"} {
		*path, _ = filepath.Abs(filepath.Join(root, "bin", name))
		if _, err := os.Stat(*path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("needs %s: run \"make build\" first", *path)
		}
	}
	return ""
}

// start starts the cluster that the arguments of "devcluster up" describe, and applies what an administrator applies.
func (c *cluster) start(ctx context.Context, args ...string) (err error) {
	if c.dir, err = os.MkdirTemp("", "windlass-e2e-"); err != nil {
		return err
	}
	c.admin, c.manager = filepath.Join(c.dir, "admin"), filepath.Join(c.dir, "manager")
	up := c.command(ctx, c.devcluster, append([]string{"up", "--kubeconfig", c.admin}, args...)...)
	if out, err := up.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot start devcluster: %w: %s", err, out)
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.admin); err != nil {
		return err
	}
	c.config.QPS = -1
	if c.client, err = client.NewWithWatch(c.config, client.Options{Scheme: kube.NewScheme()}); err != nil {
		return err
	}
	c.withoutCRDs = c.run(ctx, c.windlass, "manager", "--kubeconfig", c.admin,
		"--metrics-bind-address=0", "--health-probe-bind-address=0")
	for _, args := range [][]string{
		{"apply", "--server-side", "-k", filepath.Join(root, "config", "crd")},
		{"apply", "--server-side", "-k", filepath.Join(root, "config", "rbac")},
	} {
		if done := c.run(ctx, c.kubectl, args...); done.code != 0 {
			return fmt.Errorf("cannot %v: %s", args, done.err)
		}
	}
	// "kubectl wait" gives up on a CRD that has no conditions yet, so it is asked again.
	established := []string{"wait", "--for=condition=Established", "--timeout=30s", "-f", filepath.Join(root, "config", "crd", "bases")}
	for c.run(ctx, c.kubectl, established...).code != 0 {
		if ctx.Err() != nil {
			return fmt.Errorf("cannot wait for the CRDs: %w", ctx.Err())
		}
	}
	return c.writeManagerConfig(ctx)
}

// writeManagerConfig writes a kubeconfig with a token of the manager's ServiceAccount.
func (c *cluster) writeManagerConfig(ctx context.Context) error {
	return c.writeAccountConfig(ctx, serviceAccount, c.manager)
}

// accountConfig returns a kubeconfig with a token of a ServiceAccount in the manager's namespace.
func (c *cluster) accountConfig(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := c.writeAccountConfig(t.Context(), name, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func (c *cluster) writeAccountConfig(ctx context.Context, name, path string) error {
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = namespace, name
	request := &authenticationv1.TokenRequest{}
	if err := c.client.SubResource("token").Create(ctx, account, request); err != nil {
		return fmt.Errorf("cannot request a token for %q: %w", name, err)
	}
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"e2e": {
			Server: c.config.Host, CertificateAuthorityData: c.config.CAData, CertificateAuthority: c.config.CAFile,
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: request.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{"e2e": {Cluster: "e2e", AuthInfo: name}},
		CurrentContext: "e2e",
	}, path)
}

// stop deletes the cluster.
func (c *cluster) stop() {
	if c.dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if out, err := c.command(ctx, c.devcluster, "down", "--name", c.name).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot delete the cluster of the tests: %v: %s\n", err, out)
		return // its directory is needed for another try
	}
	_ = os.RemoveAll(c.dir)
}

// need returns the cluster, or skips the test where there is none.
func need(t *testing.T) *cluster {
	t.Helper()
	if shared.cluster == nil {
		t.Skip(shared.skip)
	}
	return shared.cluster
}
