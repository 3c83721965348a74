// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// listWorkers ask at the same time for listWindow.
	listWorkers = 8
	listWindow  = 3 * time.Second
	// summaryNodes and summaryPods are what the summary counts.
	summaryNodes = 5_000
	summaryPods  = 10_000
)

// gatewayLists measures lists through the gateway against the same lists straight from the API server and against an
// uncached List for each request, and then what streams and followed logs cost.
func gatewayLists(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	s := section{Title: fmt.Sprintf("HTTP API: %d nodes, %d Deployments in %d namespaces", b.options.Nodes,
		gatewayNamespaces*gatewayDeploymentsPer, gatewayNamespaces)}
	g := &gatewayBench{bench: b, plane: r, section: &s}
	if err := g.stage(ctx); err != nil {
		return s, err
	}
	if err := g.start(ctx); err != nil {
		return s, err
	}
	article, stop, err := g.article(ctx)
	if err != nil {
		return s, err
	}
	defer stop()
	for _, list := range []struct{ name, own, server string }{
		{"nodes", "nodes", "/api/v1/nodes"},
		{"Deployments", "deployments", "/apis/apps/v1/deployments"},
	} {
		if err := g.lists(ctx, list.name, "/v1/"+list.own, list.server, article); err != nil {
			return s, err
		}
		if err := g.tables(ctx, list.name, "/v1/tables/"+list.own, list.server); err != nil {
			return s, err
		}
	}
	s.note("nothing is compressed on the way; %d requests at a time, for %s a round; the bench reads and drops what it gets", listWorkers, listWindow)
	if err := g.streams(ctx); err != nil {
		return s, err
	}
	if err := g.logs(ctx); err != nil {
		return s, err
	}
	// Last, because what it adds would move the heap under the measurements of memory.
	return s, g.summary(ctx)
}

// article serves lists as the article does: an uncached List through client-go for each request, encoded anew.
func (g *gatewayBench) article(ctx context.Context) (base string, stop func(), err error) {
	clients, err := kubernetes.NewForConfig(g.direct)
	if err != nil {
		return "", nil, fmt.Errorf("cannot make a client: %w", err)
	}
	answer := func(w http.ResponseWriter, list any, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if err := json.NewEncoder(w).Encode(list); err != nil {
			g.tell("cannot answer: %v", err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/nodes", func(w http.ResponseWriter, r *http.Request) {
		list, err := clients.CoreV1().Nodes().List(r.Context(), metav1.ListOptions{})
		answer(w, list, err)
	})
	mux.HandleFunc("/v1/deployments", func(w http.ResponseWriter, r *http.Request) {
		list, err := clients.AppsV1().Deployments("").List(r.Context(), metav1.ListOptions{})
		answer(w, list, err)
	})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("cannot listen: %w", err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// lists measures one list in three ways, in turns.
func (g *gatewayBench) lists(ctx context.Context, name, own, server, article string) error {
	direct, err := rest.HTTPClientFor(g.direct)
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	return g.race(ctx, name, "lists a second",
		racer{"gateway", question{g.base + own, g.tokens[0], ""}, plainClient()},
		racer{"API server", question{strings.TrimSuffix(g.plane.Config.Host, "/") + server, "", ""}, direct},
		racer{"article", question{article + own, "", ""}, plainClient()})
}

// tables measures one table in two ways, in turns.
func (g *gatewayBench) tables(ctx context.Context, name, own, server string) error {
	direct, err := rest.HTTPClientFor(g.direct)
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	return g.race(ctx, "table of "+name, "tables a second",
		racer{"gateway", question{g.base + own, g.tokens[0], ""}, plainClient()},
		racer{"API server", question{strings.TrimSuffix(g.plane.Config.Host, "/") + server, "", "application/json;as=Table;v=v1;g=meta.k8s.io"}, direct})
}

// plainClient returns a client that accepts no compression.
func plainClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: listWorkers}}
}

// racer is one way to the same answer.
type racer struct {
	name  string
	asks  question
	using *http.Client
}

// race measures the ways in turns, and compares the first with each of the others.
func (g *gatewayBench) race(ctx context.Context, name, unit string, racers ...racer) error {
	rate, slow := map[string]*series{}, map[string]*series{}
	variants := make([]variant, 0, len(racers))
	for _, v := range racers {
		rate[v.name] = g.section.measure(name+", "+v.name, unit)
		slow[v.name] = g.section.measure(name+", "+v.name+", p99", "ms")
		variants = append(variants, variant{v.name, func(ctx context.Context, round int) error {
			perSecond, p99, err := hammer(ctx, v.using, v.asks, listWorkers)
			rate[v.name].add(round, perSecond)
			slow[v.name].add(round, p99)
			return err
		}})
	}
	if err := g.interleave(ctx, variants...); err != nil {
		return err
	}
	first := racers[0].name
	for _, other := range racers[1:] {
		g.section.Ratios = append(g.section.Ratios,
			compare(name+" a second, "+first+" to "+other.name, rate[first], rate[other.name], 0),
			compare(name+" p99, "+first+" to "+other.name, slow[first], slow[other.name], 0))
	}
	return nil
}

// summary measures the counts of everything, for one caller who asks again and again, in a cluster of the size that the target names.
func (g *gatewayBench) summary(ctx context.Context) error {
	g.tell("      adding nodes and pods, up to %d and %d", summaryNodes, summaryPods)
	if err := g.plane.addNodes(ctx, max(g.options.Nodes, summaryNodes)); err != nil {
		return err
	}
	err := forEach(ctx, writers, summaryPods, func(ctx context.Context, i int) error {
		return client.IgnoreAlreadyExists(g.plane.Client.Create(ctx, gatewayPod(i)))
	})
	if err != nil {
		return fmt.Errorf("cannot create a pod: %w", err)
	}
	if err := pause(ctx, settled); err != nil {
		return err
	}
	slow := g.section.measure("summary, p99", "ms")
	for round := range g.options.Rounds + 1 {
		_, p99, err := hammer(ctx, plainClient(), question{g.base + "/v1/summary", g.tokens[0], ""}, 1)
		if err != nil {
			return err
		}
		slow.add(round, p99)
	}
	g.section.note("the summary is of %d nodes and %d pods, one request at a time", max(g.options.Nodes, summaryNodes), summaryPods)
	return nil
}

// hammer asks for the same again and again, so many at a time.
func hammer(ctx context.Context, web *http.Client, asks question, workers int) (perSecond, p99 float64, err error) {
	var (
		mu    sync.Mutex
		took  []float64
		group sync.WaitGroup
		errs  []error
	)
	begun := time.Now()
	for range workers {
		group.Go(func() {
			for time.Since(begun) < listWindow {
				asked := time.Now()
				err := fetch(ctx, web, asks)
				mu.Lock()
				took, errs = append(took, float64(time.Since(asked))/float64(time.Millisecond)), append(errs, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	group.Wait()
	elapsed := time.Since(begun).Seconds()
	return float64(len(took)) / elapsed, percentile(took, 99), errors.Join(errs...)
}
