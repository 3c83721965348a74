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

// downCommand asks for no confirmation, unlike remove: its argument is the name of the cluster, not of a file.
func downCommand(opts *options) *cobra.Command {
	return endCommand(opts, "down", "Stop a cluster and delete everything that was created for it", deleteCluster)
}

// deleteCluster succeeds also if there is no such cluster, because provisioners repeat their calls.
func deleteCluster(cmd *cobra.Command, store *cluster.Store, report *progress.Reporter, name string) error {
	found, err := store.Delete(cmd.Context(), name)
	if err != nil {
		return err
	}
	if found {
		report.Done("cluster %q is removed", name)
	} else {
		report.Done("cluster %q does not exist, nothing to remove", name)
	}
	return nil
}

// removeCommand has the name and the flags of RKE's command.
func removeCommand(opts *options) *cobra.Command {
	var config string
	var force bool
	cmd := &cobra.Command{
		Use:   "remove --config FILE [--force]",
		Short: "Stop the cluster of a cluster.yml and delete everything that was created for it",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if config == "" {
				return usageError{errors.New("--config is required")}
			}
			return runRemove(cmd, opts, config, force)
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "cluster.yml from which the cluster was created; the file can be deleted already")
	cmd.Flags().BoolVar(&force, "force", false, "remove without confirmation")
	return cmd
}

// runRemove asks before it opens the state directory, because opening creates it.
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
			report.Done("no cluster was created from %s, nothing to remove", path)
			return nil
		}
		return deleteCluster(cmd, store, report, name)
	})
}

// confirm asks on a terminal and fails elsewhere, where no one can answer.
func confirm(stdin *os.File, out io.Writer, path string) error {
	if !term.IsTerminal(int(stdin.Fd())) {
		return errors.New("cannot ask for confirmation: standard input is not a terminal: use --force to remove without confirmation")
	}
	fmt.Fprintf(out, "Remove the cluster of %s and all its data? [y/N] ", path)
	answer, err := bufio.NewReader(stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("the cluster was not removed: answer y to confirm, or use --force")
	}
	return nil
}

// stopCommand takes no files: list also shows the names of clusters that were created from them.
func stopCommand(opts *options) *cobra.Command {
	return endCommand(opts, "stop", "Stop the processes of a cluster and keep its data; start or up starts them again", stopCluster)
}

func stopCluster(cmd *cobra.Command, store *cluster.Store, report *progress.Reporter, name string) error {
	ran, err := store.Stop(cmd.Context(), name)
	if err != nil {
		return err
	}
	if ran {
		report.Done("cluster %q is stopped", name)
	} else {
		report.Done("cluster %q was already stopped", name)
	}
	return nil
}

// endCommand returns a command that ends one cluster, or all.
func endCommand(
	opts *options, name, short string, end func(cmd *cobra.Command, store *cluster.Store, report *progress.Reporter, name string) error,
) *cobra.Command {
	var chosen selection
	cmd := &cobra.Command{
		Use:   name + " (--name NAME | --all)",
		Short: short,
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := chosen.check(); err != nil {
				return err
			}
			return opts.withStore(cmd.ErrOrStderr(), func(store *cluster.Store, report *progress.Reporter) error {
				return chosen.each(store, func(name string) error { return end(cmd, store, report, name) })
			})
		},
	}
	chosen.bind(cmd)
	return cmd
}
