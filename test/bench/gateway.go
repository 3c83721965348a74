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
)

const (
	// listWorkers ask at the same time for listWindow.
	listWorkers = 8
	listWindow  = 3 * time.Second
)

// gatewayLists measures lists through the gateway against the same lists straight from the API server and against an
// uncached List for each request, and then what streams cost.
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
		{"nodes", "/v1/nodes", "/api/v1/nodes"},
		{"Deployments", "/v1/deployments", "/apis/apps/v1/deployments"},
	} {
		if err := g.lists(ctx, list.name, list.own, list.server, article); err != nil {
			return s, err
		}
	}
	s.note("nothing is compressed on the way; %d requests at a time, for %s a round; the bench reads and drops what it gets", listWorkers, listWindow)
	return s, g.streams(ctx)
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
	plain := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: listWorkers}}
	rate, slow := map[string]*series{}, map[string]*series{}
	var variants []variant
	for _, v := range []struct {
		name, url, token string
		web              *http.Client
	}{
		{"gateway", g.base + own, g.tokens[0], plain},
		{"API server", strings.TrimSuffix(g.plane.Config.Host, "/") + server, "", direct},
		{"article", article + own, "", plain},
	} {
		rate[v.name] = g.section.measure(name+", "+v.name, "lists a second")
		slow[v.name] = g.section.measure(name+", "+v.name+", p99", "ms")
		variants = append(variants, variant{v.name, func(ctx context.Context, round int) error {
			perSecond, p99, err := hammer(ctx, v.web, v.url, v.token)
			rate[v.name].add(round, perSecond)
			slow[v.name].add(round, p99)
			return err
		}})
	}
	if err := g.interleave(ctx, variants...); err != nil {
		return err
	}
	for _, other := range []string{"API server", "article"} {
		g.section.Ratios = append(g.section.Ratios,
			compare(name+" a second, gateway to "+other, rate["gateway"], rate[other], 0),
			compare(name+" p99, gateway to "+other, slow["gateway"], slow[other], 0))
	}
	return nil
}

// hammer asks for the same again and again, listWorkers at a time.
func hammer(ctx context.Context, web *http.Client, url, token string) (perSecond, p99 float64, err error) {
	var (
		mu    sync.Mutex
		took  []float64
		group sync.WaitGroup
		errs  []error
	)
	begun := time.Now()
	for range listWorkers {
		group.Go(func() {
			for time.Since(begun) < listWindow {
				asked := time.Now()
				err := fetch(ctx, web, url, token)
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
