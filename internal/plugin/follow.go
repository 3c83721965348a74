// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// runPause is how often a run is looked at that has printed nothing yet.
const runPause = time.Second

// followRun prints the lines of a run that is under way as they come, until it ends, and says how it has ended.
func (p *plugin) followRun(ctx context.Context, reading *runReader, tail int) error {
	var first provision.Run
	err := repeat(ctx, runPause, func() (done bool, err error) {
		first, err = reading.observe(ctx)
		return err == nil && (first.Log != "" || first.Phase != provision.Running), err
	})
	if err != nil {
		return err
	}
	lines := provision.Follow(ctx, first, tail, reading.observe)
	defer func() { _ = lines.Close() }()
	part := make([]byte, provision.MaxLog)
	for {
		n, err := lines.Read(part)
		if _, err := io.WriteString(p.Streams.Out, p.shown(string(part[:n]))); err != nil {
			return err
		}
		switch {
		case errors.Is(err, io.EOF):
			p.note("%s", reading.end)
			return nil
		case err != nil:
			return err
		}
	}
}

// runReader reads a run as far as it is known: while it is under way as Windlass publishes it, and then as it is kept.
type runReader struct {
	p       *plugin
	cluster *cluster
	of      target
	home    string
	uid     types.UID
	id      string

	// last is what was read last, a run that is under way before that, and stage what was told last of a run without lines.
	last  provision.Run
	stage string
	// told is what the person was told last that cannot be read.
	told string
	// end says how the run has ended.
	end string
}

// observe reads the run. What cannot be read now may be later: only a Cluster that may not be read ends it, and a
// log that is not where it would be once the run has ended.
func (r *runReader) observe(ctx context.Context) (provision.Run, error) {
	run, err := r.read(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil, isAbsent(err), apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return run, err
	default:
		r.tell("cannot follow the run at present: " + r.p.explain(err))
		run = r.last
	}
	r.last = run
	return run, nil
}

func (r *runReader) read(ctx context.Context) (provision.Run, error) {
	of, err := readTyped[*clusterprovisionerv1alpha1.Cluster](ctx, r.cluster, r.of)
	if apierrors.IsNotFound(err) || err == nil && of.UID != r.uid {
		r.end = "the Cluster is gone"
		return provision.Run{Phase: provision.Interrupted, Log: r.last.Log}, nil
	}
	if err != nil {
		return r.last, err
	}
	if now := of.Status.LastOperation; now != nil && now.ID == r.id && now.EndTime == nil {
		return r.underWay(ctx, of)
	}
	kept, err := r.cluster.runsOf(ctx, of, r.home)
	if err != nil {
		return r.last, err
	}
	at := slices.IndexFunc(kept, func(run provision.Ended) bool { return run.ID == r.id })
	if at < 0 {
		r.end = "the run " + r.id + " has ended, and is not kept any more"
		return provision.Run{Phase: provision.Interrupted, Log: r.last.Log}, nil
	}
	r.end = "the run " + r.id + " has ended: " + string(kept[at].Phase)
	if reason := kept[at].Reason; reason != "" {
		r.end += ", " + reason
	}
	return provision.Run{ID: r.id, Phase: kept[at].Phase, Log: kept[at].Log}, nil
}

// underWay returns what is published of the run, and tells its stages as long as that is nothing.
func (r *runReader) underWay(ctx context.Context, of *clusterprovisionerv1alpha1.Cluster) (provision.Run, error) {
	run, known, err := r.cluster.running(ctx, of, r.home)
	if known && run.ID == r.id {
		return run, nil
	}
	out := provision.Run{ID: r.id, Phase: provision.Running, Log: r.last.Log}
	if isAbsent(err) { // it is published a moment after the run has begun
		err = nil
	}
	if apierrors.IsForbidden(err) {
		r.tell("its lines come when it has ended: " + r.p.explain(err))
		err = nil
	}
	if stage := stageOf(of.Status.LastOperation); err == nil && out.Log == "" && stage != r.stage {
		r.stage = stage
		r.p.note("%s", stage)
	}
	return out, err
}

// tell says that something cannot be read, unless it has just said so.
func (r *runReader) tell(text string) {
	if text != r.told {
		r.p.note("%s", text)
	}
	r.told = text
}
