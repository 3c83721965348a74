// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/boundedyaml"
)

// MaxConfig bounds a configuration, in bytes.
const MaxConfig = 256 << 10

// limits bound a configuration after its aliases are expanded: 100 KB can stand for gigabytes.
func limits() boundedyaml.Limits {
	return boundedyaml.Limits{Bytes: 4 * MaxConfig, Nodes: 100_000, Depth: 100}
}

// Config is a tool's configuration as far as Windlass understands it. For a configuration that is not RKE's, that is the digest and the
// secrets only.
type Config struct {
	// Digest identifies the configuration. Comments and the order of keys do not count.
	Digest string
	// Former is the digest that earlier versions of Windlass gave it: that of its first document alone. It is empty if that is the only one.
	Former string
	// Text is the configuration without secrets, as sorted YAML.
	Text string
	// Secrets are the values that must not be shown.
	Secrets []string
	// SecretKeys are the paths of the keys that hold secrets, sorted, such as nodes[0].ssh_key.
	SecretKeys []string
	// Version is the version of Kubernetes that it asks for; empty for none.
	Version string
	// Nodes that it names, in order.
	Nodes []Node
	// Settings are its other top-level keys, with a digest of each value. What is not in RKE's form under nodes and kubernetes_version is among
	// them.
	Settings map[string]string
}

// Node is a machine that a configuration names.
type Node struct {
	// Name is its name in Kubernetes: hostname_override, or the address.
	Name    string
	Address string
	// Roles, sorted.
	Roles []string
	// rest is a digest of everything that the configuration says about it.
	rest string
}

// document is the part of RKE's cluster.yml that is read. k0sctl has its hosts elsewhere.
type document struct {
	Nodes []struct {
		Address          string   `json:"address"`
		HostnameOverride string   `json:"hostname_override"`
		Role             []string `json:"role"`
	} `json:"nodes"`
	KubernetesVersion string `json:"kubernetes_version"`
}

// ReadConfig reads a configuration: YAML or JSON, a map at the top. The tool gets all documents of it, so all of them count: nodes and version are those of
// the first, as RKE has it, and the keys of the others are settings. What has no keys counts for nothing.
func ReadConfig(raw []byte) (Config, error) {
	if len(raw) > MaxConfig {
		return Config{}, fmt.Errorf("cannot read configuration: it has %d bytes, more than the limit of %d", len(raw), MaxConfig)
	}
	if err := boundedyaml.Check(raw, limits()); err != nil {
		return Config{}, fmt.Errorf("cannot read configuration: %s", Redact(err.Error()))
	}
	documents, err := boundedyaml.Documents(raw)
	if err != nil {
		return Config{}, fmt.Errorf("cannot read configuration: %s", Redact(err.Error()))
	}
	if len(documents) == 0 {
		return Config{}, errEmpty
	}
	config, tree, err := readDocument(documents[0])
	if err != nil {
		return Config{}, err
	}
	takeNodes(&config, documents[0], tree)
	first := config.Digest
	for i, text := range documents[1:] {
		further, _, err := readDocument(text)
		if errors.Is(err, errEmpty) {
			continue
		}
		if err != nil {
			return Config{}, err
		}
		config.Former = first
		add(&config, further, fmt.Sprintf("document %d%s", i+2, ofDocument))
	}
	slices.Sort(config.SecretKeys)
	return config, nil
}

// errEmpty says that there are no keys.
var errEmpty = errors.New("cannot read configuration: it is empty")

// readDocument reads one document, whose keys are all settings.
func readDocument(raw []byte) (config Config, tree map[string]any, err error) {
	// Numbers stay as they are written: as floats, two large ones could be equal.
	exact := func(decoder *json.Decoder) *json.Decoder { decoder.UseNumber(); return decoder }
	if err := yaml.Unmarshal(raw, &tree, exact); err != nil {
		return Config{}, nil, fmt.Errorf("cannot read configuration: %s", Redact(err.Error()))
	}
	if len(tree) == 0 {
		return Config{}, nil, errEmpty
	}
	config = Config{Digest: digest(tree), Settings: map[string]string{}}
	for key, value := range tree {
		config.Settings[key] = digest(value)
	}
	found := &secrets{}
	clean, ok := found.hide("", tree).(map[string]any)
	if !ok {
		return Config{}, nil, errors.New("cannot read configuration: it is not a map")
	}
	config.Secrets, config.SecretKeys = found.values, found.keys
	text, err := yaml.Marshal(clean)
	if err != nil {
		return Config{}, nil, fmt.Errorf("cannot write configuration without secrets: %w", err)
	}
	config.Text = Redact(string(text))
	return config, tree, nil
}

