// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-operator/windlass/internal/config"
)

// newGatewayCommand returns the command that serves the HTTP API alone.
func newGatewayCommand() *cobra.Command {
	conf := config.Default()
	conf.OnlyGateway, conf.LeaderElect = true, false
	conf.Gateway.BindAddress = "127.0.0.1:8090"
	command := &cobra.Command{
		Use:   "gateway",
		Short: "Serve the HTTP API alone",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return execute(cmd, &conf, nil)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	conf.BindCommonFlags(flags)
	conf.Gateway.BindFlags(flags, "")
	complete(command)
	return command
}

// newUICommand returns the command that serves the HTTP API for the user of a kubeconfig.
func newUICommand() *cobra.Command {
	conf := config.Default()
	conf.OnlyGateway, conf.LeaderElect = true, false
	conf.MetricsBindAddress, conf.HealthProbeBindAddress = "0", "0"
	conf.Gateway.BindAddress, conf.Gateway.Session, conf.Gateway.RequestsPerSecond = "127.0.0.1:0", true, 0
	noOpen := false
	command := &cobra.Command{
		Use:   "ui",
		Short: "Serve the HTTP API on this machine, as the user of the kubeconfig",
		Long: "Serves the HTTP API on the loopback address and prints its URL. The URL grants the rights of the kubeconfig to everybody\n" +
			"on this machine until the command ends: keep it private.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return execute(cmd, &conf, func(api addresses) error {
				open := func(url string) { browse(cmd.Context(), url) }
				if noOpen {
					open = nil
				}
				return show(cmd.OutOrStdout(), api, open)
			})
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	conf.BindClusterFlags(flags)
	conf.Gateway.BindAddressFlag(flags, "address", "`host:port` on the loopback interface")
	flags.BoolVar(&noOpen, "no-open", false, "print the URL and do not open a browser")
	flags.IntVarP(&conf.Verbosity, "v", "v", conf.Verbosity, "`level` of detail in the log, from 0 to 10")
	complete(command)
	return command
}

// execute runs a command with a complete configuration.
func execute(cmd *cobra.Command, conf *config.Config, tell announce) error {
	conf.FromEnv(config.OS())
	if err := conf.Validate(); err != nil {
		return err
	}
	if err := run(cmd.Context(), conf, cmd.ErrOrStderr(), time.Now, tell); err != nil {
		return failure{err}
	}
	return nil
}

// show prints the URL for the user, and opens a browser unless open is nil.
func show(out io.Writer, api addresses, open func(url string)) error {
	if _, err := fmt.Fprintln(out, api.URL()); err != nil || open == nil {
		return err
	}
	open(api.BrowserURL())
	return nil
}

// browse opens a browser. The URL is printed already, so a machine without a browser is not an error.
func browse(ctx context.Context, url string) {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), opener, url) //nolint:gosec // because both are our own
	if command.Start() == nil {
		go func() { _ = command.Wait() }()
	}
}
