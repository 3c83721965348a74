// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

const (
	streamCount      = 500
	changesPerSecond = 100
	// streamWindow is how long a round of changes lasts.
	streamWindow = 5 * time.Second
	// sentAnnotation carries when a change was sent, in nanoseconds.
	sentAnnotation = "bench.example.com/sent"
)

// followers are the open streams, and what they have seen of the changes of a round.
type followers struct {
	begun, seen atomic.Int64
	mu          sync.Mutex
	took        []float64
	failed      []error
}

// streams opens streams, reads what they cost, and measures how long a change takes to all of them.
func (g *gatewayBench) streams(ctx context.Context) error {
	g.tell("      opening %d streams", streamCount)
	// A gateway that has answered nothing yet: what lists have left behind is no part of what streams cost.
	if err := errors.Join(endInOrder(g.process), g.start(ctx)); err != nil {
		return err
	}
	before, err := g.footprint(ctx)
	if err != nil {
		return err
	}
	f := &followers{}
	open, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer func() { cancel(); group.Wait() }()
	web := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	for i := range streamCount {
		group.Go(func() { f.follow(open, web, g.base+"/v1/watch?kinds=deployments", g.tokens[i%gatewayCallers]) })
	}
	if err := f.await(ctx, &f.begun, streamCount); err != nil {
		return err
	}
	raw := &followers{}
	group.Go(func() { raw.watch(open, g.direct) })
	if err := pause(ctx, settled); err != nil {
		return err
	}
	after, err := g.footprint(ctx)
	if err != nil {
		return err
	}
	g.section.measure("heap and stacks of a stream that is open", "KiB").add(1, (after-before)/streamCount/1024)
	if err := g.changes(ctx, f, raw, before); err != nil {
		return err
	}
	g.section.note("%d streams of %d callers, %d changes a second, %d events a second; the bench that reads them shares the machine",
		streamCount, gatewayCallers, changesPerSecond, streamCount*changesPerSecond)
	return nil
}

// footprint returns the gateway's memory in bytes after everything that nobody needs has been collected: twice, because what is in
// pools outlives one collection. Resident memory says nothing here: what has been collected may go back to the kernel at any time.
func (g *gatewayBench) footprint(ctx context.Context) (live float64, err error) {
	for range 2 {
		body, err := get(ctx, "http://"+g.profiles+"/debug/pprof/heap?gc=1&debug=1")
		if err != nil {
			return 0, err
		}
		raw, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); err != nil {
			return 0, fmt.Errorf("cannot read the profile of the heap: %w", err)
		}
		if live, err = liveMemory(string(raw)); err != nil {
			return 0, err
		}
	}
	return live, nil
}

// liveMemory reads the heap in use and the stacks from the end of a profile in text.
func liveMemory(profile string) (float64, error) {
	total, found := 0.0, 0
	for line := range strings.Lines(profile) {
		for _, name := range []string{"# HeapAlloc = ", "# Stack = "} {
			after, ok := strings.CutPrefix(line, name)
			if !ok {
				continue
			}
			digits, _, _ := strings.Cut(strings.TrimSpace(after), " ")
			value, err := strconv.ParseFloat(digits, 64)
			if err != nil {
				return 0, fmt.Errorf("cannot read %q of a profile: %w", line, err)
			}
			total += value
			found++
		}
	}
	if found != 2 {
		return 0, errors.New("cannot find the heap and the stacks in a profile")
	}
	return total, nil
}

// changes sends writes in rounds and notes what the streams, and a watch of the API server beside them, see of it. before is the memory
// without them, in bytes.
func (g *gatewayBench) changes(ctx context.Context, f, raw *followers, before float64) error {
	latency := g.section.measure("from the write to the event, p99", "ms")
	watched := g.section.measure("from the write to the event of a watch, p99", "ms")
	middle := g.section.measure("from the write to the event, median", "ms")
	busy := g.section.measure("CPU of the gateway with changes", "ms per s")
	live := g.section.measure("heap and stacks of a stream after changes", "KiB")
	for round := range g.options.Rounds + 1 {
		f.reset()
		raw.reset()
		used, at := rig.CPUTime(g.process.PID), time.Now()
		if err := g.change(ctx); err != nil {
			return err
		}
		sent := int64(changesPerSecond * streamWindow / time.Second)
		if err := errors.Join(f.await(ctx, &f.seen, streamCount*sent), raw.await(ctx, &raw.seen, sent)); err != nil {
			return err
		}
		busy.add(round, float64(rig.CPUTime(g.process.PID)-used)/float64(time.Millisecond)/time.Since(at).Seconds())
		latency.add(round, f.percentile(99))
		middle.add(round, f.percentile(50))
		watched.add(round, raw.percentile(99))
		now, err := g.footprint(ctx)
		if err != nil {
			return err
		}
		live.add(round, (now-before)/streamCount/1024)
	}
	g.section.Ratios = append(g.section.Ratios, compare("p99 of streams to that of a watch", latency, watched, 0))
	return nil
}

