// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-operator/windlass/internal/status"
)

// Changes are pools that have changed, as they were and as they are. One that is new or gone has one version.
type Changes []*Pool

// Changed returns what has changed since the pools were these. What a plan does not depend on does not count, such as the counts in a
// status, which change all the time.
func (p Pools) Changed(before Pools) (Changes, error) {
	var changes Changes
	for name, is := range p {
		was := before[name]
		if was == is {
			continue
		}
		same, err := alike(was, is)
		if err != nil {
			return nil, fmt.Errorf("cannot compare pool %q: %w", name, err)
		}
		if same {
			continue
		}
		changes = append(changes, is)
		if was != nil {
			changes = append(changes, was)
		}
	}
	for name, was := range before {
		if p[name] == nil {
			changes = append(changes, was)
		}
	}
	return changes, nil
}

// Include reports whether the named pool has changed.
func (c Changes) Include(name string) bool {
	return slices.ContainsFunc(c, func(pool *Pool) bool { return pool.Name == name })
}

// Reach reports whether the plan of the node may be another one after the changes. A plan reads nothing of a pool that does not concern its
// node, but for the originals that it has noted of the node and not yet handed over.
func (c Changes) Reach(node *corev1.Node) bool {
	return slices.ContainsFunc(c, func(pool *Pool) bool { return pool.Concerns(node) || pool.noted(node) })
}

// alike reports whether both versions of a pool give every node the same plan.
func alike(was, is *Pool) (bool, error) {
	if was == nil {
		return false, nil
	}
	before, err := was.decisive()
	if err != nil {
		return false, err
	}
	now, err := is.decisive()
	return bytes.Equal(before, now), err
}

// decisive returns all of the pool that plans depend on.
func (p *Pool) decisive() ([]byte, error) {
	return json.Marshal([]any{
		p.UID, p.Generation, p.DeletionTimestamp, p.Finalizers, p.CreationTimestamp, status.IsPaused(p.NodePool), p.settled(), p.Spec,
		p.Status.MemberLabel, p.Status.Ledger, p.Status.Originals, p.Status.Rollout, p.Status.Draining,
	})
}
