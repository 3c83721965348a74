// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestSchema(t *testing.T) {
	t.Parallel()
	const notChecked = "sshAuth.knownHostsRef works only with the provisioner exec, and with {knownhosts} in exec.up, exec.remove or exec.env: " +
		"rke accepts every host key, and devcluster does not use SSH"
	tests := map[string]struct {
		kind, spec string
		// refused is a part of the message; empty where the spec is accepted.
		refused string
	}{
		"the article's Cluster":              {kind: "Cluster", spec: `{configPath: /etc/rke/cluster.yml}`},
		"neither a path nor a text":          {kind: "Cluster", spec: `{}`, refused: "give exactly one of configPath and config"},
		"a path and a text":                  {kind: "Cluster", spec: `{configPath: /a, config: {inline: a}}`, refused: "give exactly one of configPath and config"},
		"a path that is not absolute":        {kind: "Cluster", spec: `{configPath: a}`, refused: "spec.configPath"},
		"a text from nowhere":                {kind: "Cluster", spec: `{config: {}}`, refused: "give exactly one of inline, secretRef and configMapRef"},
		"a text":                             {kind: "Cluster", spec: `{config: {inline: a}}`},
		"a tool without its description":     {kind: "Cluster", spec: `{configPath: /a, provisioner: exec}`, refused: "exec describes the tool of the provisioner exec"},
		"a description without its tool":     {kind: "Cluster", spec: `{configPath: /a, exec: {up: [a], remove: [b]}}`, refused: "exec describes the tool of the provisioner exec"},
		"a tool with its description":        {kind: "Cluster", spec: `{configPath: /a, provisioner: exec, exec: {up: [a], remove: [b]}}`},
		"a tool that nobody knows":           {kind: "Cluster", spec: `{configPath: /a, provisioner: magic}`, refused: "spec.provisioner: Unsupported value"},
		"host keys that RKE would not check": {kind: "Cluster", spec: `{configPath: /a, sshAuth: {knownHostsRef: {namespace: a, name: b, key: c}}}`, refused: notChecked},
		"host keys for a tool that uses no SSH": {kind: "Cluster", spec: `{configPath: /a, provisioner: devcluster,
			sshAuth: {knownHostsRef: {namespace: a, name: b, key: c}}}`, refused: notChecked},
		"host keys that the described tool does not read": {kind: "Cluster", spec: `{configPath: /a, provisioner: exec, exec: {up: [a], remove: [b]},
			sshAuth: {knownHostsRef: {namespace: a, name: b, key: c}}}`, refused: notChecked},
		"host keys in an argument of the described tool": {kind: "Cluster", spec: `{configPath: /a, provisioner: exec,
			exec: {up: [a, "--hosts={knownhosts}"], remove: [b]}, sshAuth: {knownHostsRef: {namespace: a, name: b, key: c}}}`},
		"host keys in a variable of the described tool": {kind: "Cluster", spec: `{configPath: /a, provisioner: exec,
			exec: {up: [a], remove: [b], env: [{name: A}, {name: B, value: "{knownhosts}"}]}, sshAuth: {knownHostsRef: {namespace: a, name: b, key: c}}}`},
		"a file of host keys that nobody fills": {
			kind: "Cluster", spec: `{configPath: /a, provisioner: exec, exec: {up: [a], remove: [b, "{knownhosts}"]}}`,
			refused: "{knownhosts} needs sshAuth.knownHostsRef",
		},
		"a state in a directory": {
			kind: "Cluster", spec: `{configPath: /a, provisioner: exec, exec: {up: [a], remove: [b], stateFiles: ["*.state", "state/*.json"]}}`,
			refused: "stateFiles are patterns of file names in the directory of the configuration",
		},
		"a kubeconfig outside of the directory": {
			kind: "Cluster", spec: `{configPath: /a, provisioner: exec, exec: {up: [a], remove: [b], kubeconfigFile: a/../../b}}`,
			refused: "kubeconfigFile is a file in the directory of the configuration or below it",
		},
		"a kubeconfig by its path": {
			kind: "Cluster", spec: `{configPath: /a, provisioner: exec, exec: {up: [a], remove: [b], kubeconfigFile: /etc/kubeconfig}}`,
			refused: "kubeconfigFile is a file in the directory of the configuration or below it",
		},
		"files of a described tool": {
			kind: "Cluster", spec: `{configPath: /a, provisioner: exec, exec: {up: [a], remove: [b], stateFiles: ["*.state", "..lock"], kubeconfigFile: out/..kube}}`,
		},
		"a key for a tool that uses no SSH": {kind: "Cluster", spec: `{configPath: /a, provisioner: devcluster,
			sshAuth: {privateKeySecretRef: {namespace: a, name: b, key: c}}}`, refused: "devcluster does not use SSH"},
		"a key for RKE": {kind: "Cluster", spec: `{configPath: /a, sshAuth: {privateKeySecretRef: {namespace: a, name: b, key: c}}}`},
		"a configuration in a namespace that cannot be": {
			kind: "Cluster", spec: `{config: {secretRef: {namespace: a/b, name: b, key: c}}}`, refused: "spec.config.secretRef.namespace",
		},
		"a configuration of a name that cannot be": {
			kind: "Cluster", spec: `{config: {configMapRef: {namespace: a, name: ../b, key: c}}}`, refused: "spec.config.configMapRef.name",
		},
		"a Secret in a namespace that cannot be": {
			kind: "Cluster", spec: `{configPath: /a, kubeconfigSecretRef: {namespace: a/b, name: c}}`,
			refused: "spec.kubeconfigSecretRef: Invalid value: namespace must be the name of a namespace",
		},
		"a Secret of a name that cannot be for a Kubeconfig": {
			kind: "Kubeconfig", spec: `{clusterRef: {name: a}, writeSecretToRef: {namespace: a, name: B%2e}}`,
			refused: "spec.writeSecretToRef: Invalid value: name must be the name of a Secret",
		},
		"a Secret in a namespace that cannot be for a Kubeconfig": {
			kind: "Kubeconfig", spec: `{clusterRef: {name: a}, writeSecretToRef: {namespace: example.com/name, name: 30s}}`,
			refused: "spec.writeSecretToRef: Invalid value: namespace must be the name of a namespace",
		},
		"a Secret by its name alone":      {kind: "Kubeconfig", spec: `{clusterRef: {name: a}, writeSecretToRef: {namespace: "", name: a.b-c}}`},
		"no attempt at all":               {kind: "Cluster", spec: `{configPath: /a, retry: {attempts: 0}}`, refused: "spec.retry.attempts"},
		"an unknown field":                {kind: "Cluster", spec: `{configPath: /a, confPath: /b}`, refused: `unknown field "spec.confPath"`},
		"probes without a pause":          {kind: "Cluster", spec: `{configPath: /a, health: {interval: 1ns}}`, refused: "spec.health.interval: Invalid value: \"1ns\": must be a duration of at least 1s"},
		"probes without time to answer":   {kind: "Cluster", spec: `{configPath: /a, health: {timeout: 999ms}}`, refused: "spec.health.timeout: Invalid value: \"999ms\": must be a duration of at least 1s"},
		"a run without time":              {kind: "Cluster", spec: `{configPath: /a, timeouts: {up: -1s}}`, refused: "spec.timeouts.up: Invalid value: \"-1s\": must be a duration of at least 1s"},
		"a removal without time":          {kind: "Cluster", spec: `{configPath: /a, timeouts: {remove: 1ms}}`, refused: "spec.timeouts.remove: Invalid value: \"1ms\": must be a duration of at least 1s"},
		"a run that is killed at once":    {kind: "Cluster", spec: `{configPath: /a, timeouts: {grace: 1us}}`, refused: "spec.timeouts.grace: Invalid value: \"1us\": must be a duration of at least 1s"},
		"repeats without a pause":         {kind: "Cluster", spec: `{configPath: /a, retry: {initial: 1ns}}`, refused: "spec.retry.initial: Invalid value: \"1ns\": must be a duration of at least 1s"},
		"repeats that soon have no pause": {kind: "Cluster", spec: `{configPath: /a, retry: {max: 1ns}}`, refused: "spec.retry.max: Invalid value: \"1ns\": must be a duration of at least 1s"},
		"a duration that is a word":       {kind: "Cluster", spec: `{configPath: /a, health: {interval: often}}`, refused: "spec.health.interval: Invalid value: \"often\": must be a duration of at least 1s"},
		"a duration that no clock has":    {kind: "Cluster", spec: `{configPath: /a, health: {interval: 99999999h}}`, refused: "spec.health.interval"},
		"durations as Go writes them": {kind: "Cluster", spec: `{configPath: /a, timeouts: {up: 1h0m0s, remove: 1m30.5s, grace: 0s},
			retry: {initial: 1s, max: 0s}, health: {interval: 1500ms, timeout: "0"}}`},
		"the article's Kubeconfig":        {kind: "Kubeconfig", spec: `{configPath: /etc/rke/kube_config_cluster.yml}`},
		"a Kubeconfig of nothing":         {kind: "Kubeconfig", spec: `{}`, refused: "give clusterRef or configPath"},
		"a token made in no cluster":      {kind: "Kubeconfig", spec: `{configPath: /a, type: ServiceAccountToken}`, refused: "a token is made in a cluster: give clusterRef"},
		"a token of a cluster":            {kind: "Kubeconfig", spec: `{clusterRef: {name: one}, type: ServiceAccountToken}`},
		"a token that ends all too early": {kind: "Kubeconfig", spec: `{clusterRef: {name: one}, expirationSeconds: 599}`, refused: "spec.expirationSeconds"},
	}
	h := testkit.New(t)
	strict := client.WithFieldValidation(h.Live, metav1.FieldValidationStrict)
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var spec map[string]any
			if err := yaml.Unmarshal([]byte(tt.spec), &spec); err != nil {
				t.Fatal(err)
			}
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "clusterprovisioner.rke.io/v1alpha1", "kind": tt.kind, "spec": spec,
			}}
			object.SetGenerateName("schema-")
			err := strict.Create(t.Context(), object, client.DryRunAll)
			switch {
			case tt.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.refused != "" && err == nil:
				t.Errorf("accepted, want a refusal with %q", tt.refused)
			case tt.refused != "" && !strings.Contains(err.Error(), tt.refused):
				t.Errorf("refused with %q, want %q in it", err, tt.refused)
			}
		})
	}
}
