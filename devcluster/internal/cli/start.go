// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/windlass-operator/windlass/devcluster/internal/cluster"
	"github.com/windlass-operator/windlass/devcluster/internal/progress"
)

// startCommand is the opposite of stop. Unlike up, it reads no cluster.yml, so it also starts clusters whose file was deleted.
func startCommand(opts *options) *cobra.Command {
	var chosen selection
	cmd := &cobra.Command{
		Use:   "start (--name NAME | --all)",
		Short: "Start the processes of a cluster that was stopped, with the nodes that it has",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := chosen.check(); err != nil {
				return err
			}
			return opts.withStore(cmd.ErrOrStderr(), func(store *cluster.Store, report *progress.Reporter) error {
				return chosen.each(store, func(name string) error {
					result, err := store.Start(cmd.Context(), name)
					switch {
					case chosen.all && errors.Is(err, cluster.ErrIncomplete):
						report.Done("continuing without cluster %q: its creation was never completed", name)
						return nil
					case err != nil:
						return err
					}
					report.Done("cluster %q is up at %s", name, result.Endpoint)
					return nil
				})
			})
		},
	}
	chosen.bind(cmd)
	return cmd
}
