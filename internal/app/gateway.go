// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/gateway"
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
		Long: "Serves the HTTP API on the loopback address and prints its URL. Whoever has the URL and is on this machine acts with the\n" +
			"rights of the kubeconfig, until the command ends.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return execute(cmd, &conf, func(url string) error {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), url); err != nil || noOpen {
					return err
				}
				return browse(cmd.Context(), url)
			})
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&conf.Kubeconfig, "kubeconfig", conf.Kubeconfig,
		"`file` to reach the cluster with (default $KUBECONFIG, else the Pod's own rights, else ~/.kube/config)")
	flags.StringVar(&conf.Gateway.BindAddress, "address", conf.Gateway.BindAddress, "`host:port` on the loopback interface")
	flags.BoolVar(&noOpen, "no-open", false, "print the URL and open no browser")
	flags.IntVarP(&conf.Verbosity, "v", "v", conf.Verbosity, "`level` of detail in the log, from 0 to 10")
	return command
}

// execute runs a command whose configuration is complete. tell is called with the URL once it is served.
func execute(cmd *cobra.Command, conf *config.Config, tell func(url string) error) error {
	conf.FromEnv(config.OS())
	if err := conf.Validate(); err != nil {
		return err
	}
	if err := run(cmd.Context(), conf, cmd.ErrOrStderr(), time.Now, tell); err != nil {
		return failure{err}
	}
	return nil
}

// addGateway adds the HTTP API to the manager, if it is wanted.
func addGateway(
	ctx context.Context, mgr manager.Manager, restConfig *rest.Config, conf *config.Config, tell func(url string) error,
) error {
	if !conf.Gateway.Enabled() {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", conf.Gateway.BindAddress)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w: choose another address", conf.Gateway.BindAddress, cause(err))
	}
	api, err := gateway.New(ctx, gateway.Options{
		Config: restConfig, Listener: listener, CertFile: conf.Gateway.CertFile, KeyFile: conf.Gateway.KeyFile,
		Session:           conf.Gateway.Session || conf.Gateway.SessionFile != "",
		Namespaces:        contextNamespaces(conf.Kubeconfig),
		RequestsPerSecond: conf.Gateway.RequestsPerSecond, Version: version, Now: time.Now,
		Log: mgr.GetLogger().WithName("gateway"),
	})
	if err != nil {
		_ = listener.Close()
		return err
	}
	if err := mgr.Add(api); err != nil {
		return fmt.Errorf("cannot add the HTTP API: %w", err)
	}
	mgr.GetLogger().Info("Serving the HTTP API", "address", listener.Addr().String())
	if conf.Gateway.SessionFile != "" {
		if err := writeSession(conf.Gateway.SessionFile, api.URL()); err != nil {
			return err
		}
	}
	if tell != nil {
		// The socket listens already: who comes at once waits for the answer and is not refused.
		return tell(api.URL())
	}
	return nil
}

// writeSession writes the URL for the user alone, whole or not at all.
func writeSession(path, url string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".session-*") // which only its owner may read
	if err != nil {
		return fmt.Errorf("cannot write the session file: %w", err)
	}
	_, err = file.WriteString(url + "\n")
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return fmt.Errorf("cannot write the session file: %w", err)
	}
	return nil
}

// browse opens a browser, where there is one. The URL is printed already, so that none is no failure.
func browse(ctx context.Context, url string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), opener, url) //nolint:gosec // because both are our own
	if err := command.Start(); err != nil {
		return nil //nolint:nilerr // because the URL can be opened by hand
	}
	go func() { _ = command.Wait() }()
	return nil
}
