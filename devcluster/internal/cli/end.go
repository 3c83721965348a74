// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/windlass-operator/windlass/devcluster/internal/cluster"
	"github.com/windlass-operator/windlass/devcluster/internal/progress"
)

// downCommand does not ask as remove does: who types the name has thought of the cluster, not of a file.
func downCommand(opts *options) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "down --name NAME",
		Short: "Stop a cluster and delete all that was made for it",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkName(name); err != nil {
				return err
			}
			return opts.withStore(cmd.ErrOrStderr(), func(store *cluster.Store, report *progress.Reporter) error {
				return deleteCluster(cmd, store, report, name)
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the cluster")
	return cmd
}

// deleteCluster reports both outcomes as a success. A provisioner repeats its calls, and what is gone is what it wants.
func deleteCluster(cmd *cobra.Command, store *cluster.Store, report *progress.Reporter, name string) error {
	found, err := store.Delete(cmd.Context(), name)
	if err != nil {
		return err
	}
	if found {
		report.Done("cluster %q is removed", name)
	} else {
		report.Done("there is no cluster %q, nothing to remove", name)
	}
	return nil
}

// removeCommand is RKE's call with RKE's flags.
func removeCommand(opts *options) *cobra.Command {
	var config string
	var force bool
	cmd := &cobra.Command{
		Use:   "remove --config FILE [--force]",
		Short: "Stop the cluster of a cluster.yml and delete all that was made for it",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if config == "" {
				return usageError{errors.New("--config is missing")}
			}
			return runRemove(cmd, opts, config, force)
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "cluster.yml that the cluster was made from; it need not exist any more")
	cmd.Flags().BoolVar(&force, "force", false, "do not ask")
	return cmd
}

// runRemove asks before it opens the state directory, so that a refused call leaves not even that behind.
func runRemove(cmd *cobra.Command, opts *options, config string, force bool) error {
	path, err := filepath.Abs(config)
	if err != nil {
		return fmt.Errorf("cannot find %q: %w", config, err)
	}
	if !force {
		if err := confirm(opts.stdin, cmd.ErrOrStderr(), path); err != nil {
			return err
		}
	}
	return opts.withStore(cmd.ErrOrStderr(), func(store *cluster.Store, report *progress.Reporter) error {
		// By path and not by cluster_name: the file may have been edited, may be gone, or may carry the name of
		// another file's cluster.
		name, found, err := store.FindByConfig(path)
		if err != nil {
			return err
		}
		if !found {
			report.Done("there is no cluster of %s, nothing to remove", path)
			return nil
		}
		return deleteCluster(cmd, store, report, name)
	})
}

// confirm asks on a terminal and refuses elsewhere, where nobody could answer.
func confirm(stdin *os.File, out io.Writer, path string) error {
	if !term.IsTerminal(int(stdin.Fd())) {
		return errors.New("refusing to remove without a question and without a terminal to ask on: add --force")
	}
	fmt.Fprintf(out, "Remove the cluster of %s with all its data? [y/N] ", path)
	answer, err := bufio.NewReader(stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("not removed: answer y, or use --force")
	}
	return nil
}

// stopCommand takes names only: list shows them for clusters of files as well.
func stopCommand(opts *options) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "stop --name NAME",
		Short: "Stop a cluster's processes and keep its data; up continues where it was",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkName(name); err != nil {
				return err
			}
			return opts.withStore(cmd.ErrOrStderr(), func(store *cluster.Store, report *progress.Reporter) error {
				ran, err := store.Stop(cmd.Context(), name)
				if err != nil {
					return err
				}
				if ran {
					report.Done("cluster %q is stopped", name)
				} else {
					report.Done("cluster %q was stopped already", name)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the cluster")
	return cmd
}
