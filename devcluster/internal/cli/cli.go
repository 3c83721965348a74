// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli is the command line of devcluster. Its up and remove follow RKE's contract, so that devcluster can replace
// RKE where a program runs it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/windlass-operator/windlass/devcluster/internal/cluster"
	"github.com/windlass-operator/windlass/devcluster/internal/progress"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

// usageError is an error in the arguments, as opposed to a failure of the command.
type usageError struct{ error }

// Main runs the command line and returns the exit code.
func Main(args []string) int {
	// The components register their flags in the global set; this command has none of them.
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ContinueOnError)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()

	root := newRoot(os.Stdin)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "devcluster: interrupted")
		return exitFailure
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "devcluster: %v (run 'devcluster --help' for usage)\n", err)
		return exitUsage
	default:
		fmt.Fprintf(os.Stderr, "devcluster: %v\n", err)
		return exitFailure
	}
}

// options are the flags of every command.
type options struct {
	dir   string
	stdin *os.File
}

// newRoot builds the command tree for each run, so that no flag keeps a value. It marks the usage errors of all commands in
// one place: scripts rely on their exit code.
func newRoot(stdin *os.File) *cobra.Command {
	opts := &options{stdin: stdin}
	root := &cobra.Command{
		Use:   "devcluster",
		Short: "Start a real Kubernetes control plane with simulated nodes, without containers",
		Long: "devcluster starts a real Kubernetes control plane with simulated nodes, without containers or downloads.\n" +
			"Everything listens on 127.0.0.1 only.",
		Example: "  devcluster up --name dev --nodes 20\n" +
			"  devcluster up --config cluster.yml\n" +
			"  devcluster remove --force --config cluster.yml",
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usageArgs(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}") //nolint:forbidigo // because the components of Kubernetes, which are linked here, run templates anyway
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.PersistentFlags().StringVar(&opts.dir, "dir", defaultDir(), "state directory; can also be set with DEVCLUSTER_DIR")
	root.AddCommand(
		upCommand(opts), downCommand(opts), removeCommand(opts), startCommand(opts), stopCommand(opts),
		listCommand(opts), kubeconfigCommand(opts), imageCommand(opts), versionCommand(),
	)
	return root
}

// usageArgs makes a wrong number of arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// defaultDir follows the XDG rules: clusters are state, neither configuration nor cache, and must survive when
// either is deleted.
func defaultDir() string {
	if dir := os.Getenv("DEVCLUSTER_DIR"); dir != "" {
		return dir
	}
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		// Without a home directory there is no good place; the temporary directory exists everywhere.
		home, err := os.UserHomeDir()
		if err != nil {
			home = os.TempDir()
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "windlass", "devcluster")
}

// withStore opens the state directory for a command. Progress goes to standard error, so that standard output has only
// results.
func (o *options) withStore(out io.Writer, work func(*cluster.Store, *progress.Reporter) error) error {
	report := progress.New(out)
	defer report.Close()
	store, err := cluster.Open(o.dir, report)
	if err != nil {
		return err
	}
	return work(store, report)
}

// checkName returns a usage error for an invalid name, before the name is used in a path.
func checkName(name string) error {
	if name == "" {
		return usageError{errors.New("--name is required")}
	}
	if err := cluster.ValidateName(name); err != nil {
		return usageError{err}
	}
	return nil
}
