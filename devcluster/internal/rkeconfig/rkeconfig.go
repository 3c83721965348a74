// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rkeconfig reads the parts of RKE's cluster.yml that apply to a cluster of simulated nodes.
//
// The same file must work with RKE and with devcluster. So every field of RKE is accepted, and fields that do not apply
// here (SSH keys, kubelet arguments, images…) are ignored.
package rkeconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/devcluster/internal/node"
)

// Config is the part of a cluster.yml that applies here.
type Config struct {
	ClusterName string `json:"cluster_name"`
	Nodes       []Node `json:"nodes"`
}

// Node is an entry of nodes.
type Node struct {
	Address          string            `json:"address"`
	InternalAddress  string            `json:"internal_address"`
	User             string            `json:"user"`
	Role             []string          `json:"role"`
	HostnameOverride string            `json:"hostname_override"`
	Labels           map[string]string `json:"labels"`
	Taints           []Taint           `json:"taints"`
}

// Taint is an entry of a node's taints.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

// Name returns the name of the node in the cluster.
func (n Node) Name() string {
	if n.HostnameOverride != "" {
		return n.HostnameOverride
	}
	return n.Address
}

// Read reads and validates a cluster.yml. The error lists everything that is wrong with it.
func Read(path string) (Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("cannot read cluster configuration %q: %w", path, err)
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err != nil {
		return Config{}, fmt.Errorf("cannot read cluster configuration %q: %w", path, err)
	}
	config, err := Parse(raw)
	if err != nil {
		return Config{}, fmt.Errorf("cannot use cluster configuration %q: %w", path, err)
	}
	return config, nil
}

// Parse parses and validates the contents of a cluster.yml.
func Parse(raw []byte) (Config, error) {
	if err := bounded(raw); err != nil {
		return Config{}, err
	}
	var config Config
	if err := yaml.Unmarshal(raw, &config); err != nil {
		return Config{}, err
	}
	return config, config.Validate()
}

// Validate returns every error at once.
func (c Config) Validate() error {
	var problems []error
	if len(c.Nodes) == 0 {
		problems = append(problems, errors.New("nodes: at least one is needed"))
	}
	first := map[string]int{}
	for i, entry := range c.Nodes {
		for _, problem := range entry.problems() {
			problems = append(problems, fmt.Errorf("nodes[%d].%s", i, problem))
		}
		if entry.Name() == "" {
			continue
		}
		if j, taken := first[entry.Name()]; taken {
			problems = append(problems, fmt.Errorf("nodes[%d]: has the name %q of nodes[%d], set hostname_override", i, entry.Name(), j))
			continue
		}
		first[entry.Name()] = i
	}
	return errors.Join(problems...)
}

// problems applies the API server's own rules, so that a valid entry does not fail while nodes are created.
func (n Node) problems() []string {
	var problems []string
	add := func(field, value string, reasons []string) {
		for _, reason := range reasons {
			problems = append(problems, fmt.Sprintf("%s: %q: %s", field, value, reason))
		}
	}
	switch {
	case n.Address == "":
		problems = append(problems, "address: is missing")
	case n.HostnameOverride != "":
		add("hostname_override", n.HostnameOverride, validation.IsDNS1123Subdomain(n.HostnameOverride))
	case len(validation.IsDNS1123Subdomain(n.Address)) > 0:
		problems = append(problems, fmt.Sprintf("address: %q cannot be a node's name, set hostname_override", n.Address))
	}
	if len(n.Role) == 0 {
		problems = append(problems, "role: at least one is needed, such as worker")
	}
	for i, role := range n.Role {
		add(fmt.Sprintf("role[%d]", i), role, validation.IsQualifiedName(node.RolePrefix+role))
	}
	for _, key := range sorted(n.Labels) {
		add("labels", key, validation.IsQualifiedName(key))
		add("labels["+key+"]", n.Labels[key], validation.IsValidLabelValue(n.Labels[key]))
	}
	for i, taint := range n.Taints {
		field := fmt.Sprintf("taints[%d]", i)
		add(field+".key", taint.Key, validation.IsQualifiedName(taint.Key))
		add(field+".value", taint.Value, validation.IsValidLabelValue(taint.Value))
		if !isEffect(taint.Effect) {
			problems = append(problems, fmt.Sprintf("%s.effect: %q: must be NoSchedule, PreferNoSchedule or NoExecute", field, taint.Effect))
		}
	}
	return problems
}

// isEffect also refuses an empty effect, which means every effect in a toleration but is invalid in a taint.
func isEffect(effect string) bool {
	switch corev1.TaintEffect(effect) {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		return true
	default:
		return false
	}
}

// Specs returns the simulated nodes that the entries declare.
func (c Config) Specs() []node.Spec {
	specs := make([]node.Spec, 0, len(c.Nodes))
	for _, n := range c.Nodes {
		spec := node.Spec{Name: n.Name(), Address: n.Address, Roles: n.Role, Labels: n.Labels}
		if n.InternalAddress != "" {
			spec.Address = n.InternalAddress
		}
		for _, taint := range n.Taints {
			spec.Taints = append(spec.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
		}
		specs = append(specs, spec)
	}
	return specs
}

// Name returns the name of the cluster of a file: its cluster_name, or a name derived from the path.
func (c Config) Name(path string) string {
	if len(validation.IsDNS1123Label(c.ClusterName)) == 0 && len(c.ClusterName) <= maxName {
		return c.ClusterName
	}
	// RKE accepts any text as a name. The hash distinguishes names that are equal after fit.
	if c.ClusterName != "" {
		return fit(c.ClusterName) + hash(c.ClusterName)
	}
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return fit(base) + hash(path)
}

const (
	maxName = 50
	maxStem = 40
)

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// fit returns the readable part of a name, which need not be unique.
func fit(text string) string {
	stem := strings.Trim(unfit.ReplaceAllString(strings.ToLower(text), "-"), "-")
	stem = strings.Trim(stem[:min(len(stem), maxStem)], "-")
	if stem == "" {
		stem = "cluster"
	}
	return stem + "-"
}

// hash returns the unique part of a name. Eight digits are enough for the clusters of one machine.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// KubeconfigPath returns the path to which RKE writes the kubeconfig of a cluster.yml.
func KubeconfigPath(path string) string {
	return filepath.Join(filepath.Dir(path), "kube_config_"+filepath.Base(path))
}

// sorted returns the keys in order, so that errors have the same order on every run.
func sorted(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
