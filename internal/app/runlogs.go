// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/provision"
)

// maxFollowers is how many runs are followed at a time. Each one reads the log once a second.
const maxFollowers = 32

// Runs implements api.Hosts.
func (r *reach) Runs(ctx context.Context, cluster string) ([]view.Run, error) {
	found, err := r.runs(ctx, cluster)
	if err != nil {
		return nil, err
	}
	var out []view.Run
	for _, run := range found.all() {
		out = append(out, view.Run{
			ID: run.ID, Action: string(run.Action), Phase: string(run.Phase), StartTime: run.StartedAt, EndTime: run.EndedAt,
			ExitCode: run.ExitCode, Reason: run.Reason,
		})
	}
	return out, nil
}

// RunLog implements api.Hosts.
func (r *reach) RunLog(ctx context.Context, cluster, run string, tail int, follow bool) (io.ReadCloser, error) {
	found, err := r.runs(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if now := found.now; now != nil && follow && now.Phase == provision.Running && (run == "" || run == now.ID) {
		return r.follow(ctx, found.uid, *now, tail)
	}
	for _, known := range found.all() {
		if run == "" || run == known.ID {
			// It was redacted when it was written. A ConfigMap can have been written by somebody else.
			return io.NopCloser(strings.NewReader(provision.LastLines(provision.Redact(known.Log), tail))), nil
		}
	}
	if run == "" {
		return nil, view.NewProblem(http.StatusConflict, "NotYet", "The Cluster has had no run. Its condition Ready says why.")
	}
	return nil, view.NewProblem(http.StatusNotFound, "NotFound", fmt.Sprintf("The Cluster has no run %q, or it is not kept any more.", run))
}

// follow follows a run that is under way, if there is a slot for it.
func (r *reach) follow(ctx context.Context, uid string, run provision.Run, tail int) (io.ReadCloser, error) {
	select {
	case r.followers <- struct{}{}:
	default:
		return nil, again(http.StatusTooManyRequests, "TooManyRequests", fmt.Sprintf("%d runs are being followed, which is the limit.", maxFollowers))
	}
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { <-r.followers })
	reading := provision.Follow(ctx, run, tail, func(ctx context.Context) (provision.Run, error) { return r.tools.Observe(ctx, uid) })
	return &following{ReadCloser: reading, end: cancel}, nil
}

// following is a run that is followed. Closing it frees its slot.
type following struct {
	io.ReadCloser

	end func()
}

// Close implements io.Closer.
func (f *following) Close() error {
	defer f.end()
	return f.ReadCloser.Close()
}

// knownRuns are the runs of a Cluster that are known.
type knownRuns struct {
	uid string
	// now is the one that is under way, or the last one; nil for none.
	now  *provision.Run
	kept provision.History
}

// all returns the runs, the newest first.
func (k *knownRuns) all() provision.History {
	if k.now == nil {
		return k.kept
	}
	return k.kept.With(*k.now)
}

// runs returns the runs of a Cluster.
func (r *reach) runs(ctx context.Context, name string) (*knownRuns, error) {
	if r.tools == nil {
		return nil, absent("cluster")
	}
	var cluster clusterprovisionerv1alpha1.Cluster
	if err := r.read(ctx, "", name, &cluster); err != nil {
		return nil, err
	}
	out := &knownRuns{uid: string(cluster.UID)}
	run, err := r.tools.Observe(ctx, out.uid)
	switch {
	case err == nil:
		if !run.Predates(cluster.Status.LastOperation) { // if it does, another manager has led since: the ConfigMap has the runs of that one
			out.now = &run
		}
	case !errors.Is(err, provision.ErrNoRun):
		return nil, fmt.Errorf("%w: %w", again(http.StatusServiceUnavailable, "ServiceUnavailable", "The runs of the tool cannot be read at present."), err)
	}
	key := client.ObjectKey{Namespace: r.namespace, Name: name + clusterprovisionerv1alpha1.LogSuffix}
	var kept corev1.ConfigMap
	if err = r.kept.Get(ctx, key, &kept); err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("cannot read ConfigMap %s, which keeps the runs: %w", key, err)
	}
	if kept.Labels[clusterprovisionerv1alpha1.ClusterUIDLabel] == out.uid { // and not of an earlier Cluster of this name
		out.kept = provision.DecodeHistory(kept.Data)
	}
	return out, nil
}
