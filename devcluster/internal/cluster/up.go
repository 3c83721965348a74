// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/version"

	"github.com/windlass-operator/windlass/devcluster/internal/node"
	"github.com/windlass-operator/windlass/devcluster/internal/pki"
	"github.com/windlass-operator/windlass/devcluster/internal/process"
	"github.com/windlass-operator/windlass/devcluster/internal/realnode"
)

// Request declares a cluster.
type Request struct {
	Name string
	// Config is the absolute path of the cluster.yml that it is created from, if any.
	Config string
	// Nodes are all simulated nodes of the cluster. Nil keeps the existing ones.
	Nodes []node.Spec
	// RealNode is the name of a real node. It replaces a simulated node of that name. Empty changes nothing: a cluster keeps
	// its real node until it is deleted.
	RealNode string
	// Controllers are those that kube-controller-manager runs, as its flag of that name has them. A cluster keeps what it was created with; empty asks for
	// nothing else.
	Controllers string
	// Kubeconfig is the absolute path of an additional kubeconfig, outside of the state directory.
	Kubeconfig string
}

// Result is the outcome of a Request.
type Result struct {
	// Kubeconfig is the requested one, or the one in the state directory.
	Kubeconfig string
	Endpoint   string
}

// cluster is one cluster while a command holds its lock.
type cluster struct {
	store    *Store
	dir      string
	pki      pki.Dir
	binaries string
	machine  realnode.Machine
	state    State
	// guard keeps the block of ports until components listen there; nil when nothing has to.
	guard io.Closer
}

// cluster only builds paths; nothing has to exist yet.
func (s *Store) cluster(state State) *cluster {
	dir := s.clusterDir(state.Name)
	return &cluster{store: s, dir: dir, pki: pki.Dir(filepath.Join(dir, "pki")), state: state}
}

// Up creates, starts, repairs or changes a cluster, until it runs as requested.
func (s *Store) Up(ctx context.Context, request Request) (Result, error) {
	if err := ValidateName(request.Name); err != nil {
		return Result{}, err
	}
	binaries, err := s.binaries()
	if err != nil {
		return Result{}, err
	}
	lock, err := s.lockCluster(ctx, request.Name)
	if err != nil {
		return Result{}, err
	}
	defer func() {
		if _, err := os.Stat(s.clusterDir(request.Name)); err != nil {
			lock.remove()
			return
		}
		lock.release()
	}()
	state, err := s.load(request.Name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Result{}, err
	}
	if err := sameOrigin(state, request); err != nil {
		return Result{}, err
	}
	fresh := !state.Complete
	if fresh {
		state = State{Name: request.Name, Config: request.Config, Controllers: request.Controllers}
	}
	c := s.cluster(state)
	c.binaries = binaries
	defer c.releasePorts()
	if err := c.prepareRealNode(request); err != nil {
		return Result{}, err
	}
	joins := state.RealNode == "" && c.state.RealNode != ""

	idle, err := c.up(ctx, request, fresh)
	switch {
	case err == nil:
		return c.result(request), nil
	case fresh:
		return Result{}, c.abandon(ctx, err)
	}
	ctx = context.WithoutCancel(ctx)
	if joins {
		// First, while the API server runs that has the Node.
		err = errors.Join(err, c.partRealNode(ctx))
	}
	if idle {
		// Nothing ran before this command, so nothing may run after it.
		err = errors.Join(err, c.stop(ctx))
	}
	return Result{}, err
}

// Start starts a cluster as it was when it was stopped, also without the file it was created from.
func (s *Store) Start(ctx context.Context, name string) (Result, error) {
	if err := s.exists(name); err != nil {
		return Result{}, err
	}
	state, err := s.load(name)
	if errors.Is(err, ErrNotFound) || err == nil && !state.Complete {
		return Result{}, fmt.Errorf("cannot start cluster %q: %w: run 'devcluster up' again, or 'devcluster down --name %s'",
			name, ErrIncomplete, name)
	}
	if err != nil {
		return Result{}, err
	}
	return s.Up(ctx, Request{Name: name, Config: state.Config})
}

// up reports whether the cluster was idle when it began, also if it fails.
func (c *cluster) up(ctx context.Context, request Request, fresh bool) (idle bool, err error) {
	if fresh {
		if err := c.create(ctx); err != nil {
			return true, err
		}
	}
	running, err := c.survey()
	if err != nil {
		return false, err
	}
	idle = len(running) == 0
	if running, err = c.claimPorts(ctx, running); err != nil {
		return idle, err
	}
	if len(running) == 0 {
		// A component that already runs can be from an older build.
		c.state.Version = version.Get().GitVersion
	}
	if err := c.store.save(c.state); err != nil {
		return idle, err
	}
	if err := c.issueNodeCertificates(); err != nil {
		return idle, err
	}
	if err := c.writeComponentKubeconfigs(); err != nil {
		return idle, err
	}
	if err := c.ensure(ctx, running); err != nil {
		return idle, err
	}
	if err := c.populate(ctx, request); err != nil {
		return idle, err
	}
	if request.Kubeconfig != "" {
		if err := c.publishKubeconfig(ctx, request.Kubeconfig); err != nil {
			return idle, err
		}
	}
	if err := c.refreshKubeconfigs(ctx, request.Kubeconfig); err != nil {
		return idle, err
	}
	c.state.Complete = true
	return idle, c.store.save(c.state)
}

