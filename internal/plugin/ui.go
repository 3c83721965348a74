// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// UI serves the HTTP API on this machine with the rights of the caller.
type UI interface {
	// Bind adds its flags.
	Bind(flags *pflag.FlagSet)
	// Check returns what is wrong with their values.
	Check() error
	// Serve serves until the context ends, and prints the URL.
	Serve(ctx context.Context, to Context, out, log io.Writer) error
}

// Context is what a context of a kubeconfig, and the flags of kubectl, say of a cluster.
type Context struct {
	// Name of the context.
	Name string
	// Namespace is that of -n, else that of the context.
	Namespace string
	// Config reaches the cluster.
	Config *rest.Config
}

// UILong is what the command says of itself.
const UILong = "Serves the HTTP API on the loopback address and prints its URL. The URL grants the rights of the kubeconfig to everybody\n" +
	"on this machine until the command ends: keep it private."

func (p *plugin) newUICommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "ui",
		Short:   "Serve the HTTP API on this machine with your rights, and open a browser",
		Long:    UILong,
		Example: "  kubectl windlass ui\n  kubectl windlass ui --context staging --as jane --no-open",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.UI.Check(); err != nil {
				return misuse{err}
			}
			reached, err := p.cluster()
			if err != nil {
				return err
			}
			to := Context{Name: p.access.context(), Namespace: reached.namespace, Config: reached.config}
			return p.UI.Serve(cmd.Context(), to, p.Streams.Out, p.Streams.Err)
		},
	}
	if p.UI != nil {
		p.UI.Bind(command.Flags())
	} else {
		command.Hidden = true
	}
	return command
}
