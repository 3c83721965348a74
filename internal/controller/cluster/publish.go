// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/provision"
)

// published is what was last published of runs that are under way, by Cluster.
type published struct {
	mu   sync.Mutex
	runs map[types.UID]publication
}

// publication is what was last published of a run.
type publication struct {
	run, log string
	// next is when more can be published.
	next time.Time
	// ours says that the ConfigMap is known to be nobody else's.
	ours bool
}

// of returns what was published of a run. One that was not seen before can be published after a pause.
func (p *published) of(cluster types.UID, run string, now time.Time) publication {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, known := p.runs[cluster]; known && last.run == run {
		return last
	}
	return p.set(cluster, publication{run: run, next: now.Add(provision.PublishPause(""))})
}

// note keeps what was published.
func (p *published) note(cluster types.UID, last publication) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(cluster, last)
}

func (p *published) set(cluster types.UID, last publication) publication {
	if p.runs == nil {
		p.runs = map[types.UID]publication{}
	}
	p.runs[cluster] = last
	return last
}

// drop forgets a Cluster.
func (p *published) drop(cluster types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.runs, cluster)
}

// publish writes what a run that is under way has printed, if that has changed and is due: followers read it with no more than the right to
// get a ConfigMap. It is a courtesy, and what it cannot write holds nothing up.
func (r *Reconciler) publish(ctx context.Context, pass *scope) {
	cluster, run := pass.Object, pass.seen.run
	if run == nil || run.Phase != provision.Running {
		return
	}
	last := r.published.of(cluster.UID, run.ID, pass.Now)
	if run.Log == last.log {
		return
	}
	if wait := last.next.Sub(pass.Now); wait > 0 {
		pass.LookAgain(wait)
		return
	}
	now := publication{run: run.ID, log: run.Log, next: pass.Now.Add(provision.PublishPause(run.Log)), ours: last.ours}
	if err := r.writeRunning(ctx, cluster, *run, &now); err != nil {
		now.log = last.log
		log.FromContext(ctx).Error(err, "Cannot publish what the tool prints")
	}
	r.published.note(cluster.UID, now)
}

// writeRunning writes the ConfigMap that publishes a run. One that belongs to somebody else is left alone.
func (r *Reconciler) writeRunning(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, run provision.Run, now *publication) error {
	if !now.ours {
		live, err := r.readLines(ctx, cluster, clusterprovisionerv1alpha1.RunningSuffix)
		if err != nil || live != nil && !belongsTo(cluster, live) {
			return err
		}
		now.ours = true
	}
	lines, err := runningConfigMap(cluster, r.namespace, run)
	if err != nil {
		return err
	}
	if err := patch.Apply(ctx, r.direct, lines); err != nil {
		return fmt.Errorf("cannot write ConfigMap %s/%s: %w", r.namespace, *lines.Name, err)
	}
	return nil
}

// unpublish takes away what was published of a run that has ended, also by an earlier process: the whole log is kept elsewhere.
func (r *Reconciler) unpublish(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, run provision.Run) error {
	r.published.drop(cluster.UID)
	live, err := r.readLines(ctx, cluster, clusterprovisionerv1alpha1.RunningSuffix)
	if err != nil || live == nil || !belongsTo(cluster, live) {
		return err
	}
	if _, underWay := provision.DecodeRunning(live.Data); !underWay {
		return nil
	}
	return r.writeRunning(ctx, cluster, run, &publication{ours: true})
}
