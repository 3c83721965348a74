// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
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

// contextName returns the name of a cluster's entries in kubeconfigs. It has a prefix because a file can have other entries.
func contextName(name string) string { return "devcluster-" + name }

// kubeconfig returns the configuration of one client. It embeds the certificates, so that the file works anywhere.
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

// componentKubeconfig is in the directory of the keys that it embeds.
func (c *cluster) componentKubeconfig(client string) string {
	return filepath.Join(string(c.pki), client+".kubeconfig")
}

// adminKubeconfig exists for every cluster, also if another file was requested. The kubeconfig command prints it.
func (c *cluster) adminKubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// writeComponentKubeconfigs writes the files that the components start with, on every up, because the port of the API
// server in them can change.
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

// publishKubeconfig writes the administrator's entries into a file of the user and makes them current. It keeps entries of
// other clusters, because the file can be the one that the user works with, and takes over those of a namesake, because the user has asked for it.
func (c *cluster) publishKubeconfig(ctx context.Context, path string) error {
	if !slices.Contains(c.state.Kubeconfigs, path) {
		// Recorded first: an entry that is not recorded would never be removed.
		c.state.Kubeconfigs = append(c.state.Kubeconfigs, path)
		if err := c.store.save(c.state); err != nil {
			return err
		}
	}
	return c.editKubeconfig(ctx, path, func(config *api.Config) bool {
		config.CurrentContext = contextName(c.state.Name)
		return true
	})
}

// refreshKubeconfigs updates the files of earlier calls after a change of the ports. It does not change the current context
// and does not restore a file that the user has deleted, or entries that a namesake has taken over.
func (c *cluster) refreshKubeconfigs(ctx context.Context, except string) error {
	for _, path := range c.state.Kubeconfigs {
		if _, err := os.Stat(path); err != nil || path == except {
			continue
		}
		if err := c.editKubeconfig(ctx, path, c.owns); err != nil {
			return err
		}
	}
	return nil
}

// editKubeconfig writes the administrator's entries into a file. prepare can change the file before that, and says whether they may be written.
func (c *cluster) editKubeconfig(ctx context.Context, path string, prepare func(*api.Config) bool) error {
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
	if err != nil || !prepare(config) {
		return err
	}
	name := contextName(c.state.Name)
	config.Clusters[name], config.AuthInfos[name] = own.Clusters[name], own.AuthInfos[name]
	if _, kept := config.Contexts[name]; !kept {
		// An existing context can have a namespace that the user has set.
		config.Contexts[name] = own.Contexts[name]
	}
	return writeKubeconfig(path, config)
}

// withdrawKubeconfig removes the cluster's entries from a file, and removes a file that has no other entries. A link to it stays.
func (c *cluster) withdrawKubeconfig(ctx context.Context, path string) error {
	lock, err := c.store.lockStore(ctx)
	if err != nil {
		return err
	}
	defer lock.release()

	path = followed(path)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	config, err := readKubeconfig(path)
	if err != nil || !c.owns(config) {
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

// owns reports whether the entries under the cluster's name are its own: a cluster of another state directory can have the same
// name. If the authority is gone, the name decides.
func (c *cluster) owns(config *api.Config) bool {
	entry, ok := config.Clusters[contextName(c.state.Name)]
	if !ok {
		return true
	}
	authority, err := os.ReadFile(c.pki.Cert(pki.CA))
	return err != nil || bytes.Equal(authority, entry.CertificateAuthorityData)
}

// readKubeconfig treats a missing file as empty, but never a damaged file: it can be a user's only access to a cluster.
func readKubeconfig(path string) (*api.Config, error) {
	config, err := clientcmd.LoadFromFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return api.NewConfig(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read kubeconfig %q, move it away or choose another file: %w", path, err)
	}
	return config, nil
}

// writeKubeconfig replaces the file as a whole and always sets mode 0600, because it has a key in it. Its owner stays: with sudo,
// that is not the one who writes it.
func writeKubeconfig(path string, config *api.Config) error {
	raw, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("cannot encode kubeconfig %q: %w", path, err)
	}
	path = followed(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot create the directory of kubeconfig %q: %w", path, err)
	}
	if err := replaceFile(path, raw, keepOwner(path)); err != nil {
		return fmt.Errorf("cannot write kubeconfig %q: %w", path, err)
	}
	return nil
}

// followed returns the file that a link leads to, which need not exist. A link of the user stays a link, and the key is not
// left behind it.
func followed(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	target, err := os.Readlink(path)
	switch {
	case err != nil:
		return path
	case filepath.IsAbs(target):
		return target
	}
	return filepath.Join(filepath.Dir(path), target)
}

// restConfig returns the configuration for devcluster's own calls: without a client-side rate limit, and with protobuf,
// because to encode a thousand nodes in JSON takes longer than to store them.
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