// takeNodes reads nodes and version, if they are in RKE's form. Another tool's configuration can have anything under these names: a plan says that it
// changes, but not how.
func takeNodes(c *Config, raw []byte, tree map[string]any) {
	var doc document
	if yaml.Unmarshal(raw, &doc) != nil {
		return
	}
	c.Version = doc.KubernetesVersion
	delete(c.Settings, "kubernetes_version")
	list, _ := tree["nodes"].([]any)
	if nodes := doc.nodes(list); haveNames(nodes) {
		c.Nodes = nodes
		delete(c.Settings, "nodes")
	}
}

// ofDocument is between the title of a further document and a key of it.
const ofDocument = ": "

// add adds what a further document has, under its title.
func add(c *Config, further Config, title string) {
	c.Digest = digest([]string{c.Digest, further.Digest})
	c.Text += "---\n" + further.Text
	c.Secrets = append(c.Secrets, further.Secrets...)
	for _, key := range further.SecretKeys {
		c.SecretKeys = append(c.SecretKeys, title+key)
	}
	for key, value := range further.Settings {
		c.Settings[title+key] = value
	}
}

// nodes returns the nodes that are named. The list has everything that the configuration says about each.
func (d *document) nodes(list []any) []Node {
	var out []Node
	for i, node := range d.Nodes {
		name := node.HostnameOverride
		if name == "" {
			name = node.Address
		}
		read := Node{Name: name, Address: node.Address, Roles: slices.Sorted(slices.Values(node.Role))}
		if i < len(list) { // under a name in capitals, which tools take, the list is one of the settings
			read.rest = digest(list[i])
		}
		out = append(out, read)
	}
	return out
}

// haveNames reports whether each node has a name of its own. Otherwise a plan would take one for another.
func haveNames(nodes []Node) bool {
	named := byName(nodes)
	_, nameless := named[""]
	return !nameless && len(named) == len(nodes)
}

// digest returns a digest of a tree. JSON sorts the keys of maps, so that equal trees have equal digests.
func digest(tree any) string {
	raw, err := json.Marshal(tree)
	if err != nil {
		panic(fmt.Sprintf("cannot encode what was decoded: %v", err))
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// isSecretName reports whether the value of a key of that name is a secret, however the words of the name are separated.
func isSecretName(key string) bool {
	plain := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
	switch plain {
	case "sshkey", "sshprivatekey", "privatekey", "password", "passwd", "secretkey", "accesskey", "token", "bearertoken", "clientsecret",
		"secret", "passphrase", "sshkeypassphrase", "apikey", "aadclientsecret", "aadclientcertpassword", "awssecretaccesskey":
		return true
	}
	return false
}

// secretText returns the value of a key whose name says that it is secret. A password of digits is a number in YAML; what has parts, such
// as a reference to a Secret, is not a secret.
func secretText(value any) string {
	switch typed := value.(type) {
	case string:
		return typed
	case json.Number:
		return typed.String()
	}
	return ""
}

// secrets collects the secrets in a tree.
type secrets struct{ keys, values []string }

// hide returns the tree without secrets, and collects them. A path, as in ssh_key_path, is not a secret.
func (s *secrets) hide(at string, tree any) any {
	switch value := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			path := strings.TrimPrefix(at+"."+key, ".")
			if text := secretText(value[key]); text != "" && isSecretName(key) {
				s.values, s.keys = append(s.values, text), append(s.keys, path)
				out[key] = redacted
				continue
			}
			out[key] = s.hide(path, value[key])
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for i, item := range value {
			out = append(out, s.hide(fmt.Sprintf("%s[%d]", at, i), item))
		}
		return out
	case string:
		if pemBegin.MatchString(value) {
			s.values, s.keys = append(s.values, value), append(s.keys, at)
			return redacted
		}
	}
	return tree
}

// maxApplied bounds the text that Applied returns, in bytes.
const maxApplied = 32 << 10

// Applied returns what a status shows of the configuration: its digest in the first line, so that two of them are equal only if the
// configurations are, and the text without secrets.
func (c Config) Applied() string {
	text := c.Text
	if len(text) > maxApplied {
		text = strings.ToValidUTF8(text[:maxApplied], "") + "\n# ... cut\n"
	}
	return "# " + c.Digest + "\n" + text
}
