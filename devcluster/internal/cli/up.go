// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/devcluster/internal/cluster"
	"github.com/windlass-operator/windlass/devcluster/internal/node"
	"github.com/windlass-operator/windlass/devcluster/internal/progress"
	"github.com/windlass-operator/windlass/devcluster/internal/rkeconfig"
)

// upFlags are the flags as they were given. nodesGiven tells --nodes=0 from no --nodes.
type upFlags struct {
	config, name, kubeconfig string
	realNode, controllers    string
	nodes                    int
	nodesGiven               bool
}

// upCommand is RKE's up, extended to clusters without a file.
func upCommand(opts *options) *cobra.Command {
	flags := upFlags{}
	cmd := &cobra.Command{
		Use:   "up (--config FILE | --name NAME [--nodes COUNT]) [--real-node[=NAME]] [--controllers LIST] [--kubeconfig FILE]",
		Short: "Create or start a cluster, or change an existing one",
		Long: "up creates a cluster, starts one that was stopped, repairs one that has crashed, and leaves a healthy one as it is.\n\n" +
			"With --config, it reads RKE's cluster.yml, creates a simulated node for each entry, and writes\n" +
			"kube_config_<file> next to it. If the file has changed, nodes are added, changed and removed.\n\n" +
			"With --real-node, a kubelet and containerd run on this machine. They join as an additional node, or as the\n" +
			"entry of that name in the file. The cluster keeps the node until you delete the cluster.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags.nodesGiven = cmd.Flags().Changed("nodes")
			return runUp(cmd, opts, flags)
		},
	}
	cmd.Flags().StringVar(&flags.config, "config", "", "cluster.yml of RKE that describes the cluster")
	cmd.Flags().StringVar(&flags.name, "name", "", "name of a cluster that has no file")
	cmd.Flags().IntVar(&flags.nodes, "nodes", 0, "number of simulated nodes; without this flag, a cluster keeps its nodes")
	cmd.Flags().StringVar(&flags.realNode, "real-node", "",
		"add a node of this name that runs containers; needs Linux, root, runc and the CNI plugins")
	cmd.Flags().Lookup("real-node").NoOptDefVal = "real"
	cmd.Flags().StringVar(&flags.controllers, "controllers", "",
		"controllers of a new cluster, separated by commas as for kube-controller-manager; all without this flag")
	cmd.Flags().StringVar(&flags.kubeconfig, "kubeconfig", "", "file to write the kubeconfig to; other entries in it are kept")
	return cmd
}

// runUp prints one line to standard output, which a shell can evaluate.
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

// check finds the errors that need neither file nor cluster, before either is opened.
func (f upFlags) check() error {
	switch {
	case (f.config == "") == (f.name == ""):
		return usageError{errors.New("up needs either --config or --name")}
	case f.config != "" && f.nodesGiven:
		return usageError{errors.New("--nodes does not go with --config: the file lists the nodes")}
	case f.controllers != "" && !runsAccounts(f.controllers):
		return usageError{errors.New("--controllers needs serviceaccount-controller: without it, the API server refuses every pod")}
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

// runsAccounts reports whether a list of controllers has the one that gives namespaces their account. As for kube-controller-manager, the first entry that
// names it decides, and "*" has all others.
func runsAccounts(list string) bool {
	all := false
	for name := range strings.SplitSeq(list, ",") {
		switch name {
		case "serviceaccount-controller", "serviceaccount": // the latter is its former name
			return true
		case "-serviceaccount-controller", "-serviceaccount":
			return false
		case "*":
			all = true
		}
	}
	return all
}

// request returns what the flags declare about the cluster. It makes paths absolute, because they are recorded and a later
// command can run in another directory.
func (f upFlags) request(store *cluster.Store) (cluster.Request, error) {
	request := cluster.Request{Name: f.name, RealNode: f.realNode, Controllers: f.controllers}
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
	// If cluster_name was edited, the first cluster of the file would be left behind unnoticed. Clusters of other users in the
	// directory are no reason against another one.
	made, ok, err := store.FindByConfig(path)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return request, err
	}
	if ok && made != request.Name {
		return request, fmt.Errorf("cluster %[2]q was created from %[1]s, which now has the cluster_name %[3]q: run 'devcluster remove --force --config %[4]s' first, or restore cluster_name",
			path, made, request.Name, path)
	}
	return request, nil
}
