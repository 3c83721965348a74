// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-operator/windlass/internal/config"
)

// checkTimeout bounds a check: CRDs that were applied a moment ago are waited for, and those that nobody has applied are not.
const checkTimeout = 30 * time.Second

// newCheckCommand returns the command that asks what a manager asks when it starts, and nothing more.
func newCheckCommand() *cobra.Command {
	conf := config.Default(controllerNames()...)
	command := &cobra.Command{
		Use:   "check",
		Short: "Check whether a manager with these flags could start: CRDs, rights and Lease",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf.FromEnv(config.OS())
			if err := conf.Validate(); err != nil {
				return err
			}
			if err := check(cmd.Context(), &conf, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
				return failure{err}
			}
			return nil
		},
	}
	command.Flags().SortFlags = false
	conf.BindFlags(command.Flags())
	complete(command)
	return command
}

func check(ctx context.Context, conf *config.Config, out, log io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	restConfig, err := restConfig(conf.Kubeconfig, conf.Master)
	if err != nil {
		return err
	}
	detail, err := newVerbosity(conf.Verbosity)
	if err != nil {
		return err
	}
	conf.HealthProbeBindAddress = "0" // a check is nobody's to probe
	list := enabled(conf.Enabled)
	logger, silence := newLogger(log, conf, detail)
	defer silence()
	_, err = preflight(ctx, restConfig, conf, list, logger)
	if err == nil {
		_, err = fmt.Fprintf(out, "The API server at %s serves and grants what these controllers need: %v\n", restConfig.Host, names(list))
	}
	return err
}
