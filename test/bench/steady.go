// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

const (
	// window is how long a round of the scenario steady lasts, and kubeletWindow one at the pace of kubelets.
	window, kubeletWindow = 4 * time.Second, 15 * time.Second
	// statusEvery is how often every node reports its status, and kubeletEvery how often kubelets do so while nothing changes.
	statusEvery, kubeletEvery = 15 * time.Second, 5 * time.Minute
	// leaseEvery is how often every node renews its lease, as kubelets do.
	leaseEvery = 10 * time.Second
)

// steady measures what the manager does while nodes report that they are alive and nothing else happens.
func steady(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	n := b.options.Nodes
	s := section{Title: fmt.Sprintf("%d nodes report their status every %s and renew their leases every %s, for %s",
		n, statusEvery, leaseEvery, window)}
	if err := r.ensurePool(ctx, n); err != nil {
		return s, err
	}
	m, err := r.startManager(ctx)
	if err != nil {
		return s, err
	}
	quiet := newObserver(m, &s, "without heartbeats")
	busy := newObserver(m, &s, "with heartbeats")
	usual := newObserver(m, &s, "with reports every "+kubeletEvery.String())
	err = b.interleave(ctx,
		variant{"without heartbeats", func(ctx context.Context, round int) error {
			return quiet.observe(ctx, round, func(ctx context.Context) error { return pause(ctx, window) })
		}},
		variant{"with heartbeats", func(ctx context.Context, round int) error {
			return busy.observe(ctx, round, func(ctx context.Context) error { return r.heartbeats(ctx, n, window, statusEvery) })
		}},
		variant{"as kubelets", func(ctx context.Context, round int) error {
			return usual.observe(ctx, round, func(ctx context.Context) error { return r.heartbeats(ctx, n, kubeletWindow, kubeletEvery) })
		}})
	s.Checks = append(s.Checks,
		check{Name: "writes by windlass besides its lease, per window without heartbeats", Got: quiet.writes},
		check{Name: "writes by windlass besides its lease, per window with heartbeats", Got: busy.writes},
		check{Name: "writes by windlass besides its lease, per window with reports every " + kubeletEvery.String(), Got: usual.writes},
	)
	s.note("there were %.0f status reports and %.0f renewals of leases a second", float64(n)/statusEvery.Seconds(), float64(n)/leaseEvery.Seconds())
	return s, errors.Join(err, m.stop())
}

// observer notes what the manager does in windows of time.
type observer struct {
	manager *manager
	// cpu, reconciles and requests are per window; writes are those besides the lease.
	cpu, reconciles, requests *series
	writes                    []int
}

func newObserver(m *manager, s *section, name string) *observer {
	return &observer{
		manager:    m,
		cpu:        s.measure("CPU of windlass "+name, "ms per s"),
		reconciles: s.measure("reconciles "+name, "per window"),
		requests:   s.measure("requests by windlass of any kind, its lease included, "+name, "per window"),
	}
}

func (o *observer) observe(ctx context.Context, round int, work func(context.Context) error) error {
	metrics := map[*series]string{o.reconciles: "controller_runtime_reconcile_total", o.requests: "rest_client_requests_total"}
	before := map[*series]float64{}
	for s, name := range metrics {
		var err error
		if before[s], err = o.manager.metric(ctx, name); err != nil {
			return err
		}
	}
	mark, err := o.manager.plane.audit.mark()
	if err != nil {
		return err
	}
	used, begun := rig.CPUTime(o.manager.PID), time.Now()
	if err := work(ctx); err != nil {
		return err
	}
	o.cpu.add(round, float64(rig.CPUTime(o.manager.PID)-used)/float64(time.Millisecond)/time.Since(begun).Seconds())
	wrote, err := o.manager.plane.audit.since(mark)
	if err != nil {
		return err
	}
	o.writes = append(o.writes, wrote.sum(by(agentWindlass), besidesLease))
	for s, name := range metrics {
		after, err := o.manager.metric(ctx, name)
		if err != nil {
			return err
		}
		s.add(round, after-before[s])
	}
	return nil
}

// heartbeats makes nodes report so often for the length of a window, evenly spread.
func (r *controlPlane) heartbeats(ctx context.Context, nodes int, window, every time.Duration) error {
	kubelet, err := client.New(as(r.Config, agentKubelet), client.Options{Scheme: r.scheme})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	reports := int(float64(nodes) * window.Seconds() / every.Seconds())
	renewals := int(float64(nodes) * window.Seconds() / leaseEvery.Seconds())
	start := time.Now()
	paced := func(count int, do func(ctx context.Context, name string) error) error {
		return forEach(ctx, threads, count, func(ctx context.Context, i int) error {
			due := start.Add(window * time.Duration(i) / time.Duration(count))
			if err := pause(ctx, time.Until(due)); err != nil {
				return err
			}
			return do(ctx, nodeName(i%nodes))
		})
	}
	renewed := make(chan error, 1)
	go func() {
		renewed <- paced(renewals, func(ctx context.Context, name string) error { return renew(ctx, kubelet, name) })
	}()
	err = paced(reports, func(ctx context.Context, name string) error { return beat(ctx, kubelet, name) })
	if err := errors.Join(err, <-renewed); err != nil {
		return err
	}
	return pause(ctx, time.Until(start.Add(window)))
}

func renew(ctx context.Context, kubelet client.Client, name string) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: name}}
	body := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, time.Now().UTC().Format(metav1.RFC3339Micro))
	if err := kubelet.Patch(ctx, lease, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		return fmt.Errorf("cannot renew the lease of node %q: %w", name, err)
	}
	return nil
}
