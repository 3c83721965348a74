// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package realnode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"text/template"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubelet "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
)

// Files is the directory of a node's configuration and data.
type Files string

// Lib is the directory that the node has as /var/lib: images, containers, volumes.
func (f Files) Lib() string { return filepath.Join(string(f), "lib") }

// Log is the directory that the node has as /var/log: the logs of its containers.
func (f Files) Log() string { return filepath.Join(string(f), "log") }

// Kubelet is the path of the kubelet's configuration.
func (f Files) Kubelet() string { return filepath.Join(string(f), "kubelet.yaml") }

// Containerd is the path of containerd's configuration.
func (f Files) Containerd() string { return filepath.Join(string(f), "containerd.toml") }

// The paths, inside the node, of the socket of containerd and of the file that node-init writes when all mounts are ready.
const (
	socket    = "/run/containerd/containerd.sock"
	readyFile = "/run/node-ready"
)

// Settings are what differs from node to node.
type Settings struct {
	Machine Machine
	// Port is the port of the kubelet.
	Port int32
	// Cgroup is the name of the group of all pods.
	Cgroup string
	// Pods is the range of the addresses of pods.
	Pods netip.Prefix
	// Shim is the path by which containerd starts noded.
	Shim string
	// ClusterDNS is the address in the pods' resolv.conf.
	ClusterDNS string
	// Authority, Cert and Key are paths: the clients' authority and the kubelet's serving certificate.
	Authority, Cert, Key string
}

// Write creates the directories and writes all configuration.
func (f Files) Write(s Settings) error {
	if err := os.MkdirAll(f.Lib(), 0o700); err != nil {
		return fmt.Errorf("cannot create directory %q: %w", f.Lib(), err)
	}
	if err := os.MkdirAll(f.Log(), 0o700); err != nil {
		return fmt.Errorf("cannot create directory %q: %w", f.Log(), err)
	}
	node, err := yaml.Marshal(kubeletConfig(s))
	if err != nil {
		return fmt.Errorf("cannot encode the configuration of the kubelet: %w", err)
	}
	network, err := networkConfig(s)
	if err != nil {
		return err
	}
	runtime, err := f.containerdConfig(s)
	if err != nil {
		return err
	}
	for path, contents := range map[string][]byte{
		f.Kubelet():    node,
		f.Containerd(): runtime,
		filepath.Join(f.networks(), "10-devcluster.conflist"): network,
		filepath.Join(f.registries(), "_default/hosts.toml"):  []byte(noRegistry),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("cannot create directory %q: %w", filepath.Dir(path), err)
		}
		if err := os.WriteFile(path, contents, 0o600); err != nil {
			return fmt.Errorf("cannot write %q: %w", path, err)
		}
	}
	return nil
}

func (f Files) networks() string   { return filepath.Join(string(f), "networks") }
func (f Files) registries() string { return filepath.Join(string(f), "registries") }

// noRegistry directs every pull to a port of this machine on which no program listens by accident. So a pull of a missing
// image fails at once, and no registry is ever dialled.
const noRegistry = "server = \"http://127.0.0.1:1\"\n"

// kubeletConfig changes only the defaults that would affect the machine, on which this node is a guest.
func kubeletConfig(s Settings) kubelet.KubeletConfiguration {
	return kubelet.KubeletConfiguration{
		TypeMeta:          metav1.TypeMeta{APIVersion: kubelet.SchemeGroupVersion.String(), Kind: "KubeletConfiguration"},
		Address:           "127.0.0.1",
		Port:              s.Port,
		HealthzPort:       new(int32(0)),
		TLSCertFile:       s.Cert,
		TLSPrivateKeyFile: s.Key,
		Authentication: kubelet.KubeletAuthentication{
			X509:      kubelet.KubeletX509Authentication{ClientCAFile: s.Authority},
			Webhook:   kubelet.KubeletWebhookAuthentication{Enabled: new(true)},
			Anonymous: kubelet.KubeletAnonymousAuthentication{Enabled: new(false)},
		},
		Authorization:            kubelet.KubeletAuthorization{Mode: kubelet.KubeletAuthorizationModeWebhook},
		ContainerRuntimeEndpoint: "unix://" + socket,
		CgroupDriver:             "cgroupfs",
		CgroupRoot:               "/" + s.Cgroup,
		// Kubernetes is removing support for version 1 of cgroups, but some machines have no other.
		FailCgroupV1: new(false),
		FailSwapOn:   new(false),
		// File systems without quotas cannot measure how much a pod writes.
		LocalStorageCapacityIsolation: new(false),
		// These would change the machine: its score for the out-of-memory killer and its packet filter.
		OOMScoreAdj:            new(int32(0)),
		MakeIPTablesUtilChains: new(false),
		// Pods must not query the name servers of the machine.
		ResolverConfig:  new(""),
		ClusterDNS:      []string{s.ClusterDNS},
		ClusterDomain:   "cluster.local",
		MaxPods:         int32(1<<(32-s.Pods.Bits()) - 4),
		VolumePluginDir: "/var/lib/kubelet/volume-plugins",
		// An image that is removed cannot be pulled again. And a pod must not be evicted because another program of the
		// machine needs memory: pods have their own limits.
		ImageGCHighThresholdPercent: new(int32(100)),
		EvictionHard: map[string]string{
			"memory.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%", "imagefs.inodesFree": "0%",
		},
	}
}

// networkConfig connects every pod to the machine only: there is no default route. The link is removed with the network
// namespace of the pod, because a point-to-point link needs no bridge.
func networkConfig(s Settings) ([]byte, error) {
	config := map[string]any{
		"cniVersion": "1.0.0", "name": "devcluster",
		"plugins": []any{map[string]any{
			"type": "ptp", "ipMasq": false,
			"ipam": map[string]any{
				// Allocated again after every start of the node, because its containers are created again.
				"type": "host-local", "dataDir": "/run/cni/networks",
				"ranges": [][]map[string]string{{{"subnet": s.Pods.String()}}},
			},
		}},
	}
	raw, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("cannot encode the configuration of the pods' network: %w", err)
	}
	return raw, nil
}

// containerdConfig returns the settings that differ from containerd's defaults.
func (f Files) containerdConfig(s Settings) ([]byte, error) {
	restrict, err := lacksResources()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = template.Must(template.New("containerd").Parse(containerdTemplate)).Execute(&out, map[string]any{
		"Snapshotter": snapshotter(f.Lib()), "Pause": PauseImage, "Registries": f.registries(),
		"Networks": f.networks(), "Plugins": s.Machine.PluginDir, "Restrict": restrict, "Shim": s.Shim, "Runc": s.Machine.Runc,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot create the configuration of containerd: %w", err)
	}
	return out.Bytes(), nil
}

// containerdTemplate quotes with %q, whose form is also a basic string of TOML.
const containerdTemplate = `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"

[plugins.'io.containerd.cri.v1.images']
  snapshotter = {{printf "%q" .Snapshotter}}
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = {{printf "%q" .Pause}}
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = {{printf "%q" .Registries}}

[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = {{.Restrict}}
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = [{{printf "%q" .Plugins}}]
    conf_dir = {{printf "%q" .Networks}}
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      runtime_path = {{printf "%q" .Shim}}
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = {{printf "%q" .Runc}}

[plugins.'io.containerd.nri.v1.nri']
  disable = true
`
