// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/boundedyaml"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/inquiry"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
)

// maxManifest is how large a manifest may be.
const maxManifest = 1 << 20

func (p *plugin) newPreviewCommand() *cobra.Command {
	file := ""
	command := &cobra.Command{
		Use:   "preview -f FILE",
		Short: "Show what a NodePool would do to nodes and pods, without changing anything",
		Long: "Shows what would follow if the NodePool in the file were applied: which nodes join, leave and change, and which pods would have\n" +
			"to go. The API server checks the pool in a dry run, so that you need the right to update it, or to create it. Nothing is written.",
		Example: "  kubectl windlass preview -f pool.yaml\n  kubectl get nodepools.nodes.lailin.xyz gpu -o yaml | sed s/NoSchedule/NoExecute/ | kubectl windlass preview -f -",
		Args:    cobra.NoArgs,
	}
	output := addOutput(command)
	command.Flags().StringVarP(&file, "filename", "f", "", "`file` with the NodePool; - for standard input")
	command.RunE = func(cmd *cobra.Command, _ []string) error {
		if file == "" {
			return misused("give the file with the NodePool with -f")
		}
		given, err := p.readPool(file)
		if err != nil {
			return err
		}
		foreseen, err := p.preview(cmd.Context(), given)
		if err != nil {
			return err
		}
		switch {
		case output.structured():
			return p.printValue(*output, foreseen)
		case *output == formatName:
			for i := range foreseen.Nodes {
				p.printf("node/%s\n", foreseen.Nodes[i].Name)
			}
		default:
			p.printPreview(foreseen)
		}
		return nil
	}
	return command
}

