// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rkeconfig

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-operator/windlass/devcluster/internal/node"
)

func TestSpecs(t *testing.T) {
	t.Parallel()
	article, err := os.ReadFile("../../e2e/testdata/cluster.yml")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		file string
		want []node.Spec
	}{
		"the article's file becomes one node named by its address with three roles": {
			file: string(article),
			want: []node.Spec{{Name: "10.0.0.10", Address: "10.0.0.10", Roles: []string{"controlplane", "worker", "etcd"}}},
		},
		"hostname_override names the node and internal_address is its address": {
			file: "nodes: [{address: 1.2.3.4, internal_address: 10.0.0.1, hostname_override: alpha, role: [worker]}]",
			want: []node.Spec{{Name: "alpha", Address: "10.0.0.1", Roles: []string{"worker"}}},
		},
		"any role name is taken, not only those of RKE": {
			file: "nodes: [{address: a, role: [gpu, Edge_2.x]}]",
			want: []node.Spec{{Name: "a", Address: "a", Roles: []string{"gpu", "Edge_2.x"}}},
		},
		"labels and taints are taken over": {
			file: "nodes: [{address: a, role: [w], labels: {zone: north}, taints: [{key: k, value: v, effect: NoExecute}]}]",
			want: []node.Spec{{
				Name: "a", Address: "a", Roles: []string{"w"}, Labels: map[string]string{"zone": "north"},
				Taints: []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoExecute}},
			}},
		},
		"fields that mean nothing here are passed over": {
			file: "network: {plugin: canal}\naddons_include: [x]\nnodes: [{address: a, role: [w], docker_socket: /x, port: 22}]",
			want: []node.Spec{{Name: "a", Address: "a", Roles: []string{"w"}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := Parse([]byte(test.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, config.Specs()); diff != "" {
				t.Errorf("specs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file string
		want []string
	}{
		"a file without nodes": {
			file: "cluster_name: x",
			want: []string{"nodes: at least one is needed"},
		},
		"every error of every node at once, each with the node's index": {
			file: "nodes: [{role: ['a b']}, {address: '::1'}, {address: x, role: [w]}, {address: x, role: [w]}]",
			want: []string{
				"nodes[0].address: is missing",
				`nodes[0].role[0]: "a b"`,
				`nodes[1].address: "::1" cannot be a node's name, set hostname_override`,
				"nodes[1].role: at least one is needed",
				`nodes[3]: has the name "x" of nodes[2]`,
			},
		},
		"a hostname_override that is no name": {
			file: "nodes: [{address: a, hostname_override: A_B, role: [w]}]",
			want: []string{`nodes[0].hostname_override: "A_B"`},
		},
		"labels and taints that the API server would refuse": {
			file: "nodes: [{address: a, role: [w], labels: {'a b': '!'}, taints: [{key: '', effect: Never}]}]",
			want: []string{
				`nodes[0].labels: "a b"`, `nodes[0].labels[a b]: "!"`,
				`nodes[0].taints[0].key: ""`, `nodes[0].taints[0].effect: "Never": must be NoSchedule`,
			},
		},
		"text that is no YAML": {
			file: "nodes: [",
			want: []string{"yaml"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(test.file))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		clusterName, path, want string
	}{
		"cluster_name is the name":                       {"staging", "/a/cluster.yml", "staging"},
		"a cluster_name that is no label is made to fit": {"My Cluster", "/a/cluster.yml", "my-cluster-ca155ce4"},
		"without one the path makes the name":            {"", "/a/cluster.yml", "cluster-83fbd60c"},
		"another path makes another name":                {"", "/b/cluster.yml", "cluster-12f8e50e"},
		"a path of odd characters still makes a name":    {"", "/a/---.yml", "cluster-afd88b42"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (Config{ClusterName: test.clusterName}).Name(test.path); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestKubeconfigPath(t *testing.T) {
	t.Parallel()
	if got, want := KubeconfigPath("/a/b/cluster.yml"), "/a/b/kube_config_cluster.yml"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
