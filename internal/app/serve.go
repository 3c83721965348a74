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
	"github.com/spf13/pflag"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/plugin"
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

// ui serves the HTTP API on this machine for the user of a kubeconfig. It implements plugin.UI.
type ui struct {
	conf   config.Config
	noOpen bool
}

func newUI() *ui {
	u := &ui{conf: config.Default()}
	conf := &u.conf
	conf.OnlyGateway, conf.LeaderElect = true, false
	conf.MetricsBindAddress, conf.HealthProbeBindAddress = "0", "0"
	conf.Gateway.BindAddress, conf.Gateway.Session, conf.Gateway.RequestsPerSecond = "127.0.0.1:0", true, 0
	return u
}

// Bind implements plugin.UI.
func (u *ui) Bind(flags *pflag.FlagSet) {
	u.conf.Gateway.BindAddressFlag(flags, "address", "`host:port` on the loopback interface")
	flags.BoolVar(&u.noOpen, "no-open", false, "print the URL and do not open a browser")
	flags.IntVarP(&u.conf.Verbosity, "v", "v", u.conf.Verbosity, "`level` of detail in the log, from 0 to 10")
}

// Check implements plugin.UI.
func (u *ui) Check() error { return u.conf.Validate() }

// Serve implements plugin.UI. Unlike the command it gets the way to the cluster, which flags of kubectl decide.
func (u *ui) Serve(ctx context.Context, to plugin.Context, out, log io.Writer) error {
	u.conf.Gateway.CallCluster(to.Name) // which takes no name that would not be valid
	return runOn(ctx, to.Config, []string{to.Namespace}, &u.conf, log, time.Now, u.announce(ctx, out))
}

// announce returns what shows the URL.
func (u *ui) announce(ctx context.Context, out io.Writer) announce {
	return func(api addresses) error {
		open := func(url string) { browse(ctx, url) }
		if u.noOpen {
			open = nil
		}
		return show(out, api, open)
	}
}

// newUICommand returns the command that serves the HTTP API for the user of a kubeconfig.
func newUICommand() *cobra.Command {
	served := newUI()
	command := &cobra.Command{
		Use:   "ui",
		Short: "Serve the console and the HTTP API on this machine, as the user of the kubeconfig",
		Long:  plugin.UILong,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return execute(cmd, &served.conf, served.announce(cmd.Context(), cmd.OutOrStdout()))
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	served.conf.BindClusterFlags(flags)
	served.Bind(flags)
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
