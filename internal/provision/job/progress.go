// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"sync"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/windlass-operator/windlass/internal/provision"
)

// progress is what was last read of runs that are under way, and what was last told of them, by cluster.
type progress struct {
	mu   sync.Mutex
	runs map[string]provision.Run
	told map[string]string
	// failures is how often in a row a run could not be followed.
	failures map[string]int
}

// note keeps how far a cluster's run is.
func (p *progress) note(cluster string, run provision.Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runs == nil {
		p.runs = map[string]provision.Run{}
	}
	p.runs[cluster] = run
	delete(p.failures, cluster)
}

// say replaces the stage of a run. What else was read of it stays.
func (p *progress) say(of *run, stage string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runs == nil {
		p.runs = map[string]provision.Run{}
	}
	read := p.runs[of.cluster]
	if read.ID != of.id {
		read = provision.Run{ID: of.id}
	}
	read.Stage = stage
	p.runs[of.cluster] = read
}

// fail notes that a cluster's run could not be followed, and returns how often it could not since it last could.
func (p *progress) fail(cluster string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failures == nil {
		p.failures = map[string]int{}
	}
	p.failures[cluster]++
	return p.failures[cluster]
}

// hindered reports whether a cluster's run cannot be followed.
func (p *progress) hindered(cluster string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failures[cluster] >= hindered
}

// of returns a run that is under way, as far as it is known.
func (p *progress) of(kept *run, under *batchv1.Job) provision.Run {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := provision.Run{ID: kept.id, Action: kept.action, Phase: provision.Running, StartedAt: under.CreationTimestamp.Time}
	if read := p.runs[kept.cluster]; read.ID == kept.id || read.ID == "" {
		known.Stage, known.Log, known.Skipped = read.Stage, read.Log, read.Skipped
		if !read.StartedAt.IsZero() {
			known.StartedAt = read.StartedAt
		}
	}
	return known
}

// differs reports whether something else was told of the cluster before, and notes the state as told.
func (p *progress) differs(cluster, state string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told == nil {
		p.told = map[string]string{}
	}
	before, known := p.told[cluster]
	p.told[cluster] = state
	return !known || before != state
}

// drop forgets how far a cluster's run was.
func (p *progress) drop(cluster string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.runs, cluster)
	delete(p.failures, cluster)
}
