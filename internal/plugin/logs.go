// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// defaultHome is the namespace that Windlass runs in, unless it was installed elsewhere.
const defaultHome = "windlass-system"

// addHome adds the flag for the namespace that Windlass runs in.
func addHome(command *cobra.Command, into *string) {
	command.Flags().StringVar(into, "windlass-namespace", defaultHome, "`name` of the namespace that Windlass runs in")
}

// logsAsked is what a call of the command asks.
type logsAsked struct {
	home, run string
	tail      int
	follow    bool
}

func (p *plugin) newLogsCommand() *cobra.Command {
	among := only("clusters")
	asked := &logsAsked{}
	command := &cobra.Command{
		Use:   "logs cluster/NAME",
		Short: "Print the log of a run of a Cluster's tool",
		Long: "Prints what the last run of the tool has printed, at most the last 64 KiB. With --follow it goes on until the run ends.\n" +
			"Windlass publishes the lines of a run that is under way in the ConfigMap NAME-running, every few seconds, and keeps those of\n" +
			"runs that have ended in NAME-log. You need the right to get both. Whoever may not get the first is told the stages of a run.",
		Example: "  kubectl windlass logs cluster/east\n" +
			"  kubectl windlass logs cluster/east --follow",
		Args: takes(1, 2),
	}
	flags := command.Flags()
	addHome(command, &asked.home)
	flags.StringVar(&asked.run, "run", "", "the `id` of a run, one of those that are kept. The default is the last one")
	flags.IntVar(&asked.tail, "tail", -1, "only so many last `lines`")
	flags.BoolVarP(&asked.follow, "follow", "f", false, "if a run is under way, print its lines as they come, until it ends")
	command.RunE = func(cmd *cobra.Command, args []string) error {
		of, err := objectOf(args, among)
		switch {
		case err != nil:
			return err
		case asked.tail < 0 && cmd.Flags().Changed("tail"):
			return misused("--tail must be a number of lines")
		case asked.follow && asked.run != "":
			return misused("--follow is about the run that is under way: leave --run out")
		}
		return p.logs(cmd.Context(), of, asked)
	}
	p.takesObject(command, among)
	return command
}

func (p *plugin) logs(ctx context.Context, of target, asked *logsAsked) error {
	reached, err := p.cluster()
	if err != nil {
		return err
	}
	cluster, err := readTyped[*clusterprovisionerv1alpha1.Cluster](ctx, reached, of)
	if err != nil {
		return err
	}
	now := cluster.Status.LastOperation
	underWay := now != nil && now.EndTime == nil && (asked.run == "" || asked.run == now.ID)
	switch {
	case underWay && asked.follow:
		begun := provision.Run{ID: now.ID, Phase: provision.Running}
		reading := &runReader{p: p, cluster: reached, of: of, home: asked.home, uid: cluster.UID, id: now.ID, last: begun}
		return p.followRun(tellingCuts(ctx), reading, asked.tail)
	case underWay:
		if shown, err := p.linesSoFar(ctx, reached, cluster, asked); shown || err != nil {
			return err
		}
	}
	kept, err := reached.runsOf(ctx, cluster, asked.home)
	hasEnded := now != nil && now.EndTime != nil // and so has a log, wherever that is
	if err != nil && (hasEnded || !isAbsent(err)) {
		return err
	}
	at := slices.IndexFunc(kept, func(run provision.Ended) bool { return asked.run == "" || asked.run == run.ID })
	switch {
	case at < 0 && asked.run != "":
		return fmt.Errorf("cluster %q has no run %q, or it is not kept any more", cluster.Name, asked.run)
	case at < 0:
		return fmt.Errorf("no run of cluster %q has ended: kubectl windlass why cluster/%s says what it waits for", cluster.Name, cluster.Name)
	}
	text := provision.LastLines(provision.Redact(kept[at].Log), asked.tail) // others can have written the ConfigMap
	_, err = io.WriteString(p.Streams.Out, p.shown(text))
	return err
}

// linesSoFar prints what a run that is under way has printed, and reports whether that is known.
func (p *plugin) linesSoFar(ctx context.Context, reached *cluster, of *clusterprovisionerv1alpha1.Cluster, asked *logsAsked) (shown bool, err error) {
	now := of.Status.LastOperation
	run, known, err := reached.running(ctx, of, asked.home)
	switch {
	case err != nil && !isAbsent(err):
		because := fmt.Sprintf("the run %s is under way (%s), and its lines cannot be read: %s", now.ID, stageOf(now), p.explain(err))
		if asked.run != "" {
			return false, errors.New(because) // there is no other one to print
		}
		p.note("%s", because)
	case !known || run.ID != now.ID:
		p.note("the run %s is under way (%s), and its lines are not there yet: --follow waits for them", now.ID, stageOf(now))
		if err != nil {
			p.note("%s", err)
		}
	default:
		p.note("the run %s is under way (%s): these are its lines so far", now.ID, stageOf(now))
		_, err := io.WriteString(p.Streams.Out, p.shown(provision.LastLines(run.Log, asked.tail)))
		return true, err
	}
	if asked.run == "" {
		p.note("this is the run before")
	}
	return asked.run != "", nil
}

// runsOf returns the runs of a Cluster that are kept, the newest first.
func (c *cluster) runsOf(ctx context.Context, of *clusterprovisionerv1alpha1.Cluster, home string) (provision.History, error) {
	data, err := c.keptFor(ctx, of, home, clusterprovisionerv1alpha1.LogSuffix)
	return provision.DecodeHistory(data), err
}

// running returns a run that is under way, as Windlass has published it, and reports whether there is one with lines.
func (c *cluster) running(ctx context.Context, of *clusterprovisionerv1alpha1.Cluster, home string) (provision.Run, bool, error) {
	data, err := c.keptFor(ctx, of, home, clusterprovisionerv1alpha1.RunningSuffix)
	run, known := provision.DecodeRunning(data)
	return run, known, err
}

// keptFor returns what a ConfigMap has that Windlass keeps for a Cluster; nothing if it is of an earlier Cluster of this name.
func (c *cluster) keptFor(ctx context.Context, of *clusterprovisionerv1alpha1.Cluster, home, suffix string) (map[string]string, error) {
	var kept corev1.ConfigMap
	err := c.Get(ctx, client.ObjectKey{Namespace: home, Name: of.Name + suffix}, &kept)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &absent{home: home, name: of.Name + suffix}
	case err != nil || kept.Labels[clusterprovisionerv1alpha1.ClusterUIDLabel] != string(of.UID):
		return nil, err
	}
	return kept.Data, nil
}

// absent says that a ConfigMap is not there: Windlass has not written it yet, or runs in another namespace, which nothing in a Cluster tells.
type absent struct{ home, name string }

// Error implements error.
func (a *absent) Error() string {
	return fmt.Sprintf("namespace %s has no ConfigMap %s: if Windlass runs in another namespace, name it with --windlass-namespace", a.home, a.name)
}

func isAbsent(err error) bool {
	_, is := errors.AsType[*absent](err)
	return is
}

func stageOf(run *clusterprovisionerv1alpha1.Operation) string {
	if run.Stage == "" {
		return string(run.Action)
	}
	return fmt.Sprintf("%s: %s", run.Action, run.Stage)
}
