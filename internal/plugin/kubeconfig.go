// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/action"
)

// kubeconfigAsked is what a call of the command asks.
type kubeconfigAsked struct {
	of, into, name string
	merge, force   bool
	// typed is true if the type was given, which a Kubeconfig must have then that is named itself.
	typed bool
}

func (p *plugin) newKubeconfigCommand() *cobra.Command {
	asked := &kubeconfigAsked{}
	command := &cobra.Command{
		Use:   "kubeconfig CLUSTER",
		Short: "Print the kubeconfig of a Cluster, or merge it into your own",
		Long: "Reads the Secret that a Kubeconfig of the Cluster names: you need the right to get both. --merge adds cluster, user and context to\n" +
			"the kubeconfig that kubectl uses. What has their name already stays without --force, in all files of KUBECONFIG, and the file is\n" +
			"replaced as a whole, with the mode 0600. In place of a Cluster, kubeconfig/NAME is one of its Kubeconfigs, whatever its type is\n" +
			"unless --type says it.",
		Example: "  kubectl windlass kubeconfig east > east.kubeconfig\n" +
			"  kubectl windlass kubeconfig east --type token --merge\n" +
			"  kubectl --context east get nodes",
		Args: takes(1, 1),
	}
	flags := command.Flags()
	flags.StringVar(&asked.of, "type", typeAdmin, "admin, or token for one of a ServiceAccount that expires: the `kind` of credential")
	flags.BoolVar(&asked.merge, "merge", false, "add it to a kubeconfig instead of printing it")
	flags.StringVar(&asked.into, "into", "", "with --merge: the `file`. The default is the one that kubectl writes")
	flags.StringVar(&asked.name, "name", "", "with --merge: the `name` of cluster, user and context. The default is that of the Cluster")
	flags.BoolVar(&asked.force, "force", false, "with --merge: replace what has this name already")
	command.RunE = func(cmd *cobra.Command, args []string) error {
		if asked.of != typeAdmin && asked.of != typeToken {
			return misused("--type must be %s or %s", typeAdmin, typeToken)
		}
		if !asked.merge && (asked.force || asked.into != "" || asked.name != "") {
			return misused("--into, --name and --force are for --merge")
		}
		asked.typed = flags.Changed("type")
		return p.kubeconfig(cmd.Context(), args[0], asked)
	}
	return command
}

// Values of --type.
const typeAdmin, typeToken = "admin", "token"

// typeOf returns the value of --type for a Kubeconfig.
func typeOf(config *clusterprovisionerv1alpha1.Kubeconfig) string {
	if config.Spec.Type == clusterprovisionerv1alpha1.KubeconfigServiceAccountToken {
		return typeToken
	}
	return typeAdmin
}

func (p *plugin) kubeconfig(ctx context.Context, argument string, asked *kubeconfigAsked) error {
	reached, err := p.cluster()
	if err != nil {
		return err
	}
	found, err := reached.kubeconfigNamed(ctx, argument, asked)
	if err != nil {
		return err
	}
	content, err := reached.kubeconfigContent(ctx, found)
	if err != nil {
		return err
	}
	if !asked.merge {
		_, err = io.WriteString(p.Streams.Out, p.shown(string(content)))
		return err
	}
	name := found.Name
	if found.Spec.ClusterRef != nil {
		name = found.Spec.ClusterRef.Name
	}
	name = cmp.Or(asked.name, name)
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = cmp.Or(asked.into, p.access.kubeconfig)
	into := rules.GetDefaultFilename()
	if err := mergeKubeconfig(into, name, content, asked.force); err != nil {
		return err
	}
	p.printf("context %q is in %s\n", name, into)
	return nil
}

// kubeconfigNamed returns the Kubeconfig that the argument means.
func (c *cluster) kubeconfigNamed(ctx context.Context, argument string, asked *kubeconfigAsked) (*clusterprovisionerv1alpha1.Kubeconfig, error) {
	of := target{kind: only("clusters")[0], name: argument}
	if strings.Contains(argument, "/") {
		var err error
		if of, err = objectOf([]string{argument}, only("clusters", "kubeconfigs")); err != nil {
			return nil, err
		}
	}
	if of.plural == "kubeconfigs" {
		found, err := readTyped[*clusterprovisionerv1alpha1.Kubeconfig](ctx, c, of)
		if err == nil && asked.typed && typeOf(found) != asked.of {
			return nil, misused("kubeconfig %q is of type %s: leave --type out, or give another Kubeconfig", found.Name, typeOf(found))
		}
		return found, err
	}
	if _, err := c.read(ctx, of); err != nil {
		return nil, err
	}
	var all []*clusterprovisionerv1alpha1.Kubeconfig
	page := &clusterprovisionerv1alpha1.KubeconfigList{}
	err := c.listAll(ctx, page, func() {
		for i := range page.Items {
			item := &page.Items[i]
			if typeOf(item) == asked.of && item.Spec.ClusterRef != nil && item.Spec.ClusterRef.Name == of.name {
				all = append(all, item.DeepCopy())
			}
		}
	}, "")
	if err != nil {
		return nil, err
	}
	return onlyOne(all, of.name, asked.of)
}

// onlyOne returns the Kubeconfig with the name of the Cluster, or the only one.
func onlyOne(all []*clusterprovisionerv1alpha1.Kubeconfig, of, kind string) (*clusterprovisionerv1alpha1.Kubeconfig, error) {
	names := make([]string, 0, len(all))
	for _, each := range all {
		if each.Name == of || len(all) == 1 {
			return each, nil
		}
		names = append(names, "kubeconfig/"+each.Name)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("cluster %q has no Kubeconfig of type %s: create one, or give another --type", of, kind)
	}
	slices.Sort(names)
	return nil, misused("cluster %q has several Kubeconfigs of type %s: give one of %s", of, kind, strings.Join(names, ", "))
}

// kubeconfigContent reads the Secret of a Kubeconfig, if it is its own.
func (c *cluster) kubeconfigContent(ctx context.Context, of *clusterprovisionerv1alpha1.Kubeconfig) ([]byte, error) {
	ref, err := action.SecretOf(of)
	if err != nil {
		return nil, err
	}
	var secret corev1.Secret
	if err := c.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &secret); err != nil {
		return nil, err
	}
	return action.KubeconfigOf(of, &secret)
}
