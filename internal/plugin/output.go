// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// format is what -o says.
type format string

// Formats. The empty one is for people.
const (
	formatWide format = "wide"
	formatName format = "name"
	formatJSON format = "json"
	formatYAML format = "yaml"
)

// String, Set and Type implement pflag.Value.
func (f *format) String() string { return string(*f) }

// Set implements pflag.Value.
func (f *format) Set(text string) error {
	switch format(text) {
	case "", formatWide, formatName, formatJSON, formatYAML:
		*f = format(text)
		return nil
	default:
		return fmt.Errorf("it must be %s, %s, %s or %s", formatJSON, formatYAML, formatName, formatWide)
	}
}

// Type implements pflag.Value.
func (*format) Type() string { return "format" }

// addOutput adds the flag -o to a command.
func addOutput(command *cobra.Command) *format {
	out := new(format)
	command.Flags().VarP(out, "output", "o", "`format` of the output: json, yaml, name or wide")
	formats := []string{string(formatJSON), string(formatYAML), string(formatName), string(formatWide)}
	// It fails only for a flag that does not exist.
	_ = command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return out
}

// structured reports whether the output is for programs.
func (f *format) structured() bool { return *f == formatJSON || *f == formatYAML }

// printValue prints a value as JSON or YAML.
func (p *plugin) printValue(as format, value any) error {
	var text []byte
	var err error
	if as == formatYAML {
		text, err = yaml.Marshal(value)
	} else {
		text, err = json.MarshalIndent(value, "", "    ")
		text = append(escaped(text), '\n')
	}
	if err != nil {
		return fmt.Errorf("cannot encode the output: %w", err)
	}
	_, err = p.Streams.Out.Write(text)
	return err
}

// width returns the width of the terminal, 0 where there is none.
func (p *plugin) width() int {
	if !p.Streams.terminal() {
		return 0
	}
	width, _ := p.Streams.Size()
	return width
}

// nameOf returns how kubectl calls an object with -o name.
func nameOf(k *kind, object client.Object) string { return k.name(object.GetName()) }

func (k *kind) name(of string) string {
	if k.gvk.Group == "" {
		return k.singular() + "/" + of
	}
	return k.singular() + "." + k.gvk.Group + "/" + of
}
