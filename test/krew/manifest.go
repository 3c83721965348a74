// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "sigs.k8s.io/yaml"

// plugin is a manifest of krew.
type plugin struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   metadata   `json:"metadata"`
	Spec       pluginSpec `json:"spec"`
}

type metadata struct {
	Name string `json:"name"`
}

type pluginSpec struct {
	Version          string     `json:"version"`
	Homepage         string     `json:"homepage"`
	ShortDescription string     `json:"shortDescription"`
	Description      string     `json:"description"`
	Platforms        []platform `json:"platforms"`
}

type platform struct {
	Selector selector `json:"selector"`
	URI      string   `json:"uri"`
	SHA256   string   `json:"sha256"`
	Bin      string   `json:"bin"`
}

type selector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// manifest returns the manifest of the release.
func (r *release) manifest() ([]byte, error) {
	out := plugin{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: metadata{Name: "windlass"},
		Spec: pluginSpec{
			Version: r.version, Homepage: "https://github.com/windlass-operator/windlass",
			ShortDescription: "See, explain and change what Windlass does",
			Description: "Shows how the node pools, machines and clusters of Windlass stand, explains why,\n" +
				"and changes them: with the rights of the kubeconfig, and nothing in between.\n",
		},
	}
	for _, each := range r.archives {
		out.Spec.Platforms = append(out.Spec.Platforms, platform{
			Selector: selector{MatchLabels: map[string]string{"os": each.system, "arch": each.architecture}},
			URI:      r.url + "/" + r.version + "/" + each.name, SHA256: each.sum, Bin: program,
		})
	}
	return yaml.Marshal(out)
}