// readPool reads the NodePool of a manifest.
func (p *plugin) readPool(file string) (map[string]any, error) {
	in := p.Streams.In
	if file != "-" {
		opened, err := os.Open(file) //nolint:gosec // because the user chooses the file
		if err != nil {
			return nil, fmt.Errorf("cannot read the manifest: %w", err)
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxManifest+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	if len(raw) > maxManifest {
		return nil, errors.New("the manifest is larger than 1 MiB")
	}
	given := map[string]any{}
	err = onlyDocument(raw, &given)
	if errors.Is(err, boundedyaml.ErrSeveral) {
		return nil, notOnePool()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	of := unstructured.Unstructured{Object: given}
	if got := of.GroupVersionKind(); got != nodesv1.SchemeGroupVersion.WithKind("NodePool") || of.GetName() == "" {
		return nil, notOnePool()
	}
	return given, nil
}

// onlyDocument decodes the only document that is not empty: tools that write manifests leave empty ones in front of it and behind.
func onlyDocument(raw []byte, into any) error {
	limits := boundedyaml.Limits{Bytes: maxManifest, Nodes: 50_000, Depth: 64, Single: true}
	if err := boundedyaml.Check(raw, limits); err != nil {
		return err
	}
	all, err := boundedyaml.Documents(raw)
	if err != nil || len(all) == 0 {
		return err
	}
	return boundedyaml.Unmarshal(all[0], into, limits)
}

func notOnePool() error {
	return misused("the manifest must have one NodePool of %s with a name", nodesv1.SchemeGroupVersion)
}

// preview asks the API server what the pool would be, and the engine of the controllers what follows from that.
func (p *plugin) preview(ctx context.Context, given map[string]any) (*view.PoolPreview, error) {
	reached, err := p.cluster()
	if err != nil {
		return nil, err
	}
	all, because, err := reached.Pools(ctx)
	if err != nil {
		return nil, err
	}
	nodes, noNodes, err := reached.Nodes(ctx, "")
	if err != nil {
		return nil, err
	}
	if hidden := because + noNodes; hidden != "" {
		return nil, fmt.Errorf("a preview reads all NodePools and nodes: %s", hidden)
	}
	wanted, creates, err := reached.rehearse(ctx, given)
	if err != nil {
		return nil, err
	}
	if all[wanted.Name], err = membership.NewPool(wanted); err != nil {
		return nil, fmt.Errorf("nodepool %q is not valid: %w", wanted.Name, err)
	}
	forecast := membership.NewForecast(nodes, all, wanted.Name, p.Now())
	out := inquiry.Foreseen(forecast)
	out.Creates, out.DryRun = creates, wanted.Spec.DryRun
	if taints := inquiry.Evicting(forecast); len(taints) > 0 {
		out.PodsHidden, err = reached.pods(ctx, func(pod *corev1.Pod) {
			if coming := taints[pod.Spec.NodeName]; len(coming) > 0 && pod.DeletionTimestamp == nil {
				inquiry.CountEvicted(out, pod, coming)
			}
		})
	}
	return out, err
}

// rehearse returns the pool as the API server would have it, and whether it does not exist yet.
func (c *cluster) rehearse(ctx context.Context, given map[string]any) (*nodesv1.NodePool, bool, error) {
	wanted := &unstructured.Unstructured{}
	creates := false
	err := kube.DecideAnew(func() (outdated bool, err error) { // a pool that is being applied is counted twice a second
		wanted.Object = runtime.DeepCopyJSON(given)
		creates, err = c.tryPool(ctx, wanted)
		return !creates && apierrors.IsConflict(err), err
	})
	if err != nil {
		return nil, false, err
	}
	out := &nodesv1.NodePool{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(wanted.Object, out); err != nil {
		return nil, false, fmt.Errorf("cannot read pool %q: %w", wanted.GetName(), err)
	}
	return out, creates, nil
}

// tryPool has the API server try the spec and the annotations of a pool, on the pool as it is or on a new one. What it would become is in wanted then.
func (c *cluster) tryPool(ctx context.Context, wanted *unstructured.Unstructured) (creates bool, err error) {
	present := &unstructured.Unstructured{}
	present.SetGroupVersionKind(wanted.GroupVersionKind())
	err = c.Get(ctx, client.ObjectKey{Name: wanted.GetName()}, present)
	creates = apierrors.IsNotFound(err) && !unserved(err)
	strict := client.FieldValidation(metav1.FieldValidationStrict)
	switch {
	case creates:
		wanted.SetResourceVersion("")
		wanted.SetUID("")
		err = c.Create(ctx, wanted, client.DryRunAll, strict)
	case err == nil:
		wanted.Object = inquiry.Replaced(present.Object, wanted.Object)
		err = c.Update(ctx, wanted, client.DryRunAll, strict)
	}
	return creates, err
}

// printPreview prints what would follow as a difference.
func (p *plugin) printPreview(of *view.PoolPreview) {
	look := p.style()
	verb := "Changing"
	if of.Creates {
		verb = "Creating"
	}
	p.printf("%s\n", look.bold(fmt.Sprintf("%s nodepool/%s: %d members, %d nodes change (%d join, %d leave).", verb, of.Pool, of.Members, of.Changed,
		of.Joining, of.Leaving)))
	for _, each := range []struct {
		holds bool
		text  string
	}{
		{of.Held, "The pool is paused: nothing follows until it is not."},
		{of.DryRun, "The pool is in dry run: this follows when it is not."},
		{of.Braked, "The safety brake would hold the nodes that leave until somebody acknowledges it."},
		{len(of.Batch) > 0, fmt.Sprintf("The first batch: %s; %d nodes wait for a later one.", strings.Join(of.Batch, ", "), of.Waiting)},
	} {
		if each.holds {
			p.printf("%s\n", look.paint(moodBusy, each.text))
		}
	}
	for i := range of.Nodes {
		p.printNode(&of.Nodes[i], look)
	}
	if hidden := of.Changed - len(of.Nodes); hidden > 0 {
		p.printf("\n… and %d nodes more\n", hidden)
	}
	if of.PodsHidden != "" {
		p.printf("\nPods are not counted: %s.\n", of.PodsHidden)
	}
	if of.PodCount > 0 {
		p.printf("\n%s\n", look.paint(moodBad, fmt.Sprintf("%d pods would be deleted, because they do not tolerate a new taint:", of.PodCount)))
		for _, pod := range of.Pods {
			p.printf("%s\n", look.paint(moodBad, fmt.Sprintf("- pod/%s -n %s", pod.Name, pod.Namespace)))
		}
	}
}

func (p *plugin) printNode(of *view.NodePreview, look style) {
	becomes := map[string]string{"Joins": "joins the pool", "Leaves": "leaves the pool", "Stays": "stays in the pool"}[of.Membership]
	if of.Drains {
		becomes += ", after its pods are evicted"
	}
	p.printf("\nnode/%s %s\n", of.Name, becomes)
	for _, change := range of.Changes {
		if change.Before != nil {
			p.printf("%s\n", look.paint(moodBad, "- "+change.Key+" = "+*change.Before))
		}
		if change.After != nil {
			p.printf("%s\n", look.paint(moodGood, "+ "+change.Key+" = "+*change.After))
		}
	}
	for _, conflict := range of.Conflicts {
		held := "another owner has it"
		if conflict.Pool != "" {
			held = "pool " + conflict.Pool + " has it"
		}
		p.printf("%s\n", look.paint(moodBusy, "! "+conflict.Key+" is not set: "+held))
	}
}
