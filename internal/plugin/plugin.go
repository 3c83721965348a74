// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-operator/windlass/internal/commandline"
)

// Exit codes.
const (
	exitFine      = 0
	exitPrevented = 1
	exitMisused   = 2
	exitNotReady  = 3
)

// Options are what the plugin gets from the process.
type Options struct {
	Streams Streams
	// Version of the program.
	Version string
	// Now is the clock.
	Now func() time.Time
	// Getenv reads the environment.
	Getenv func(key string) string
	// UI serves the HTTP API.
	UI UI
}

// plugin is what the commands share.
type plugin struct {
	Options

	access access
	// home is the namespace that Windlass runs in, for the commands of next steps.
	home string
	// began is true once the flags and arguments are known to be right.
	began bool
}

// Execute runs the plugin with the arguments, and returns the exit code of the process.
func Execute(ctx context.Context, options Options, args []string) int {
	noticeSilence()
	p := &plugin{Options: options}
	root := p.newRoot() //nolint:contextcheck // because commands get the context of the call
	root.SetArgs(args)
	called, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = p.access.check()
	}
	if err == nil {
		return exitFine
	}
	if errors.Is(err, errNotReady) {
		return exitNotReady
	}
	for line := range strings.Lines(commandline.InOneLine(p.explain(err))) {
		if line = strings.TrimSpace(line); line != "" {
			p.note("%s", line)
		}
	}
	if _, misused := errors.AsType[misuse](err); p.began && !misused {
		return exitPrevented
	}
	say(p.Streams.Err, "See '%s --help'.\n", called.CommandPath())
	return exitMisused
}

// errNotReady ends a command that was asked to tell by its exit code whether something is not ready.
var errNotReady = errors.New("something is not ready")

// newRoot returns the command tree. A command is a function here and a file with its name.
func (p *plugin) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:         "kubectl-windlass",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl windlass"},
		Short:       "See, explain and change what Windlass does in a cluster",
		Long: "See, explain and change what Windlass does in a cluster, with the rights of the kubeconfig.\n\n" +
			"Exit codes: 0 if all is well, 1 if something has prevented the work, 2 if the call was wrong, and 3 for commands with\n" +
			"--exit-code if something is not ready.",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseEmpty(cmd); err != nil {
				return err
			}
			p.began = true
			return nil
		},
	}
	root.SetIn(p.Streams.In)
	root.SetOut(p.Streams.Out)
	root.SetErr(p.Streams.Err)
	root.SetFlagErrorFunc(commandline.ExplainFlag)
	root.SetUsageFunc(usage)
	root.CompletionOptions.DisableDefaultCmd = true
	p.access.bind(root.PersistentFlags())
	root.AddCommand(
		p.newStatusCommand(),
		p.newWhyCommand(),
		p.newPreviewCommand(),
		p.newUICommand(),
		p.newReportCommand(),
		p.newVersionCommand(),
		p.newOptionsCommand(),
		p.newCompletionCommand(),
		p.newPowerCommand(),
		p.newResizeCommand(),
		p.newApproveCommand(),
		p.newRetryCommand(),
		p.newAcknowledgeCommand(),
		p.newPauseCommand(),
		p.newResumeCommand(),
		p.newTopCommand(),
		p.newLogsCommand(),
		p.newKubeconfigCommand(),
	)
	commandline.RefuseUnknownTopics(root)
	p.completeFlags(root)
	return root
}

// newOptionsCommand returns the command that lists the flags of all commands.
func (p *plugin) newOptionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "List the flags that every command has",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(p.Streams.Out, "Every command has these flags:\n\n%s", cmd.InheritedFlags().FlagUsages())
			return err
		},
	}
}
