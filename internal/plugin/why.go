// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/why"
)

// whyAsked is what a call of the command asks.
type whyAsked struct {
	// pool is the pool that a node is looked at together with, and key what is asked about its origin.
	pool, key string
	// verbose shows the evidence.
	verbose bool
	output  *format
}

func (p *plugin) newWhyCommand() *cobra.Command {
	among := only("nodepools", "podsets", "virtualmachines", "clusters", "kubeconfigs", "podbuggertools", "nodes", "pods", "deployments")
	asked := &whyAsked{}
	command := &cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Explain why an object is as it is, and what to do",
		Long: "Explains an object by a list of checks. At most one has failed: it names the cause and says what to do. Whatever you may not\n" +
			"read is not looked at.",
		Example: "  kubectl windlass why nodepool/gpu\n" +
			"  kubectl windlass why pod/web-0 -n shop -v\n" +
			"  kubectl windlass why node/worker-1 --pool gpu\n" +
			"  kubectl windlass why node/worker-1 --label example.com/gpu",
		Args: cobra.RangeArgs(1, 2),
	}
	asked.output = addOutput(command)
	flags := command.Flags()
	flags.BoolVarP(&asked.verbose, "verbose", "v", false, "show the fields that prove the cause")
	flags.StringVar(&asked.pool, "pool", "", "of a node: why it is a member of the pool of this `name`, or not")
	var bare []string
	for _, what := range []string{"label", "annotation", "taint"} {
		bare = append(bare, what)
		flags.String(what, "", "of a node: who has set the "+what+" with this `key`")
	}
	command.MarkFlagsMutuallyExclusive(bare...)
	command.RunE = func(cmd *cobra.Command, args []string) error {
		for _, what := range bare {
			if flag := flags.Lookup(what); flag.Changed {
				asked.key = flag.Value.String()
				if what != "taint" || strings.Contains(asked.key, ":") {
					asked.key = what + " " + asked.key
				}
			}
		}
		return p.why(cmd.Context(), args, among, asked)
	}
	p.takesObject(command, among)
	return command
}

func (p *plugin) why(ctx context.Context, args []string, among []*kind, asked *whyAsked) error {
	of, err := objectOf(args, among)
	if err != nil {
		return err
	}
	if (asked.pool != "" || asked.key != "") && of.plural != nodesPlural {
		return misused("--pool, --label, --annotation and --taint are for nodes, not for %s", of.plural)
	}
	reached, err := p.cluster()
	if err != nil {
		return err
	}
	object, err := reached.read(ctx, of)
	if err != nil {
		return err
	}
	explanation, err := reached.explain(ctx, object, asked)
	if err != nil {
		return err
	}
	switch {
	case asked.output.structured():
		return p.printValue(*asked.output, explanation)
	case *asked.output == formatName:
		p.printf("%s\n", nameOf(of.kind, object))
	default:
		p.printExplanation(explanation, asked)
	}
	return nil
}

// explain explains an object with what the caller may read around it.
func (c *cluster) explain(ctx context.Context, object client.Object, asked *whyAsked) (*why.Explanation, error) {
	switch of := object.(type) {
	case *nodesv1.NodePool:
		return why.NodePool(of), nil
	case *appsv1alpha1.PodBuggerTool:
		return why.PodBuggerTool(of), nil
	case *cloudnativev1alpha1.VirtualMachine:
		return why.VirtualMachine(of), nil
	case *clusterprovisionerv1alpha1.Cluster:
		return why.Cluster(of), nil
	case *clusterprovisionerv1alpha1.Kubeconfig:
		return why.Kubeconfig(of), nil
	case *corev1.Node:
		return c.explainNode(ctx, of, asked)
	}
	return nil, fmt.Errorf("cannot explain a %T", object)
}

// explainNode explains a node, alone or together with a pool, and who has set what it carries.
func (c *cluster) explainNode(ctx context.Context, node *corev1.Node, asked *whyAsked) (*why.Explanation, error) {
	pools, because, err := c.Pools(ctx)
	if err != nil {
		return nil, err
	}
	var out *why.Explanation
	switch {
	case asked.pool == "":
		out = why.Node(node, pools, because)
	case because != "":
		out = why.MembershipUnseen(node, asked.pool, because)
	default:
		out = why.Membership(node, pools, asked.pool)
	}
	out.Origins = why.Origins(node, pools, asked.key)
	return out, nil
}
