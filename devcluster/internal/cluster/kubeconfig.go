// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"

	"github.com/windlass-operator/windlass/devcluster/internal/pki"
)

// contextName is the name of a cluster's entries in kubeconfigs, prefixed because they may share a file with others.
func contextName(name string) string { return "devcluster-" + name }

// kubeconfig builds the configuration of one client, certificates included, so that the file works anywhere.
func (c *cluster) kubeconfig(client string) (*api.Config, error) {
	var contents [3][]byte
	for i, path := range []string{c.pki.Cert(pki.CA), c.pki.Cert(client), c.pki.Key(client)} {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read certificate %q, run 'devcluster down --name %s' to start over: %w", path, c.state.Name, err)
		}
		contents[i] = raw
	}
	name := contextName(c.state.Name)
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{
		Server:                   "https://" + address(c.state.Ports.APIServer),
		CertificateAuthorityData: contents[0],
	}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: contents[1], ClientKeyData: contents[2]}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return config, nil
}

// componentKubeconfig lies with the keys that it holds a copy of.
func (c *cluster) componentKubeconfig(client string) string {
	return filepath.Join(string(c.pki), client+".kubeconfig")
}

// adminKubeconfig is always there, whether or not a file was asked for; the kubeconfig command prints it.
func (c *cluster) adminKubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// writeComponentKubeconfigs writes the files that the components start with. They hold the API server's port, so they
// follow it when it has to move.
func (c *cluster) writeComponentKubeconfigs() error {
	paths := map[string]string{pki.Admin: c.adminKubeconfig()}
	for _, client := range []string{pki.ControllerManager, pki.Scheduler, pki.KwokController} {
		paths[client] = c.componentKubeconfig(client)
	}
	if c.state.RealNode != "" {
		paths[pki.Kubelet] = c.componentKubeconfig(pki.Kubelet)
	}
	for client, path := range paths {
		config, err := c.kubeconfig(client)
		if err != nil {
			return err
		}
		raw, err := clientcmd.Write(*config)
		if err != nil {
			return fmt.Errorf("cannot encode kubeconfig %q: %w", path, err)
		}
		if err := writeFile(path, raw); err != nil {
			return fmt.Errorf("cannot write kubeconfig %q: %w", path, err)
		}
	}
	return nil
}

// publishKubeconfig puts the administrator's entries into a file of the user's and makes them current. Other clusters'
// entries in that file stay, for it may well be the one that the user works with.
func (c *cluster) publishKubeconfig(ctx context.Context, path string) error {
	if !slices.Contains(c.state.Kubeconfigs, path) {
		// Recorded first: an entry that is not recorded would never be taken away again.
		c.state.Kubeconfigs = append(c.state.Kubeconfigs, path)
		if err := c.store.save(c.state); err != nil {
			return err
		}
	}
	return c.editKubeconfig(ctx, path, func(config *api.Config) { config.CurrentContext = contextName(c.state.Name) })
}

// refreshKubeconfigs follows a move of the cluster in the files that earlier calls have written. It changes neither
// what the user has made current nor brings back what the user has deleted.
func (c *cluster) refreshKubeconfigs(ctx context.Context, except string) error {
	for _, path := range c.state.Kubeconfigs {
		if _, err := os.Stat(path); err != nil || path == except {
			continue
		}
		if err := c.editKubeconfig(ctx, path, func(*api.Config) {}); err != nil {
			return err
		}
	}
	return nil
}

// editKubeconfig puts the administrator's entries into a file, and whatever else is to be changed in it.
func (c *cluster) editKubeconfig(ctx context.Context, path string, also func(*api.Config)) error {
	lock, err := c.store.lockStore(ctx)
	if err != nil {
		return err
	}
	defer lock.release()

	own, err := c.kubeconfig(pki.Admin)
	if err != nil {
		return err
	}
	config, err := readKubeconfig(path)
	if err != nil {
		return err
	}
	name := contextName(c.state.Name)
	config.Clusters[name], config.AuthInfos[name] = own.Clusters[name], own.AuthInfos[name]
	if _, kept := config.Contexts[name]; !kept {
		// A context that is there may hold the user's choice of a namespace.
		config.Contexts[name] = own.Contexts[name]
	}
	also(config)
	return writeKubeconfig(path, config)
}

// withdrawKubeconfig takes the cluster's entries out of a file, and the file away when nothing else is in it.
func (c *cluster) withdrawKubeconfig(ctx context.Context, path string) error {
	lock, err := c.store.lockStore(ctx)
	if err != nil {
		return err
	}
	defer lock.release()

	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	config, err := readKubeconfig(path)
	if err != nil {
		return err
	}
	name := contextName(c.state.Name)
	delete(config.Clusters, name)
	delete(config.AuthInfos, name)
	delete(config.Contexts, name)
	if config.CurrentContext == name {
		config.CurrentContext = ""
	}
	if len(config.Clusters)+len(config.AuthInfos)+len(config.Contexts) > 0 {
		return writeKubeconfig(path, config)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove kubeconfig %q: %w", path, err)
	}
	return nil
}

// readKubeconfig treats a missing file as an empty one, and never a damaged one: that may hold somebody's only access.
func readKubeconfig(path string) (*api.Config, error) {
	config, err := clientcmd.LoadFromFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return api.NewConfig(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read kubeconfig %q, move it away or name another file: %w", path, err)
	}
	return config, nil
}

// writeKubeconfig replaces the file as a whole, with mode 0600 whatever it had before: there is a key in it.
func writeKubeconfig(path string, config *api.Config) error {
	raw, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("cannot encode kubeconfig %q: %w", path, err)
	}
	// A link stays a link: what it points at is replaced.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot create the directory of kubeconfig %q: %w", path, err)
	}
	if err := writeFile(path, raw); err != nil {
		return fmt.Errorf("cannot write kubeconfig %q: %w", path, err)
	}
	return nil
}

// restConfig is for this program's own calls: no client-side rate limit, and protobuf because a thousand nodes in
// JSON take longer to encode than to store.
func (c *cluster) restConfig() (*rest.Config, error) {
	config, err := c.kubeconfig(pki.Admin)
	if err != nil {
		return nil, err
	}
	client, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot configure a client of cluster %q: %w", c.state.Name, err)
	}
	client.QPS = -1
	client.ContentType = "application/vnd.kubernetes.protobuf"
	client.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client.UserAgent = "devcluster"
	return client, nil
}