// reset forgets what was seen, for another round.
func (f *followers) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen.Store(0)
	f.took = nil
}

func (f *followers) percentile(of int) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return percentile(f.took, of)
}

// watch follows the API server itself.
func (f *followers) watch(ctx context.Context, config *rest.Config) {
	f.lost(ctx, "a watch", f.readWatch(ctx, config))
}

// lost notes that what is followed has ended, with an error or without one, before its reader left.
func (f *followers) lost(ctx context.Context, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = errors.New("it has ended")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = append(f.failed, fmt.Errorf("cannot follow %s any longer: %w", what, err))
}

func (f *followers) readWatch(ctx context.Context, config *rest.Config) error {
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	body, err := ask(ctx, web, question{url: strings.TrimSuffix(config.Host, "/") + "/apis/apps/v1/deployments?watch=true"})
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 16<<10), 4<<20)
	for lines.Scan() {
		f.note(lines.Bytes())
	}
	return lines.Err()
}

// follow reads a stream. It is counted when its snapshot is complete, and for every change.
func (f *followers) follow(ctx context.Context, web *http.Client, url, token string) {
	f.lost(ctx, "a stream", f.read(ctx, web, url, token))
}

func (f *followers) read(ctx context.Context, web *http.Client, url, token string) error {
	body, err := ask(ctx, web, question{url: url, token: token})
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 16<<10), 4<<20)
	upsert := false
	for lines.Scan() {
		line := lines.Bytes()
		switch {
		case bytes.HasPrefix(line, []byte("event: ")):
			upsert = bytes.HasSuffix(line, []byte("upsert"))
		case bytes.Equal(line, []byte(`data: {"type":"complete","done":true}`)):
			f.begun.Add(1)
		case upsert && bytes.HasPrefix(line, []byte("data: ")):
			f.note(line)
		}
	}
	return lines.Err()
}

// note reads when the change was sent.
func (f *followers) note(line []byte) {
	_, after, found := bytes.Cut(line, []byte(sentAnnotation+`":"`))
	if !found {
		return
	}
	digits, _, _ := bytes.Cut(after, []byte(`"`))
	sent, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return
	}
	f.saw(time.Unix(0, sent))
}

// saw counts what has just arrived.
func (f *followers) saw(sent time.Time) {
	took := float64(time.Since(sent)) / float64(time.Millisecond)
	f.mu.Lock()
	f.took = append(f.took, took)
	f.mu.Unlock()
	f.seen.Add(1)
}

// await waits until so many have been counted.
func (f *followers) await(ctx context.Context, counter *atomic.Int64, want int64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for counter.Load() < want {
		f.mu.Lock()
		err := errors.Join(f.failed...)
		f.mu.Unlock()
		if err != nil {
			return err
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return fmt.Errorf("cannot wait any longer: %d of %d were seen: %w", counter.Load(), want, err)
		}
	}
	return nil
}

// change changes Deployments, so many a second.
func (g *gatewayBench) change(ctx context.Context) error {
	count := int(changesPerSecond * streamWindow / time.Second)
	begun := time.Now()
	return forEach(ctx, writers, count, func(ctx context.Context, i int) error {
		at := begun.Add(time.Duration(i) * time.Second / changesPerSecond)
		if err := pause(ctx, time.Until(at)); err != nil {
			return err
		}
		deployment := gatewayDeployment(i % (gatewayNamespaces * gatewayDeploymentsPer))
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d"}}}`, sentAnnotation, time.Now().UnixNano())
		return g.plane.Client.Patch(ctx, deployment, client.RawPatch(types.MergePatchType, []byte(patch)))
	})
}
