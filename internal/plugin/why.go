// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/inquiry"
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
	case *corev1.Node:
		return inquiry.Node(ctx, c, of, asked.pool, asked.key)
	case *corev1.Pod:
		return inquiry.Pod(ctx, c, of)
	case *appsv1.Deployment:
		selector, err := metav1.LabelSelectorAsSelector(of.Spec.Selector)
		if err != nil {
			return nil, fmt.Errorf("cannot read the selector of Deployment %q: %w", of.Name, err)
		}
		out := why.Deployment(of)
		return out, c.explainPodOf(ctx, out, of.Namespace, selector)
	case *appsv1alpha1.PodSet:
		out := why.PodSet(of)
		selector, err := labels.Parse(of.Status.Selector)
		if err != nil || selector.Empty() {
			return out, nil //nolint:nilerr // without a selector Windlass has not looked yet, which the explanation says
		}
		return out, c.explainPodOf(ctx, out, of.Namespace, selector)
	}
	return explained(object), nil
}

// explainPodOf adds the explanation of a pod that is not ready, if pods are what the object waits for.
func (c *cluster) explainPodOf(ctx context.Context, of *why.Explanation, namespace string, selector labels.Selector) error {
	if of.Failure() == nil {
		return nil
	}
	var worst *standing
	page := &corev1.PodList{}
	err := c.listAll(ctx, page, func() {
		for i := range page.Items {
			each := standingOf(only("pods")[0], &page.Items[i])
			if each.how != moodGood && page.Items[i].DeletionTimestamp == nil && (worst == nil || worstFirst(each, worst) < 0) {
				worst = each
			}
		}
	}, namespace, client.MatchingLabelsSelector{Selector: selector})
	because, err := unseen(err, "pods in namespace "+namespace)
	if because != "" {
		of.Unseen("The pods have started", because)
	}
	if err != nil || worst == nil {
		return err
	}
	pod := &corev1.Pod{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: worst.Name}, pod); err != nil {
		return client.IgnoreNotFound(err)
	}
	of.Because, err = inquiry.Pod(ctx, c, pod)
	return err
}
