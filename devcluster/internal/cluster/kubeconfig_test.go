// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"

	"github.com/windlass-operator/windlass/devcluster/internal/pki"
)

// newCluster is one with certificates, in a state directory of its own.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	store := openStore(t)
	c := store.cluster(newState(t, store, "dev"))
	c.state.Ports = portsOfBlock(1)
	if err := pki.Create(c.pki, []net.IP{net.ParseIP(loopback)}, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestKubeconfigSharedWithOtherClusters(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	path := filepath.Join(t.TempDir(), "config")
	other := writeOther(t, path)

	if err := c.publishKubeconfig(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	config := load(t, path)
	if config.CurrentContext != "devcluster-dev" || config.Clusters["other"] == nil {
		t.Errorf("after publishing: current context %q, clusters %v", config.CurrentContext, config.Clusters)
	}

	c.state.Ports = portsOfBlock(2)
	if err := c.refreshKubeconfigs(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if got, want := load(t, path).Clusters["devcluster-dev"].Server, "https://"+address(c.state.Ports.APIServer); got != want {
		t.Errorf("after a move: server %q, want %q", got, want)
	}

	if err := c.withdrawKubeconfig(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keys(other.Clusters), keys(load(t, path).Clusters)); diff != "" {
		t.Errorf("clusters after withdrawing (-want +got):\n%s", diff)
	}
}

func TestKubeconfigBehindALinkKeepsNoKey(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		shared bool
		want   []string
	}{
		"in a file with other entries":    {true, []string{"other"}},
		"in a file that it has to itself": {false, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			dir := t.TempDir()
			target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
			if err := os.WriteFile(target, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if test.shared {
				writeOther(t, target)
			}
			if err := os.Symlink("target", link); err != nil {
				t.Fatal(err)
			}
			// The second time, the link can lead to nothing.
			for range 2 {
				if err := c.publishKubeconfig(t.Context(), link); err != nil {
					t.Fatal(err)
				}
				if load(t, target).AuthInfos["devcluster-dev"] == nil {
					t.Error("the target has no entry after publishing")
				}
				if err := c.withdrawKubeconfig(t.Context(), link); err != nil {
					t.Fatal(err)
				}
				if to, err := os.Readlink(link); to != "target" || err != nil {
					t.Errorf("the link after withdrawing: got %q, %v", to, err)
				}
				var left []string
				if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
					left = keys(load(t, target).Clusters)
				}
				if diff := cmp.Diff(test.want, left); diff != "" {
					t.Errorf("clusters in the target after withdrawing (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestKubeconfigOfANamesakeIsNotWithdrawn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	first, second := newCluster(t), newCluster(t)
	for _, c := range []*cluster{first, second} {
		if err := c.publishKubeconfig(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	want := load(t, path)
	for name, step := range map[string]func() error{
		"a refresh of the first":               func() error { return first.refreshKubeconfigs(t.Context(), "") },
		"the end of the first":                 func() error { return first.withdrawKubeconfig(t.Context(), path) },
		"a refresh of the second, whose it is": func() error { return second.refreshKubeconfigs(t.Context(), "") },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, load(t, path)); diff != "" {
			t.Errorf("the file of the second cluster after %s (-want +got):\n%s", name, diff)
		}
	}
	// As after a loss of its certificates.
	if err := os.RemoveAll(string(second.pki)); err != nil {
		t.Fatal(err)
	}
	if err := second.withdrawKubeconfig(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file without the second: got %v", err)
	}
}

func TestKubeconfigOfAUserIsNotTakenByRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can write files of other users")
	}
	const owner, group = 1000, 1001
	path := filepath.Join(t.TempDir(), "config")
	writeOther(t, path)
	if err := os.Chown(path, owner, group); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t)
	steps := map[string]func(context.Context, string) error{"publishing": c.publishKubeconfig, "withdrawing": c.withdrawKubeconfig}
	for _, name := range []string{"publishing", "withdrawing"} {
		if err := steps[name](t.Context(), path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if uid, gid := ownerOf(info); uid != owner || gid != group || info.Mode().Perm() != 0o600 {
			t.Errorf("after %s: owner %d:%d, mode %s", name, uid, gid, info.Mode())
		}
	}
}

// writeOther writes a kubeconfig of a cluster that is not devcluster's.
func writeOther(t *testing.T, path string) *api.Config {
	t.Helper()
	other := api.NewConfig()
	other.Clusters["other"] = &api.Cluster{Server: "https://192.0.2.1"}
	other.Contexts["other"] = &api.Context{Cluster: "other"}
	other.CurrentContext = "other"
	if err := clientcmd.WriteToFile(*other, path); err != nil {
		t.Fatal(err)
	}
	return other
}

func load(t *testing.T, path string) *api.Config {
	t.Helper()
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func keys[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}
