// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	eventsv1 "k8s.io/api/events/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/windlass-operator/windlass/internal/provision"
)

func (p *plugin) newReportCommand() *cobra.Command {
	file, system := "", ""
	command := &cobra.Command{
		Use:   "report",
		Short: "Collect what somebody needs who helps, without secrets, in a file",
		Long: "Collects the objects of Windlass with their conditions and events, the nodes, the log of the manager, and versions in a .tar.gz.\n" +
			"Secrets are not read. Of specs only names, numbers and choices are kept; scripts, arguments, environments and annotations are not.\n" +
			"What looks like a password, a token or a key in messages and logs is removed. Read the file before you pass it on.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.report(cmd.Context(), file, system) },
	}
	command.Flags().StringVarP(&file, "filename", "f", "", "`file` to write, which must not exist; - for standard output (default windlass-report-TIME.tar.gz)")
	command.Flags().StringVar(&system, "system-namespace", "windlass-system", "`namespace` that the manager runs in")
	return command
}

func (p *plugin) report(ctx context.Context, file, system string) error {
	reached, err := p.cluster()
	if err != nil {
		return err
	}
	now := p.Now().UTC()
	if file == "-" {
		return p.fill(ctx, reached, system, newBundle(p.Streams.Out, now))
	}
	if file == "" {
		file = "windlass-report-" + now.Format("20060102-150405") + ".tar.gz"
	}
	created, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // because the user chooses the file
	if err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	err = p.fill(ctx, reached, system, newBundle(created, now))
	if closing := created.Close(); err == nil && closing != nil {
		err = fmt.Errorf("cannot write the report: %w", closing)
	}
	if err != nil {
		_ = os.Remove(file) // a part of a report helps nobody, and would be in the way of the next one
		return err
	}
	p.printf("Wrote %s: read it before you pass it on.\n", file)
	return nil
}

// fill fills the bundle, and ends it.
func (p *plugin) fill(ctx context.Context, reached *cluster, system string, into *bundle) error {
	if err := p.collect(ctx, reached, system, into); err != nil {
		return err
	}
	if err := into.close(); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return nil
}

// collect fills the bundle. What the caller may not read is named in it.
func (p *plugin) collect(ctx context.Context, reached *cluster, system string, into *bundle) error {
	core, err := corev1client.NewForConfig(reached.config)
	if err != nil {
		return fmt.Errorf("cannot use the kubeconfig: %w", err)
	}
	server, err := core.RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	if err != nil {
		return err
	}
	into.yaml("versions.yaml", map[string]any{"plugin": p.versionInfo(), "server": string(server)})
	among := only("nodepools", "podsets", "virtualmachines", "clusters", "kubeconfigs", "podbuggertools", nodesPlural)
	read, err := reached.readAll(ctx, among)
	if err != nil {
		return err
	}
	sum := read.sum(among)
	var overview bytes.Buffer
	for _, each := range sum.Objects {
		_, _ = fmt.Fprintln(&overview, provision.Redact(each.line()))
	}
	into.add("status.txt", overview.Bytes())
	into.unseen = sum.Unseen
	for _, k := range among {
		into.objects(ctx, reached, k, read[k].namespace)
	}
	into.events(ctx, reached)
	into.logs(ctx, reached, core, system)
	into.add("unseen.txt", []byte(strings.Join(into.unseen, "\n")+"\n"))
	if ctx.Err() != nil {
		return context.Cause(ctx) // what could not be read since then is missing for no other cause
	}
	return into.err
}

// objects adds what is kept of the objects of a kind.
func (b *bundle) objects(ctx context.Context, from *cluster, k *kind, namespace string) {
	kept := []any{}
	page := k.list()
	err := from.listAll(ctx, page, func() {
		for _, object := range itemsOf(page) {
			one, err := keptOf(object)
			b.missed(k.name(object.GetName()), err)
			kept = append(kept, one)
		}
	}, namespace)
	b.missed(k.plural, err)
	if len(kept) > 0 {
		b.yaml("objects/"+k.plural+".yaml", kept)
	}
}

// events adds the events about objects of Windlass.
func (b *bundle) events(ctx context.Context, from *cluster) {
	groups := map[string]bool{}
	for _, k := range kinds() {
		groups[k.gvk.Group] = k.ours
	}
	var lines []string
	page := &eventsv1.EventList{}
	err := from.listAll(ctx, page, func() {
		for i := range page.Items {
			of := &page.Items[i]
			if group, _, _ := strings.Cut(of.Regarding.APIVersion, "/"); groups[group] {
				lines = append(lines, fmt.Sprintf("%s %s/%s %s: %s %s: %s", of.CreationTimestamp.UTC().Format(time.RFC3339), strings.ToLower(of.Regarding.Kind),
					of.Regarding.Name, of.Regarding.Namespace, of.Type, of.Reason, oneLine(provision.Redact(of.Note))))
			}
		}
	}, from.everywhere())
	b.missed("events", err)
	slices.Sort(lines)
	b.add("events.txt", []byte(strings.Join(lines, "\n")+"\n"))
}
