// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rkeconfig reads the cluster.yml of RKE, as far as a cluster of simulated nodes can follow it.
//
// The same file shall work with the real tool and with this one, so everything that RKE knows is accepted, and what
// means nothing here (SSH keys, kubelet arguments, images…) is passed over.
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

// Config is the part of a cluster.yml that has an effect here.
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

// Name is the node's name in the cluster.
func (n Node) Name() string {
	if n.HostnameOverride != "" {
		return n.HostnameOverride
	}
	return n.Address
}

// Read reads and validates a cluster.yml. The error names everything that is wrong with it.
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

// Parse is Read for contents.
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

// problems checks by the API server's own rules, so that what passes here cannot fail half-way through creating nodes.
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

// isEffect also refuses an empty effect, which means all of them in a toleration and nothing in a taint.
func isEffect(effect string) bool {
	switch corev1.TaintEffect(effect) {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		return true
	default:
		return false
	}
}

// Specs are the simulated nodes that the entries ask for.
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

// Name is the name of the cluster that a file makes: its cluster_name, or one of its own for every path.
func (c Config) Name(path string) string {
	if len(validation.IsDNS1123Label(c.ClusterName)) == 0 && len(c.ClusterName) <= maxName {
		return c.ClusterName
	}
	// RKE takes any text as a name. The hash keeps apart what looks the same once it is made to fit.
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

// fit makes the readable part of a name; it need not be unique.
func fit(text string) string {
	stem := strings.Trim(unfit.ReplaceAllString(strings.ToLower(text), "-"), "-")
	stem = strings.Trim(stem[:min(len(stem), maxStem)], "-")
	if stem == "" {
		stem = "cluster"
	}
	return stem + "-"
}

// hash makes the unique part. Eight digits are plenty for the clusters of one machine.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// KubeconfigPath is where RKE writes the kubeconfig of a cluster.yml.
func KubeconfigPath(path string) string {
	return filepath.Join(filepath.Dir(path), "kube_config_"+filepath.Base(path))
}

// sorted makes the order of errors the same on every run.
func sorted(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
