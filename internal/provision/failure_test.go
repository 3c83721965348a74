// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
)

func TestDockerIsBlamedOnlyWhereItIsToBlame(t *testing.T) {
	t.Parallel()
	const tunnel = "Failed to set up SSH tunneling for host [127.0.0.9]: "
	for name, test := range map[string]struct {
		log       string
		reason    string
		retryable bool
	}{
		"a machine that refuses connections":   {tunnel + "Can't retrieve Docker Info: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", clusterprovisionerv1alpha1.ReasonSSHTunnel, true},
		"a machine without a route to it":      {tunnel + "Can't retrieve Docker Info: error during connect: Failed to dial ssh using address [127.0.0.9:22]", clusterprovisionerv1alpha1.ReasonSSHTunnel, true},
		"a machine that refuses the key":       {tunnel + "Can't retrieve Docker Info: error during connect: ssh: unable to authenticate", clusterprovisionerv1alpha1.ReasonSSHAuth, false},
		"a machine with another Docker":        {tunnel + "Unsupported Docker version found [1.0] on host [127.0.0.9]", clusterprovisionerv1alpha1.ReasonUnsupportedDocker, false},
		"a user who may not use Docker":        {tunnel + "Can't retrieve Docker Info: Unable to access the Docker socket (/var/run/docker.sock).", clusterprovisionerv1alpha1.ReasonUnsupportedDocker, false},
		"no Docker here, for a tool like kind": {"ERROR: failed to list clusters: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", clusterprovisionerv1alpha1.ReasonUnsupportedDocker, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Classify(test.log); got.Reason != test.reason || got.Retryable != test.retryable {
				t.Errorf("it is %s, retryable: %t; want %s, %t", got.Reason, got.Retryable, test.reason, test.retryable)
			}
		})
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ log, reason string }{
		"k0sctl that reaches no machine":  {"level=warning msg=\"[ssh] 127.0.0.9:22: failed to connect: connection refused\"", clusterprovisionerv1alpha1.ReasonSSHTunnel},
		"a disk that is full":             {"write /var/lib/x: no space left on device", clusterprovisionerv1alpha1.ReasonDiskFull},
		"an etcd that does not come up":   {"Failed to bring up Etcd Plane: etcd cluster is unhealthy", clusterprovisionerv1alpha1.ReasonEtcdUnhealthy},
		"an image that cannot be had":     {"Can't pull Docker image [a/b:1] on host [127.0.0.9]", clusterprovisionerv1alpha1.ReasonImagePull},
		"a port that is taken":            {"listen tcp 127.0.0.9:6443: bind: address already in use", clusterprovisionerv1alpha1.ReasonPortInUse},
		"certificates of another cluster": {"x509: certificate signed by unknown authority", clusterprovisionerv1alpha1.ReasonCertMismatch},
		"RKE that refuses its file":       {"level=fatal msg=\"Failed to parse cluster file: yaml: line 3\"", clusterprovisionerv1alpha1.ReasonConfigRefused},
		"RKE that refuses a cluster":      {"level=fatal msg=\"Failed to validate cluster: no hosts\"", clusterprovisionerv1alpha1.ReasonConfigRefused},
		"devcluster that refuses":         {"devcluster: cannot use cluster configuration \"x\": nodes: at least one is needed", clusterprovisionerv1alpha1.ReasonConfigRefused},
		"k0sctl that refuses":             {"level=fatal msg=\"configuration validation failed: spec: hosts\"", clusterprovisionerv1alpha1.ReasonConfigRefused},
		"kind that refuses":               {"ERROR: failed to create cluster: unable to decode config: yaml: line 2", clusterprovisionerv1alpha1.ReasonConfigRefused},
		"words that nobody knows":         {"something else\n\n", clusterprovisionerv1alpha1.ReasonUnknown},
		"no words at all":                 {"", clusterprovisionerv1alpha1.ReasonUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Classify(test.log); got.Reason != test.reason || got.Message != strings.TrimSpace(test.log) {
				t.Errorf("it is %s: %q; want %s with the tool's own words", got.Reason, got.Message, test.reason)
			}
		})
	}
}

func TestAFailureThatRepeatsItselfIsToldInTheSameWords(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{
		"RKE's and k0sctl's time": "time=\"2026-01-01T00:00:00Z\" level=fatal msg=x",
		"eksctl's time":           "2026-01-01 00:00:00 level=fatal msg=x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Classify(log).Message; got != "level=fatal msg=x" {
				t.Errorf("the message is %q", got)
			}
		})
	}
}

func TestStage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ log, want string }{
		"RKE's line":                            {"INFO[0000] Building Kubernetes cluster\n", "Building Kubernetes cluster"},
		"a line with the time and level":        {"time=\"2026-01-01T00:00:00Z\" level=info msg=\"==> Running phase: Connect\"", "==> Running phase: Connect"},
		"kind's bullet with a picture":          {" ✓ Preparing nodes 📦 \n", "Preparing nodes"},
		"kind's bullet that goes on":            {" • Starting control-plane 🕹️  ...\n", "Starting control-plane"},
		"a word that only begins like a level":  {"information about nothing\n", ""},
		"devcluster's line":                     {"devcluster: starting etcd\n", "starting etcd"},
		"a warning does not hide what is done":  {"INFO[0000] [etcd] Starting\nWARN[0001] slow\n", "[etcd] Starting"},
		"a log that tells of nothing has none":  {"\n\n", ""},
		"eksctl's line with its time and level": {"2026-01-01 00:00:00 [i]  creating stack\n", "creating stack"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Stage(test.log); got != test.want {
				t.Errorf("the stage is %q, want %q", got, test.want)
			}
		})
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("Failed to set up SSH tunneling for host [127.0.0.9]: Can't retrieve Docker Info")
	f.Add(" ✓ Preparing nodes 📦 \nINFO[0000] x")
	f.Add(strings.Repeat("é", maxLine))
	f.Fuzz(func(t *testing.T, log string) {
		got := Classify(log)
		if got.Reason == "" || len(got.Message) > maxLine || len(Stage(log)) > maxStage {
			t.Errorf("%q, %d bytes of message, %d of stage", got.Reason, len(got.Message), len(Stage(log)))
		}
		if utf8.ValidString(log) && (!utf8.ValidString(got.Message) || !utf8.ValidString(Stage(log))) {
			t.Errorf("cut within a character: %q, %q", got.Message, Stage(log))
		}
		if hosts := Skipped(log); !slices.IsSorted(hosts) {
			t.Errorf("hosts out of order: %q", hosts)
		}
	})
}
