// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"text/tabwriter"

	containerdversion "github.com/containerd/containerd/v2/version"
	"github.com/spf13/cobra"
	etcdversion "go.etcd.io/etcd/api/v3/version"
	"k8s.io/component-base/version"
	"sigs.k8s.io/kwok/pkg/consts"

	"github.com/windlass-operator/windlass/devcluster/internal/cluster"
	"github.com/windlass-operator/windlass/devcluster/internal/progress"
)

// listCommand prints a table for people and JSON for programs. The JSON is the contract; columns may change.
func listCommand(opts *options) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show all clusters in the state directory",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && output != "json" {
				return usageError{fmt.Errorf("unknown output format %q for -o: the only format is json", output)}
			}
			return opts.withStore(cmd.ErrOrStderr(), func(store *cluster.Store, _ *progress.Reporter) error {
				clusters, err := store.List(cmd.Context())
				if err != nil {
					return err
				}
				if output == "json" {
					encoder := json.NewEncoder(cmd.OutOrStdout())
					encoder.SetIndent("", "  ")
					return encoder.Encode(clusters)
				}
				table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', 0)
				fmt.Fprintln(table, "NAME\tSTATE\tNODES\tVERSION\tENDPOINT\tDIRECTORY")
				for _, c := range clusters {
					fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\n", c.Name, c.State, c.Nodes, c.Version, c.Endpoint, c.Directory)
				}
				return table.Flush()
			})
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "output format: json, or empty for a table")
	return cmd
}

// kubeconfigCommand prints only the path, for KUBECONFIG=$(devcluster kubeconfig --name N).
func kubeconfigCommand(opts *options) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "kubeconfig --name NAME",
		Short: "Print the path of a cluster's kubeconfig",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkName(name); err != nil {
				return err
			}
			return opts.withStore(cmd.ErrOrStderr(), func(store *cluster.Store, _ *progress.Reporter) error {
				path, err := store.Kubeconfig(name)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the cluster")
	return cmd
}

// versionCommand prints the same as --version.
func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the components",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), versionText())
			return err
		},
	}
}

// versionText uses the versions that the build sets, which the components report too.
func versionText() string {
	return fmt.Sprintf("Kubernetes %s\netcd v%s\nkwok %s\ncontainerd v%s\n%s %s/%s\n",
		version.Get().GitVersion, etcdversion.Version, consts.Version, containerdversion.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
