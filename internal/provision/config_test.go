// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestReadConfig(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want Config
	}{
		"the article's cluster.yml names its nodes and its version": {article, Config{
			Version: "v1.10.1",
			Nodes: []Node{
				{Name: "one", Address: "127.0.0.1", Roles: []string{"controlplane", "etcd", "worker"}},
				{Name: "127.0.0.2", Address: "127.0.0.2", Roles: []string{"worker"}},
			},
		}},
		"k0sctl's hosts are elsewhere": {
			"apiVersion: k0sctl.k0sproject.io/v1beta1\nkind: Cluster\nspec: {hosts: [{role: controller, ssh: {address: 127.0.0.1}}]}", Config{},
		},
		"kind's nodes are no machines with a list of roles": {
			"kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes: [{role: control-plane}, {role: worker}]", Config{},
		},
		"eksctl's configuration has groups of nodes": {
			"apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: one, region: eu-north-1}\nnodeGroups: [{name: a}]", Config{},
		},
		"a private key within a node is a secret": {
			"nodes: [{address: one, ssh_key: abcdefgh, ssh_key_path: /keys/one}]", Config{
				Nodes: []Node{{Name: "one", Address: "one"}}, Secrets: []string{"abcdefgh"}, SecretKeys: []string{"nodes[0].ssh_key"},
			},
		},
		"a password of digits is a secret": {
			"private_registries: [{password: 12345678}]", Config{
				Secrets: []string{"12345678"}, SecretKeys: []string{"private_registries[0].password"},
			},
		},
		"a reference to a secret is none":                 {"secret: {name: one}", Config{}},
		"a name in capitals is read as the tool reads it": {"Nodes: [{Address: one}]", Config{Nodes: []Node{{Name: "one", Address: "one"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, test.text)
			ignored := cmpopts.IgnoreFields(Config{}, "Digest", "Text", "Settings")
			if diff := cmp.Diff(test.want, got, ignored, cmpopts.IgnoreUnexported(Node{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the configuration differs (-want +got):\n%s", diff)
			}
			for _, secret := range got.Secrets {
				if strings.Contains(got.Applied(), secret) {
					t.Errorf("the status would show the secret %q:\n%s", secret, got.Applied())
				}
			}
		})
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing":                   "",
		"a list":                    "[a, b]",
		"a text that is no YAML":    "a: [",
		"more than a Secret's part": "a: " + strings.Repeat("b", MaxConfig),
		"a document after nothing":  "---\n---\na: 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := ReadConfig([]byte(text)); err == nil {
				t.Errorf("it was read as %+v", got)
			}
		})
	}
}

// TestAttackASecondDocumentHidesFromThePlan is about a configuration with two documents: plan, approval and the search for secrets saw the first,
// and the tool was given both.
func TestAttackASecondDocumentHidesFromThePlan(t *testing.T) {
	t.Parallel()
	if got, err := ReadConfig([]byte("a: 1\n---\npassword: hunter22\n")); err == nil || !strings.Contains(err.Error(), "more than one document") {
		t.Errorf("it was read as %+v, %v", got, err)
	}
	want := read(t, "a: 1\n")
	for _, text := range []string{"---\na: 1\n", "a: 1\n---\n", "a: 1\n---\n# nothing\n"} {
		if diff := cmp.Diff(want, read(t, text), cmp.AllowUnexported(Node{})); diff != "" {
			t.Errorf("%q is not one document (-want +got):\n%s", text, diff)
		}
	}
}

func TestLargeNumbersThatDifferAreNotTheSameConfiguration(t *testing.T) {
	t.Parallel()
	if one, two := read(t, "a: 9007199254740992"), read(t, "a: 9007199254740993"); one.Digest == two.Digest {
		t.Error("two configurations that differ in a number have one digest")
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte(article))
	f.Add([]byte("nodes: [{address: one, ssh_key: \"-----BEGIN KEY-----\\nabc\\n-----END KEY-----\"}]"))
	f.Add([]byte("password: 12345678"))
	f.Add([]byte("Nodes: [{address: one}]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		config, err := ReadConfig(raw)
		if err != nil {
			return
		}
		if plan := Diff(&config, config); len(plan.Summary) > 0 || plan.Destructive {
			t.Errorf("a configuration differs from itself: %+v", plan)
		}
		if len(config.Secrets) != len(config.SecretKeys) {
			t.Errorf("%d secrets have %d keys", len(config.Secrets), len(config.SecretKeys))
		}
	})
}

// TestAttackAConfigurationExpandsToGigabytes is about aliases: 109 KB of them took the manager to 3.4 GB, again on every pass.
func TestAttackAConfigurationExpandsToGigabytes(t *testing.T) {
	t.Parallel()
	text := "a: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.TrimSuffix(strings.Repeat("*a, ", 20_000), ", ") + "]\n"
	if _, err := ReadConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), "with its aliases expanded") {
		t.Errorf("got %v", err)
	}
	if config, err := ReadConfig([]byte("defaults: &d {user: ubuntu}\nnodes: [{address: one, <<: *d}]\n")); err != nil || len(config.Nodes) != 1 {
		t.Errorf("an ordinary alias is refused: %+v, %v", config, err)
	}
}
