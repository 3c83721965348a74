// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/devcluster/internal/cluster"
	"github.com/windlass-operator/windlass/devcluster/internal/node"
	"github.com/windlass-operator/windlass/devcluster/internal/progress"
	"github.com/windlass-operator/windlass/devcluster/internal/rkeconfig"
)

// upFlags are the flags as they were given. Zero nodes and no word about nodes are two different wishes.
type upFlags struct {
	config, name, kubeconfig string
	realNode                 string
	nodes                    int
	nodesGiven               bool
}

// upCommand is RKE's up, and the same for clusters without a file.
func upCommand(opts *options) *cobra.Command {
	flags := upFlags{}
	cmd := &cobra.Command{
		Use:   "up (--config FILE | --name NAME [--nodes COUNT]) [--real-node[=NAME]] [--kubeconfig FILE]",
		Short: "Start a cluster, or bring one that is there to what is asked for",
		Long: "up starts a cluster, continues one that was stopped, repairs one that has crashed, or finds that all is well.\n\n" +
			"With --config it reads RKE's cluster.yml, makes one simulated node for each entry, and writes\n" +
			"kube_config_<file> beside it. Entries that were added, changed or removed since are followed.\n\n" +
			"With --real-node a kubelet and containerd run on this machine and join as one more node, or as the entry of\n" +
			"the file with that name. The cluster keeps that node until it is deleted.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags.nodesGiven = cmd.Flags().Changed("nodes")
			return runUp(cmd, opts, flags)
		},
	}
	cmd.Flags().StringVar(&flags.config, "config", "", "cluster.yml of RKE to read")
	cmd.Flags().StringVar(&flags.name, "name", "", "name of a cluster without a file")
	cmd.Flags().IntVar(&flags.nodes, "nodes", 0, "simulated nodes to have; without it a cluster keeps those it has")
	cmd.Flags().StringVar(&flags.realNode, "real-node", "",
		"join a node that runs containers, under this name; needs Linux, root, runc and the CNI plugins")
	cmd.Flags().Lookup("real-node").NoOptDefVal = "real"
	cmd.Flags().StringVar(&flags.kubeconfig, "kubeconfig", "", "file to write the kubeconfig to; other entries in it stay")
	return cmd
}

// runUp prints a line that a shell can evaluate as its only result.
func runUp(cmd *cobra.Command, opts *options, flags upFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	return opts.withStore(cmd.ErrOrStderr(), func(store *cluster.Store, report *progress.Reporter) error {
		request, err := flags.request(store)
		if err != nil {
			return err
		}
		result, err := store.Up(cmd.Context(), request)
		if err != nil {
			return err
		}
		report.Done("cluster %q is up at %s", request.Name, result.Endpoint)
		fmt.Fprintf(cmd.OutOrStdout(), "export KUBECONFIG=%s\n", result.Kubeconfig)
		return nil
	})
}

// check finds the mistakes that need neither file nor cluster, before either is touched.
func (f upFlags) check() error {
	switch {
	case (f.config == "") == (f.name == ""):
		return usageError{errors.New("up needs either --config or --name")}
	case f.config != "" && f.nodesGiven:
		return usageError{errors.New("--nodes does not go with --config: the file lists the nodes")}
	case f.nodes < 0 || f.nodes > node.MaxNumbered:
		return usageError{fmt.Errorf("--nodes must be between 0 and %d", node.MaxNumbered)}
	}
	if problems := validation.IsDNS1123Subdomain(f.realNode); f.realNode != "" && len(problems) > 0 {
		return usageError{fmt.Errorf("--real-node %q is not usable: %s", f.realNode, strings.Join(problems, "; "))}
	}
	if f.name != "" {
		return checkName(f.name)
	}
	return nil
}

// request turns the flags into what the cluster shall be like. Paths become absolute here, because they are recorded
// and a later call may come from another directory.
func (f upFlags) request(store *cluster.Store) (cluster.Request, error) {
	request := cluster.Request{Name: f.name, RealNode: f.realNode}
	if f.kubeconfig != "" {
		path, err := filepath.Abs(f.kubeconfig)
		if err != nil {
			return request, fmt.Errorf("cannot find %q: %w", f.kubeconfig, err)
		}
		request.Kubeconfig = path
	}
	if f.config == "" {
		if f.nodesGiven {
			request.Nodes = node.Numbered(f.nodes)
		}
		return request, nil
	}
	path, err := filepath.Abs(f.config)
	if err != nil {
		return request, fmt.Errorf("cannot find %q: %w", f.config, err)
	}
	config, err := rkeconfig.Read(path)
	if err != nil {
		return request, err
	}
	request.Config, request.Name, request.Nodes = path, config.Name(path), config.Specs()
	if request.Kubeconfig == "" {
		request.Kubeconfig = rkeconfig.KubeconfigPath(path)
	}
	// A file whose cluster_name was edited would leave its first cluster behind without anybody knowing.
	made, ok, err := store.FindByConfig(path)
	if err != nil {
		return request, err
	}
	if ok && made != request.Name {
		return request, fmt.Errorf("%s has made cluster %q and now names it %q: run 'devcluster remove --force --config %s' first or restore cluster_name",
			path, made, request.Name, path)
	}
	return request, nil
}
