// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"runtime"

	"github.com/spf13/cobra"
)

// versionInfo is what -o json shows of the program.
type versionInfo struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (p *plugin) versionInfo() versionInfo {
	return versionInfo{Version: p.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
}

func (p *plugin) newVersionCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin",
		Args:  cobra.NoArgs,
	}
	output := addOutput(command)
	command.RunE = func(*cobra.Command, []string) error {
		info := p.versionInfo()
		if output.structured() {
			return p.printValue(*output, info)
		}
		p.printf("windlass %s (%s, %s)\n", info.Version, info.Go, info.Platform)
		return nil
	}
	return command
}
