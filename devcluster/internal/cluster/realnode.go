// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/windlass-operator/windlass/devcluster/internal/node"
	"github.com/windlass-operator/windlass/devcluster/internal/pki"
	"github.com/windlass-operator/windlass/devcluster/internal/process"
	"github.com/windlass-operator/windlass/devcluster/internal/realnode"
)

const (
	// shim is the name of the program with which containerd starts containers.
	shim = "containerd-shim-runc-v2"
	// clusterDNS is the address of a DNS server, if the user installs one.
	clusterDNS = "10.96.0.10"
	// unregisterPatience is for an API server that can be the reason why a node could not join.
	unregisterPatience = 10 * time.Second
)

// nodeInitComponent is the first process of the node's own namespaces. When it ends, the node ends.
func nodeInitComponent() component {
	return component{
		name: nodeInit, real: true, grace: 5 * time.Second,
		args: func(c *cluster) []string { return []string{c.files().Lib(), c.files().Log()} },
		place: func(ctx context.Context, c *cluster, spec *process.Spec) error {
			spec.Path, spec.Namespaces = filepath.Join(c.store.nodeBinaries(), nodeInit), true
			return c.furnishNode(ctx)
		},
		check: func(_ context.Context, c *cluster) error {
			id, err := c.nodeInit()
			if err != nil {
				return err
			}
			return realnode.Furnished(id.PID)
		},
	}
}

// containerdComponent imports the pause image of every pod, because nothing can be pulled.
func containerdComponent() component {
	return component{
		name: containerd, real: true, grace: 5 * time.Second, place: joinNode,
		args: func(c *cluster) []string { return []string{"--config", c.files().Containerd(), "--log-level", "warn"} },
		check: func(ctx context.Context, c *cluster) error {
			return c.withRuntime(func(runtime realnode.Runtime) error { return runtime.Healthy(ctx) })
		},
		started: func(ctx context.Context, c *cluster) error {
			return c.withRuntime(func(runtime realnode.Runtime) error { return c.importPause(ctx, runtime) })
		},
	}
}

// kubeletComponent has an external cloud provider, which is this program: otherwise the kubelet would choose an address
// of the machine that others can reach.
func kubeletComponent() component {
	return component{
		name: kubelet, real: true, grace: 5 * time.Second, probe: "/healthz",
		place: func(ctx context.Context, c *cluster, spec *process.Spec) error {
			// A kubelet adopts an existing node of its name, and kwok would continue to manage that node.
			client, err := c.client()
			if err != nil {
				return err
			}
			if err := node.MakeRoom(ctx, client, c.state.RealNode); err != nil {
				return err
			}
			return joinNode(ctx, c, spec)
		},
		ports: func(p Ports) []int32 { return []int32{p.Kubelet} },
		args: func(c *cluster) []string {
			return []string{
				"--config=" + c.files().Kubelet(), "--kubeconfig=" + c.componentKubeconfig(pki.Kubelet),
				"--hostname-override=" + c.state.RealNode, "--cloud-provider=external",
			}
		},
	}
}

// files is the node's part of the cluster's directory.
func (c *cluster) files() realnode.Files { return realnode.Files(filepath.Join(c.dir, "node")) }

// nodeBinaries is the directory with the names of noded.
func (s *Store) nodeBinaries() string { return filepath.Join(s.dir, "bin") }

// cgroup is a name that no other cluster of any state directory has.
func (c *cluster) cgroup() string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(c.dir))
	return fmt.Sprintf("devcluster-%016x", hash.Sum64())
}

// nodeInit returns the process that holds the node's namespaces.
func (c *cluster) nodeInit() (process.ID, error) {
	id, err := c.recorded(nodeInit)
	if err != nil {
		return id, err
	}
	alive, err := id.Alive()
	if err == nil && !alive {
		err = errors.New("the real node is not running")
	}
	return id, err
}

// joinNode places a process in the node's namespaces.
func joinNode(_ context.Context, c *cluster, spec *process.Spec) error {
	id, err := c.nodeInit()
	spec.Join = id
	return err
}

// withRuntime connects for each use: containerd can be replaced in between.
func (c *cluster) withRuntime(use func(realnode.Runtime) error) error {
	id, err := c.nodeInit()
	if err != nil {
		return err
	}
	runtime, err := realnode.Connect(id.PID)
	if err != nil {
		return err
	}
	defer runtime.Close()
	return use(runtime)
}

// prepareRealNode checks that the machine can run the node, before anything is created or started.
func (c *cluster) prepareRealNode(request Request) error {
	if have := c.state.RealNode; have != "" && request.RealNode != "" && have != request.RealNode {
		return fmt.Errorf("cluster %q already has the real node %q: omit --real-node, or run 'devcluster down --name %s' first",
			c.state.Name, have, c.state.Name)
	}
	if request.RealNode != "" {
		c.state.RealNode = request.RealNode
	}
	if c.state.RealNode == "" {
		return nil
	}
	if c.state.Ports.Kubelet == 0 && c.state.Ports.APIServer != 0 {
		// The cluster was created before devcluster had real nodes; its block of ports has one to spare.
		c.state.Ports.Kubelet = c.state.Ports.APIServer + portsOfBlock(0).Kubelet - portsOfBlock(0).APIServer
	}
	executable, err := executable()
	if err != nil {
		return err
	}
	if c.machine, err = realnode.Find(c.dir, executable); err != nil {
		return err
	}
	if err := link(c.store.nodeBinaries(), c.machine.Noded, []string{nodeInit, shim}); err != nil {
		return fmt.Errorf("cannot link the programs of a real node in %q: %w", c.store.nodeBinaries(), err)
	}
	return nil
}

