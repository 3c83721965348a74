// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"slices"
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
		"nothing but documents":     "---\n---\n# nothing\n",
		"a list after a map":        "a: 1\n---\n[a]\n",
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
	one, two := read(t, "a: 1\n"), read(t, "a: 1\n---\n# other\nb: {password: hunter22}\nnodes: [x]\n...\n---\nc: 9007199254740993\n")
	if !slices.Equal(two.Secrets, []string{"hunter22"}) || !slices.Equal(two.SecretKeys, []string{"document 2: b.password"}) || strings.Contains(two.Text, "hunter22") {
		t.Errorf("the secrets are %q at %q, the text is\n%s", two.Secrets, two.SecretKeys, two.Text)
	}
	got := Diff(&one, two)
	if want := []string{"document 2: b: added", "document 2: nodes: added", "document 3: c: added"}; !slices.Equal(got.Summary, want) || !got.Destructive {
		t.Errorf("the plan is %+v, want %q", got, want)
	}
	seen := map[string]string{}
	for _, text := range []string{
		"a: 1\n", "a: 1\n---\nb: 2\n", "a: 1\n---\nb: 3\n", "b: 2\n---\na: 1\n", "a: 1\n---\nc: 9007199254740992\n", "a: 1\n---\nc: 9007199254740993\n", "a: 1\n---\nc: \"9007199254740993\"\n",
	} {
		digest := read(t, text).Digest
		if other, known := seen[digest]; known {
			t.Errorf("%q counts as %q", text, other)
		}
		seen[digest] = text
	}
	for _, text := range []string{"---\na: 1\n", "a: 1\n---\n", "a: 1\n---\n# nothing\n", "---\n---\na: 1\n", "a: 1\n---\n{}\n---\nnull\n"} {
		if diff := cmp.Diff(one, read(t, text), cmp.AllowUnexported(Node{})); diff != "" {
			t.Errorf("%q is not one document (-want +got):\n%s", text, diff)
		}
	}
}

// TestTheFormerDigestIsThatOfTheFirstDocument is about what earlier versions have recorded, by which an upgrade knows what is applied.
func TestTheFormerDigestIsThatOfTheFirstDocument(t *testing.T) {
	t.Parallel()
	one, two := read(t, "a: 1\n"), read(t, "a: 1\n---\nb: 2\n")
	if one.Former != "" || two.Former != one.Digest || two.Digest == one.Digest {
		t.Errorf("of one document it is %q, of two %q; want none and %q", one.Former, two.Former, one.Digest)
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
