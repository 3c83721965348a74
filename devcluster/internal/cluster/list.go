// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition is the state of a cluster in one word.
type Condition string

// The conditions of a cluster.
const (
	// Running: every component answers.
	Running Condition = "Running"
	// Degraded: a component is missing or does not answer; up repairs it.
	Degraded Condition = "Degraded"
	// Stopped: no process runs; up starts the cluster again with its data.
	Stopped Condition = "Stopped"
	// Incomplete: the first start failed, or is still in progress.
	Incomplete Condition = "Incomplete"
	// Unreadable: the state is damaged, and down removes it; or it belongs to another user.
	Unreadable Condition = "Unreadable"
)

// Summary is one cluster in a list.
type Summary struct {
	Name      string    `json:"name"`
	State     Condition `json:"state"`
	Nodes     int       `json:"nodes"`
	Version   string    `json:"version,omitempty"`
	Endpoint  string    `json:"endpoint,omitempty"`
	Directory string    `json:"directory"`
	Config    string    `json:"config,omitempty"`
}

// List describes all clusters, sorted by name. It takes no lock: a list must not wait for an up.
func (s *Store) List(ctx context.Context) ([]Summary, error) {
	names, err := s.Names()
	if err != nil {
		return nil, err
	}
	summaries := []Summary{}
	for _, name := range names {
		summaries = append(summaries, s.summarise(ctx, name))
	}
	return summaries, nil
}

// summarise never fails: a list that stops at the one broken cluster would hide it.
func (s *Store) summarise(ctx context.Context, name string) Summary {
	summary := Summary{Name: name, State: Unreadable, Directory: s.clusterDir(name)}
	state, err := s.load(name)
	if err != nil {
		return summary
	}
	c := s.cluster(state)
	summary.Nodes, summary.Version, summary.Config = state.Nodes, state.Version, state.Config
	summary.Endpoint = "https://" + address(state.Ports.APIServer)
	summary.State = c.condition(ctx)
	if summary.State == Running {
		summary.Nodes = c.countNodes(ctx, state.Nodes)
	}
	return summary
}

// condition probes every component, because a process can run and still not work.
func (c *cluster) condition(ctx context.Context) Condition {
	running, err := c.survey()
	switch {
	case err != nil:
		return Unreadable
	case !c.state.Complete:
		return Incomplete
	case len(running) == 0:
		return Stopped
	}
	prober, err := newProber(c.pki)
	if err != nil {
		return Unreadable
	}
	for _, batch := range c.batches() {
		for _, component := range batch {
			if len(running[component.name]) != 1 || c.healthy(ctx, prober, component) != nil {
				return Degraded
			}
		}
	}
	return Running
}

// countNodes lists one node and reads how many remain, which costs the same for any number of nodes.
func (c *cluster) countNodes(ctx context.Context, otherwise int) int {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	client, err := c.client()
	if err != nil {
		return otherwise
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return otherwise
	}
	count := len(nodes.Items)
	if nodes.RemainingItemCount != nil {
		count += int(*nodes.RemainingItemCount)
	}
	return count
}
