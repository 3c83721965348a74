// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// article is the shape of the article's cluster.yml.
const article = `
kubernetes_version: v1.10.1
nodes:
- {address: 127.0.0.1, hostname_override: one, user: ops, role: [worker, etcd, controlplane]}
- {address: 127.0.0.2, user: ops, role: [worker]}
services:
  kubelet: {extra_args: {cgroup-driver: systemd, fail-swap-on: "false"}}
`

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after string
		want          Plan
	}{
		"the same configuration changes nothing": {article, article, Plan{}},
		"order and comments change nothing": {
			"a: 1\nb: 2\n", "# twice\nb: 2\na: 1\n", Plan{},
		},
		"a node that comes is not destructive": {
			"nodes: [{address: one, role: [etcd]}]", "nodes: [{address: one, role: [etcd]}, {address: two, role: [worker]}]",
			Plan{Summary: []string{"node two: added (worker)"}},
		},
		"a node that goes is destructive": {
			"nodes: [{address: one, role: [etcd]}, {address: two, role: [worker]}]", "nodes: [{address: one, role: [etcd]}]",
			Plan{Summary: []string{"node two: removed (worker)"}, Destructive: true},
		},
		"a role that comes is not destructive": {
			"nodes: [{address: one, role: [etcd]}]", "nodes: [{address: one, role: [worker, etcd]}]",
			Plan{Summary: []string{"node one: roles etcd -> etcd, worker"}},
		},
		"a role that goes is destructive": {
			"nodes: [{address: one, role: [worker, etcd]}]", "nodes: [{address: one, role: [etcd]}]",
			Plan{Summary: []string{"node one: roles etcd, worker -> etcd"}, Destructive: true},
		},
		"another machine under the same name is destructive": {
			"nodes: [{address: 127.0.0.1, hostname_override: one, role: [etcd]}]",
			"nodes: [{address: 127.0.0.2, hostname_override: one, role: [etcd]}]",
			Plan{Summary: []string{"node one: address 127.0.0.1 -> 127.0.0.2"}, Destructive: true},
		},
		"another user of a node is a change that shows": {
			"nodes: [{address: one, user: a, role: [etcd]}]", "nodes: [{address: one, user: b, role: [etcd]}]",
			Plan{Summary: []string{"node one: changed"}},
		},
		"a version that goes up is not destructive": {
			"kubernetes_version: v1.9.0", "kubernetes_version: v1.10.0", Plan{Summary: []string{"version: v1.9.0 -> v1.10.0"}},
		},
		"a version that goes down is destructive": {
			"kubernetes_version: v1.10.0", "kubernetes_version: v1.9.0",
			Plan{Summary: []string{"version: v1.10.0 -> v1.9.0"}, Destructive: true},
		},
		"the first setting that comes to a cluster with nodes only shows": {
			"nodes: [{address: one, role: [etcd]}]", "nodes: [{address: one, role: [etcd]}]\naddons: x",
			Plan{Summary: []string{"addons: added"}},
		},
		"another network is destructive": {
			"network: {plugin: canal}", "network: {plugin: flannel}", Plan{Summary: []string{"network: changed"}, Destructive: true},
		},
		"kind's nodes are removed, and nothing shows it": {
			"kind: Cluster\nnodes: [{role: control-plane}, {role: worker}]", "kind: Cluster\nnodes: [{role: control-plane}]",
			Plan{Summary: []string{"nodes: changed"}, Destructive: true},
		},
		"nodes without an address are taken for each other": {
			"nodes: [{name: one}, {name: two}]", "nodes: [{name: two}]", Plan{Summary: []string{"nodes: changed"}, Destructive: true},
		},
		"nodes that come in another form than RKE's": {
			"nodes: [{address: one, role: [etcd]}]", "nodes: {one: {role: etcd}}",
			Plan{Summary: []string{"node one: removed (etcd)", "nodes: added"}, Destructive: true},
		},
		"a version that is no text shows nothing": {
			"kubernetes_version: {k3s: v1.30.0}", "kubernetes_version: {k3s: v1.31.0}", Plan{Summary: []string{"kubernetes_version: changed"}},
		},
		"a setting that goes shows": {
			"a: 1\nb: 2", "a: 1", Plan{Summary: []string{"b: removed"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := read(t, test.before)
			if diff := cmp.Diff(test.want, Diff(&before, read(t, test.after))); diff != "" {
				t.Errorf("the plan differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAClusterThatIsNewLosesNothing(t *testing.T) {
	t.Parallel()
	want := Plan{Summary: []string{
		"node 127.0.0.2: added (worker)", "node one: added (controlplane, etcd, worker)", "version: the tool's default -> v1.10.1",
	}}
	if diff := cmp.Diff(want, Diff(nil, read(t, article))); diff != "" {
		t.Errorf("the plan differs (-want +got):\n%s", diff)
	}
}

func read(t *testing.T, text string) Config {
	t.Helper()
	config, err := ReadConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return config
}
