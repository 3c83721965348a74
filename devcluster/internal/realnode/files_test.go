// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package realnode

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	kubelet "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
)

// TestKubeletIsClosed reads what is written, since a default that is filled in later must not open anything.
func TestKubeletIsClosed(t *testing.T) {
	t.Parallel()
	raw, err := yaml.Marshal(kubeletConfig(Settings{Port: 20006, Cgroup: "group", Pods: netip.MustParsePrefix("198.19.255.192/26")}))
	if err != nil {
		t.Fatal(err)
	}
	var config kubelet.KubeletConfiguration
	if err := yaml.UnmarshalStrict(raw, &config); err != nil {
		t.Fatal(err)
	}
	if config.Address != "127.0.0.1" || config.Port != 20006 || *config.HealthzPort != 0 || config.ReadOnlyPort != 0 {
		t.Errorf("it listens on %s:%d, healthz %d, read-only %d", config.Address, config.Port, *config.HealthzPort, config.ReadOnlyPort)
	}
	if *config.Authentication.Anonymous.Enabled || config.Authorization.Mode != kubelet.KubeletAuthorizationModeWebhook {
		t.Errorf("strangers: %v, authorization %s", *config.Authentication.Anonymous.Enabled, config.Authorization.Mode)
	}
	if config.CgroupRoot != "/group" || config.MaxPods != 60 {
		t.Errorf("cgroup root %q, %d pods", config.CgroupRoot, config.MaxPods)
	}
}

func TestPodsHaveNoWayOut(t *testing.T) {
	t.Parallel()
	raw, err := networkConfig(Settings{Pods: netip.MustParsePrefix("198.19.255.192/26")})
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Plugins []struct {
			IPMasq bool `json:"ipMasq"`
			IPAM   struct {
				Routes []any `json:"routes"`
				Ranges [][]struct {
					Subnet string `json:"subnet"`
				} `json:"ranges"`
			} `json:"ipam"`
		} `json:"plugins"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	plugin := config.Plugins[0]
	if len(config.Plugins) != 1 || plugin.IPMasq || len(plugin.IPAM.Routes) > 0 || plugin.IPAM.Ranges[0][0].Subnet != "198.19.255.192/26" {
		t.Errorf("got %+v", config)
	}
}

func TestParseReference(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"busybox:1.36":       "docker.io/library/busybox:1.36",
		"tools/debug:2":      "docker.io/tools/debug:2",
		"example.com/a:1":    "example.com/a:1",
		"localhost:5000/a:1": "localhost:5000/a:1",
	} {
		if got, err := ParseReference(ref); got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", ref, got, err, want)
		}
	}
	for _, ref := range []string{"", "Capitals:1", "a b", "busybox", "busybox:" + "latest"} {
		if got, err := ParseReference(ref); err == nil {
			t.Errorf("%q: got %q", ref, got)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	write(t, program, "contents")
	var first, second bytes.Buffer
	for _, archive := range []*bytes.Buffer{&first, &second} {
		if err := Wrap("tool:1", program, "tool", archive); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same program makes two images")
	}
	path := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(path, first.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag("docker.io/library/tool:1")
	if err != nil {
		t.Fatal(err)
	}
	image, err := tarball.ImageFromPath(path, &tag)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != "linux" || strings.Join(config.Config.Entrypoint, " ") != "/bin/tool" || len(config.RootFS.DiffIDs) != 1 {
		t.Errorf("got %+v", config)
	}
}