// create writes everything that a cluster needs before its first process. It removes what an earlier first start left.
func (c *cluster) create(ctx context.Context) error {
	c.store.progress.Doing("creating cluster %q", c.state.Name)
	if err := c.stop(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("cannot clear directory %q: %w", c.dir, err)
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return fmt.Errorf("cannot create directory %q: %w", c.dir, err)
	}
	if err := c.reservePorts(ctx); err != nil {
		return err
	}
	// The last is what pods of a real node have of the machine: there is no kube-proxy, and a program may listen there for them.
	ips := []net.IP{net.ParseIP(loopback), net.ParseIP(firstServiceIP), c.state.Ports.podRange().Addr().Next().AsSlice()}
	hosts := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
	if err := pki.Create(c.pki, ips, hosts); err != nil {
		return err
	}
	return writeFile(c.stagesPath(), stages())
}

// stagesPath is a file, not a custom resource: the cluster must have no definitions except the user's.
func (c *cluster) stagesPath() string { return filepath.Join(c.dir, "kwok.yaml") }

// claimPorts makes sure that the ports of components to be started are free. If another program uses one of them, the
// whole cluster moves, because every component knows the port of another one.
func (c *cluster) claimPorts(ctx context.Context, running map[string][]process.ID) (map[string][]process.ID, error) {
	if len(running) == 0 && !c.guardPorts(ctx) {
		return nil, c.movePorts(ctx, "another cluster is being started on the ports of this one")
	}
	for _, batch := range c.batches() {
		for _, component := range batch {
			if len(running[component.name]) > 0 || component.ports == nil {
				continue
			}
			for _, port := range component.ports(c.state.Ports) {
				if !portIsFree(ctx, port) {
					return nil, c.movePorts(ctx, fmt.Sprintf("another program uses port %d of %s", port, component.name))
				}
			}
		}
	}
	return running, nil
}

// movePorts stops the cluster and gives it other ports.
func (c *cluster) movePorts(ctx context.Context, why string) error {
	c.store.progress.Done("%s, moving the cluster to other ports", why)
	if err := c.stop(ctx); err != nil {
		return err
	}
	return c.reservePorts(ctx)
}

// populate reconciles the nodes with the request and waits until pods can be created and run.
func (c *cluster) populate(ctx context.Context, request Request) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	if err := c.awaitServiceAccount(ctx, client); err != nil {
		return err
	}
	simulated, entry := splitNodes(request.Nodes, c.state.RealNode)
	nodes := node.Simulator{
		Client: client, Version: c.state.Version, KubeletPort: c.state.Ports.Kwok, Real: c.state.RealNode,
		Report: func(verb string, done, total int) { c.store.progress.Counting("%s nodes %d/%d", verb, done, total) },
	}
	if request.Nodes != nil {
		change, err := nodes.Sync(ctx, simulated)
		if err != nil {
			return err
		}
		if change != (node.Change{}) {
			c.store.progress.Done("nodes: %d added, %d changed, %d removed", change.Added, change.Changed, change.Removed)
		}
	}
	ready, err := nodes.AwaitReady(ctx)
	if err != nil {
		return err
	}
	if c.state.RealNode != "" {
		if err := c.adoptRealNode(ctx, client, entry); err != nil {
			return err
		}
		ready++
	}
	if ready != c.state.Nodes {
		c.store.progress.Done("%d nodes are ready", ready)
	}
	c.state.Nodes = ready
	return nil
}

// client acts as the administrator.
func (c *cluster) client() (kubernetes.Interface, error) {
	config, err := c.restConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client for cluster %q: %w", c.state.Name, err)
	}
	return client, nil
}

// awaitServiceAccount waits for the account that pods run as: until the controller manager has created it, the API server
// refuses every pod.
func (c *cluster) awaitServiceAccount(ctx context.Context, client kubernetes.Interface) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startPatience, true, func(ctx context.Context) (bool, error) {
		_, last = client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return last == nil, nil
	})
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("cannot find the default service account of cluster %q, see log %s: %w", c.state.Name, c.logPath(controllerManager), last)
}

// abandon undoes a first start. After an interrupt it removes everything; after a failure it keeps the logs for the user.
func (c *cluster) abandon(ctx context.Context, cause error) error {
	interrupted := ctx.Err() != nil
	if interrupted {
		c.store.progress.Doing("interrupted, removing the incomplete cluster %q", c.state.Name)
	}
	ctx = context.WithoutCancel(ctx)
	if err := c.stop(ctx); err != nil {
		return errors.Join(cause, err)
	}
	for _, path := range c.state.Kubeconfigs {
		cause = errors.Join(cause, c.withdrawKubeconfig(ctx, path))
	}
	if !interrupted {
		return cause
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return errors.Join(cause, fmt.Errorf("cannot remove directory %q: %w", c.dir, err))
	}
	return cause
}

// result names the requested kubeconfig, because the user expects that one.
func (c *cluster) result(request Request) Result {
	result := Result{Kubeconfig: request.Kubeconfig, Endpoint: "https://" + address(c.state.Ports.APIServer)}
	if result.Kubeconfig == "" {
		result.Kubeconfig = c.adminKubeconfig()
	}
	return result
}