// partRealNode removes a node that could not join an existing cluster, which continues without it.
func (c *cluster) partRealNode(ctx context.Context) error {
	if err := c.stopThose(ctx, func(component component) bool { return component.real }); err != nil {
		return err
	}
	// A Node that stays must not keep the cluster from going on without a real node.
	unregistered := c.unregisterNode(ctx)
	if err := os.RemoveAll(string(c.files())); err != nil {
		return errors.Join(unregistered, fmt.Errorf("cannot remove directory %q: %w", c.files(), err))
	}
	c.state.RealNode = ""
	return errors.Join(unregistered, c.store.save(c.state))
}

// unregisterNode deletes the Node, which is never ready again without its kubelet.
func (c *cluster) unregisterNode(ctx context.Context) error {
	// A kubelet that has started has this directory. Without one, a Node of that name is not the kubelet's, and the API
	// server can be what did not start.
	dir := c.runDir(kubelet)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, unregisterPatience)
	defer cancel()
	if err := node.Unregister(ctx, client, c.state.RealNode); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("cannot remove directory %q: %w", dir, err)
	}
	return nil
}

// issueNodeCertificates runs on every up, because a real node can join an existing cluster.
func (c *cluster) issueNodeCertificates() error {
	if c.state.RealNode == "" {
		return nil
	}
	return pki.IssueNode(c.pki, c.state.RealNode)
}

// furnishNode writes the configuration of a node before it starts, and creates its cgroups again: no process is left in
// them.
func (c *cluster) furnishNode(ctx context.Context) error {
	if err := realnode.RemoveCgroups(ctx, c.cgroup()); err != nil {
		return err
	}
	if err := realnode.CreateCgroups(c.cgroup()); err != nil {
		return err
	}
	return c.files().Write(realnode.Settings{
		Machine: c.machine, Port: c.state.Ports.Kubelet, Cgroup: c.cgroup(), Pods: c.state.Ports.podRange(),
		Shim: filepath.Join(c.store.nodeBinaries(), shim), ClusterDNS: clusterDNS,
		Authority: c.pki.Cert(pki.CA), Cert: c.pki.Cert(pki.KubeletServer), Key: c.pki.Key(pki.KubeletServer),
	})
}

// importPause builds the image on every start, because noded can have changed.
func (c *cluster) importPause(ctx context.Context, runtime realnode.Runtime) error {
	return importProgram(ctx, runtime, realnode.PauseImage, c.machine.Noded, "pause")
}

// importProgram streams the image to containerd while it is built.
func importProgram(ctx context.Context, runtime realnode.Runtime, ref, program, as string) error {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(realnode.Wrap(ref, program, as, writer)) }()
	err := runtime.Import(ctx, ref, reader)
	// Without this, the writer would block on data that the import did not read.
	_ = reader.Close()
	return err
}

// splitNodes separates the entry of the real node from the simulated ones.
func splitNodes(specs []node.Spec, name string) (simulated []node.Spec, entry *node.Spec) {
	simulated = slices.DeleteFunc(slices.Clone(specs), func(spec node.Spec) bool {
		if name == "" || spec.Name != name {
			return false
		}
		entry = &spec
		return true
	})
	return simulated, entry
}

// adoptRealNode gives the node its address and waits until it accepts pods.
func (c *cluster) adoptRealNode(ctx context.Context, client kubernetes.Interface, entry *node.Spec) error {
	c.store.progress.Doing("waiting for the real node %q", c.state.RealNode)
	begin := time.Now()
	registered := node.Registered{Name: c.state.RealNode}
	// The record is written right after the start. Without a record, the command that started the node did not finish, and
	// no part of the node's status is known to be old.
	if record, err := os.Stat(c.recordPath(kubelet)); err == nil {
		registered.Since = record.ModTime()
	}
	if err := node.Adopt(ctx, client, registered, entry); err != nil {
		return fmt.Errorf("%w; see the logs %s and %s", err, c.logPath(kubelet), c.logPath(containerd))
	}
	c.store.progress.Done("real node %q is ready after %.1fs", c.state.RealNode, time.Since(begin).Seconds())
	return nil
}

// Image is what to load into the containerd of a real node: exactly one of Archive and Program is set.
type Image struct {
	// Ref is the name of the image.
	Ref string
	// Archive is the path of a tar file from docker save, or with an OCI layout.
	Archive string
	// Program is the path of a static program to build an image from.
	Program string
}

// ImportImage loads an image into the containerd of a cluster's real node.
func (s *Store) ImportImage(ctx context.Context, name string, image Image) error {
	if err := s.exists(name); err != nil {
		return err
	}
	lock, err := s.lockCluster(ctx, name)
	if err != nil {
		return err
	}
	defer lock.release()
	state, err := s.load(name)
	if err != nil {
		return err
	}
	if state.RealNode == "" {
		return fmt.Errorf("cluster %q has no real node that could use the image: run 'devcluster up --name %s --real-node' first", name, name)
	}
	return s.cluster(state).withRuntime(func(runtime realnode.Runtime) error {
		if image.Program != "" {
			return importProgram(ctx, runtime, image.Ref, image.Program, filepath.Base(image.Program))
		}
		archive, err := os.Open(image.Archive)
		if err != nil {
			return fmt.Errorf("cannot read image archive %q: %w", image.Archive, err)
		}
		// Only read from.
		defer func() { _ = archive.Close() }()
		return runtime.Import(ctx, image.Ref, archive)
	})
}
