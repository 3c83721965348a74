// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-operator/windlass/internal/provision/exec"
	"github.com/windlass-operator/windlass/internal/provision/job"
)

// superviseCommand is how this program is called as the supervisor of a provisioning tool's run.
const superviseCommand = "provision-run"

// supervisor returns the command that supervises a run: this program.
func supervisor() ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program, which supervises tools: %w", err)
	}
	return []string{program, superviseCommand}, nil
}

// newSuperviseCommand returns the command that a Runner starts. It is not for people.
func newSuperviseCommand() *cobra.Command {
	return &cobra.Command{
		Use:    superviseCommand + " DIR",
		Short:  "Supervise the run of a provisioning tool",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := exec.Supervise(cmd.Context(), args[0], time.Now); err != nil {
				return failure{err}
			}
			return nil
		},
	}
}

// newPodCommand returns the commands that run in the Pod of a provisioning tool. They are not for people.
func newPodCommand() *cobra.Command {
	cmd := &cobra.Command{Use: job.Command, Short: "Supervise a provisioning tool in its Pod", Hidden: true, Args: cobra.NoArgs}
	add := func(use string, args cobra.PositionalArgs, call func(ctx context.Context, pod job.Pod, args []string) error) {
		cmd.AddCommand(&cobra.Command{Use: use, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
			supervisor, err := supervisor()
			if err == nil {
				err = call(cmd.Context(), job.Pod{Supervisor: supervisor, Environment: os.Environ}, args)
			}
			if err != nil {
				return failure{err}
			}
			return nil
		}})
	}
	add("prepare", cobra.NoArgs, func(_ context.Context, pod job.Pod, _ []string) error { return pod.Prepare() })
	add("run", cobra.NoArgs, func(ctx context.Context, pod job.Pod, _ []string) error { return pod.Run(ctx) })
	add("report UID", cobra.ExactArgs(1), func(ctx context.Context, pod job.Pod, args []string) error {
		return pod.Report(ctx, args[0], os.Stdout)
	})
	add("cancel UID", cobra.ExactArgs(1), func(ctx context.Context, pod job.Pod, args []string) error { return pod.Cancel(ctx, args[0]) })
	return cmd
}
