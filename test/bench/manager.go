// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

// manager is a running "windlass manager".
type manager struct {
	*rig.Manager

	plane   *controlPlane
	metrics string
	// ready and leader are how long after its start it was ready, and had the lease.
	ready, leader time.Duration
}

// startManager starts the manager with the rights that it is shipped with and with more arguments, and returns when it is
// ready, leads and has nothing to write.
func (r *controlPlane) startManager(ctx context.Context, more ...string) (*manager, error) {
	metrics, err := rig.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	identity := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	leads, err := r.await(ctx, &coordinationv1.Lease{}, 1, func(object client.Object) bool {
		lease, ok := object.(*coordinationv1.Lease)
		return ok && lease.Namespace == rig.Namespace && lease.Name == rig.LeaseName &&
			lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity == identity
	})
	if err != nil {
		return nil, err
	}
	defer leads.Cancel()
	if r.pprof != "" {
		more = append(more, "--pprof-bind-address", r.pprof)
	}
	running, err := r.StartManager(ctx, r.accountConfig, r.log(agentWindlass), append([]string{
		"--holder-identity", identity, "--metrics-bind-address", metrics,
	}, more...)...)
	if err != nil {
		return nil, err
	}
	m := &manager{Manager: running, plane: r, metrics: metrics}
	r.others = append(r.others, m.Process)
	r.pids[agentWindlass] = m.PID
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := m.Ready(waiting, 5*time.Millisecond); err != nil {
		return nil, err
	}
	m.ready = time.Since(m.Began)
	at, err := leads.Wait(ctx, patience)
	if err != nil {
		return nil, err
	}
	m.leader = at.Sub(m.Began)
	return m, r.audit.quiet(ctx, agentWindlass, silence)
}

// stop ends the manager in order, so that it gives the lease back.
func (m *manager) stop() error {
	delete(m.plane.pids, agentWindlass)
	for i, p := range m.plane.others {
		if p == m.Process {
			m.plane.others = append(m.plane.others[:i], m.plane.others[i+1:]...)
			break
		}
	}
	if err := m.Ended(); err != nil {
		return err
	}
	return endInOrder(m.Process)
}

// metric returns the sum of a metric of the manager over all its labels.
func (m *manager) metric(ctx context.Context, name string) (float64, error) {
	body, err := get(ctx, "http://"+m.metrics+"/metrics")
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }()
	total := 0.0
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || rest == "" || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			return 0, fmt.Errorf("cannot read metric %q: %w", name, err)
		}
		total += value
	}
	return total, lines.Err()
}

// get asks a URL and returns the body of a good answer.
func get(ctx context.Context, url string) (io.ReadCloser, error) {
	return ask(ctx, http.DefaultClient, question{url: url})
}

// question is what is asked for: a URL, as whom, and in which format.
type question struct{ url, token, accept string }

// ask returns the answer, which the caller closes.
func ask(ctx context.Context, web *http.Client, asks question) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, asks.url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("cannot ask %q: %w", asks.url, err)
	}
	if asks.token != "" {
		request.Header.Set("Authorization", "Bearer "+asks.token)
	}
	if asks.accept != "" {
		request.Header.Set("Accept", asks.accept)
	}
	response, err := web.Do(request)
	if err != nil {
		return nil, fmt.Errorf("cannot ask %q: %w", asks.url, err)
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("cannot ask %q: %s", asks.url, response.Status)
	}
	return response.Body, nil
}
