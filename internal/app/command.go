// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-operator/windlass/internal/commandline"
	"github.com/windlass-operator/windlass/internal/config"
)

// version is set by the build: -ldflags "-X github.com/windlass-operator/windlass/internal/app.version=v1.2.3".
var version = "v0.0.0-unset"

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// failure is an error of the work itself. All other errors of a command are about how it was called.
type failure struct{ error }

// Unwrap returns the error of the work.
func (f failure) Unwrap() error { return f.error }

// NewCommand returns the command tree.
func NewCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "windlass",
		Short: "Turn a Kubernetes cluster into a small private cloud",
		Long: "Windlass is a Kubernetes operator: it reconciles node pools, pod sets, virtual machines, whole clusters\n" +
			"and debugging tools, which are resources of the cluster.",
		Version:       version, // printed in cobra's words: a template would keep every method of every type linked
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(commandline.ExplainFlag)
	root.AddCommand(newManagerCommand(), newGatewayCommand(), newCheckCommand(), newUICommand(), newMachinesCommand(), newRestoreCommand(),
		newVersionCommand(), newSuperviseCommand(), newPodCommand())
	commandline.RefuseUnknownTopics(root)
	return root
}

func newManagerCommand() *cobra.Command {
	conf := config.Default(controllerNames()...)
	var onlyVersion bool
	command := &cobra.Command{
		Use:   "manager",
		Short: "Run the controllers until a signal stops them",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if onlyVersion {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s version %s\n", cmd.Root().Name(), version)
				return err
			}
			return execute(cmd, &conf, nil)
		},
	}
	command.Flags().SortFlags = false
	conf.BindFlags(command.Flags())
	command.Flags().BoolVar(&onlyVersion, "version", false, "version for manager")
	complete(command)
	return command
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "windlass %s (%s, %s/%s)\n",
				version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// Execute runs the command with the arguments and returns the exit code of the process: 0, 1 if the work failed, 2 if the call
// was wrong.
func Execute(ctx context.Context, command *cobra.Command, args []string) int {
	command.SetArgs(args)
	called, err := command.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	out := command.ErrOrStderr()
	tell(out, err)
	if _, failed := errors.AsType[failure](err); failed {
		return exitFailure
	}
	_, _ = fmt.Fprintf(out, "See '%s --help'.\n", called.CommandPath())
	return exitUsage
}

// tell prints an error, with a line for each of several joined errors.
func tell(out io.Writer, err error) {
	for line := range strings.Lines(commandline.InOneLine(err.Error())) {
		if line = strings.TrimSpace(line); line != "" {
			_, _ = fmt.Fprintf(out, "windlass: %s\n", line)
		}
	}
}
