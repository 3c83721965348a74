// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

const (
	// defaultHome is the namespace that Windlass runs in, unless it was installed elsewhere.
	defaultHome = "windlass-system"
	// runPause is how often a run that is under way is looked at.
	runPause = 2 * time.Second
)

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
		Long: "Prints the end of the log of the last run that has ended, at most 64 KiB, from the ConfigMap NAME-log that Windlass keeps. You\n" +
			"need the right to get it. Only the manager has the lines of a run that is under way, and only its HTTP API follows them:\n" +
			"GET /v1/clusters/NAME/log?follow=true. With --follow this command tells the stages of such a run, and prints its log when\n" +
			"it has ended.",
		Example: "  kubectl windlass logs cluster/east\n" +
			"  kubectl windlass logs cluster/east --follow",
		Args: takes(1, 2),
	}
	flags := command.Flags()
	flags.StringVar(&asked.home, "windlass-namespace", defaultHome, "`name` of the namespace that Windlass runs in")
	flags.StringVar(&asked.run, "run", "", "the `id` of a run, one of those that are kept. The default is the last one that has ended")
	flags.IntVar(&asked.tail, "tail", -1, "only so many last `lines`")
	flags.BoolVarP(&asked.follow, "follow", "f", false, "if a run is under way, wait for its end")
	command.RunE = func(cmd *cobra.Command, args []string) error {
		of, err := objectOf(args, among)
		switch {
		case err != nil:
			return err
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
	if running := cluster.Status.LastOperation; asked.run == "" && running != nil && running.EndTime == nil {
		if !asked.follow {
			p.note("the run %s is under way (%s), and only the HTTP API has its lines: this is the run before", running.ID, stageOf(running))
		} else if cluster, err = p.awaitRun(ctx, reached, of, running.ID); err != nil {
			return err
		}
	}
	kept, err := reached.runsOf(ctx, cluster, asked.home)
	if err != nil {
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

// awaitRun waits for the end of a run, and tells its stages.
func (p *plugin) awaitRun(ctx context.Context, reached *cluster, of target, id string) (*clusterprovisionerv1alpha1.Cluster, error) {
	var out *clusterprovisionerv1alpha1.Cluster
	told := ""
	err := repeat(ctx, runPause, func() (done bool, err error) {
		if out, err = readTyped[*clusterprovisionerv1alpha1.Cluster](ctx, reached, of); err != nil {
			return false, err
		}
		running := out.Status.LastOperation
		if running == nil || running.ID != id || running.EndTime != nil {
			return true, nil
		}
		if stage := stageOf(running); stage != told {
			told = stage
			p.note("%s", stage)
		}
		return false, nil
	})
	return out, err
}

// runsOf returns the runs of a Cluster that are kept, the newest first.
func (c *cluster) runsOf(ctx context.Context, of *clusterprovisionerv1alpha1.Cluster, home string) (provision.History, error) {
	var kept corev1.ConfigMap
	err := c.Get(ctx, client.ObjectKey{Namespace: home, Name: of.Name + clusterprovisionerv1alpha1.LogSuffix}, &kept)
	switch {
	case apierrors.IsNotFound(err), err == nil && kept.Labels[clusterprovisionerv1alpha1.ClusterUIDLabel] != string(of.UID):
		return nil, nil // or it is of an earlier Cluster of this name
	case err != nil:
		return nil, err
	}
	return provision.DecodeHistory(kept.Data), nil
}

func stageOf(run *clusterprovisionerv1alpha1.Operation) string {
	if run.Stage == "" {
		return string(run.Action)
	}
	return fmt.Sprintf("%s: %s", run.Action, run.Stage)
}
