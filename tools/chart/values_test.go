// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestWrongValuesAreRefused holds that a mistake is told by the name of its key, before anything is rendered.
func TestWrongValuesAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ values, want string }{
		"an unknown key":            {`{replicas: 2}`, `'replicas' not allowed`},
		"a typing error":            {`{manager: {replica: 2}}`, `'replica' not allowed`},
		"an unknown controller":     {`{controllers: {podsets: {enabled: false}}}`, `'podsets' not allowed`},
		"a key of a controller":     {`{controllers: {podset: {enable: false}}}`, `'enable' not allowed`},
		"a switch as text":          {`{gateway: {enabled: "yes"}}`, "/gateway/enabled"},
		"a number as text":          {`{manager: {replicas: two}}`, "/manager/replicas"},
		"too many":                  {`{manager: {replicas: 100}}`, "/manager/replicas"},
		"a format of the log":       {`{log: {format: yaml}}`, "/log/format"},
		"a collector's path":        {`{tracing: {endpoint: "https://collector:4318/v1/traces"}}`, "/tracing/endpoint"},
		"a collector's password":    {`{tracing: {endpoint: "https://me:hunter2@collector:4317"}}`, "/tracing/endpoint"},
		"a runner":                  {`{tools: {runner: pod}}`, "/tools/runner"},
		"a digest that is none":     {`{image: {digest: "sha256:12"}}`, "/image/digest"},
		"an engine without scheme":  {`{docker: {host: "10.0.0.7:2376"}}`, "/docker/host"},
		"an engine by its web page": {`{docker: {host: "https://10.0.0.7:2376"}}`, "/docker/host"},
		"alerts without metrics":    {`{metrics: {prometheusRule: {enabled: true}}}`, "metrics.prometheusRule.enabled: the manager has no metrics"},
		"images without Jobs":       {`{tools: {images: {rke: "registry.example.com/rke:1"}}}`, "tools.images: tools have images of their own as Jobs only"},
		"a name that is none":       {`{docker: {certsSecret: "Docker Certs"}}`, "/docker/certsSecret"},
		"a key of a toleration":     {`{manager: {tolerations: [{keys: a}]}}`, `'keys' not allowed`},
		"a key of resources":        {`{gateway: {resources: {limit: {}}}}`, `'limit' not allowed`},
		"an argument that is none":  {`{manager: {extraArgs: ["threads=1"]}}`, "/manager/extraArgs/0"},
		"no controller that is on":  {`{controllers: {nodepool: {enabled: false}, podset: {enabled: false}, podbuggertool: {enabled: false}, virtualmachine: {enabled: false}, cluster: {enabled: false}, kubeconfig: {enabled: false}}}`, "controllers: all are disabled"},
		"a mount without a path":    {`{gateway: {extraVolumeMounts: [{name: a}]}}`, "/gateway/extraVolumeMounts/0"},
		"a memory target as memory": {`{manager: {memoryTarget: 460Mi}}`, "/manager/memoryTarget"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := render(t, test.values)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error that names %s", err, test.want)
			}
		})
	}
}

// TestEveryValueIsInTheSchema holds values.yaml against the schema: what the one has, the other describes, and no object takes other keys,
// unless Kubernetes or the user makes them.
func TestEveryValueIsInTheSchema(t *testing.T) {
	t.Parallel()
	type schema struct {
		Type                 any                `json:"type"`
		Properties           map[string]*schema `json:"properties"`
		AdditionalProperties json.RawMessage    `json:"additionalProperties"`
		Items                *schema            `json:"items"`
	}
	var top schema
	var defaults map[string]any
	for name, into := range map[string]any{"values.schema.json": &top, "values.yaml": &defaults} {
		raw, err := os.ReadFile(filepath.Join(chartDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(raw, into); err != nil {
			t.Fatal(err)
		}
	}
	var compare func(path string, of *schema, value any)
	compare = func(path string, of *schema, value any) {
		given, isMap := value.(map[string]any)
		if !isMap || of.Properties == nil {
			return
		}
		if string(of.AdditionalProperties) != "false" {
			t.Errorf("%s takes keys that nobody knows", path)
		}
		for key, nested := range given {
			if of.Properties[key] == nil {
				t.Errorf("%s.%s is not in the schema", path, key)
				continue
			}
			compare(path+"."+key, of.Properties[key], nested)
		}
		for key := range of.Properties {
			if _, has := given[key]; !has && path == "" && key != "global" {
				t.Errorf("%s.%s has no default", path, key)
			}
		}
	}
	compare("", &top, defaults)
}

// TestOptions renders what config/ has no counterpart of.
func TestOptions(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("ab", 32)
	manifest, err := render(t, `{image: {repository: registry.example.com/w, digest: "`+digest+`"}, imagePullSecrets: [pull],
		docker: {host: "tcp://10.0.0.7:2376"}, log: {format: json, verbosity: 2}, tools: {runner: job, images: {rke: "example.com/rke:v1"}},
		gateway: {enabled: true, tlsSecret: front, extraArgs: ["--requests-per-second=10"], extraEnv: [{name: B, value: c}],
		extraVolumes: [{name: oidc, secret: {secretName: oidc}}], extraVolumeMounts: [{name: oidc, mountPath: /oidc, readOnly: true}]}, metrics: {enabled: true, tlsSecret: scraped},
		manager: {extraArgs: ["--threads=4"], extraEnv: [{name: A, value: b}], extraVolumes: [{name: c, configMap: {name: c}}],
		extraVolumeMounts: [{name: c, mountPath: /c, readOnly: true}], podLabels: {team: a}, podAnnotations: {note: b}, affinity: {nodeAffinity: {}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"image: registry.example.com/w@" + digest, "- name: pull", `{ name: DOCKER_HOST, value: "tcp://10.0.0.7:2376" }`, "- --log-format=json",
		"- --v=2", "- --tool-images=rke=example.com/rke:v1", "secretName: front", "--tls-cert-file=/etc/windlass/tls/tls.crt",
		`- "--requests-per-second=10"`, "secretName: scraped", "--metrics-cert-dir=/etc/windlass/metrics-tls", `- "--threads=4"`, "name: A", "name: B",
		"mountPath: /c", "team: a", "note: b", "secretName: oidc", "mountPath: /oidc",
	} {
		if !strings.Contains(manifest, want) {
			t.Errorf("the manifest does not have %q", want)
		}
	}
	decode(t, manifest) // every document is YAML
}

// TestTheTestOfTheChartHasTheFlagsOfTheManager: they decide which rights and which Lease it asks for.
func TestTheTestOfTheChartHasTheFlagsOfTheManager(t *testing.T) {
	t.Parallel()
	made, err := rendered(t, `{manager: {extraArgs: ["--lease-lock-name=other"]}}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, hook := range made.Hooks {
		if !strings.Contains(hook.Manifest, `- "--lease-lock-name=other"`) {
			t.Errorf("%s lacks the flag:\n%s", hook.Name, hook.Manifest)
		}
	}
}
