// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

// logReader follows the logs of all pods as one text. It stops at the first line that is not the next one of its pod.
type logReader struct {
	followers

	// ended counts the logs whose end was seen.
	ended atomic.Int64
	// next is the number of the next line of each pod.
	next map[string]int
}

// logs follows the logs of many pods in one request, and measures what that costs and how long lines take.
func (g *gatewayBench) logs(ctx context.Context) (err error) {
	g.tell("      following the logs of %d pods", logPods)
	kubelet, err := startLogKubelet(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kubelet.server.Close()) }()
	if err := g.plane.addLogPods(ctx, kubelet); err != nil {
		return err
	}
	// As for streams, what other requests have left behind does not count.
	if err := errors.Join(endInOrder(g.process), g.start(ctx)); err != nil {
		return err
	}
	before, err := g.footprint(ctx)
	if err != nil {
		return err
	}
	l := &logReader{next: map[string]int{}}
	open, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer func() { cancel(); group.Wait() }()
	web := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	url := fmt.Sprintf("%s/v1/deployments/%s/%s/logs?follow=true&timestamps=true", g.base, logNamespace, logDeployment)
	group.Go(func() { l.lost(open, "logs", l.read(open, web, question{url: url, token: g.tokens[0]})) })
	if err := l.await(ctx, &kubelet.opened, logPods); err != nil {
		return err
	}
	if err := pause(ctx, settled); err != nil {
		return err
	}
	after, err := g.footprint(ctx)
	if err != nil {
		return err
	}
	g.section.measure("heap and stacks of a followed log that is open", "KiB").add(1, (after-before)/logPods/1024)
	if err := g.lines(ctx, kubelet, l, before); err != nil {
		return err
	}
	kubelet.end()
	return l.await(ctx, &l.ended, logPods) // so that no line comes twice after the last round either
}

// lines has the pods write in rounds, and notes when their lines arrive. before is the memory without followed logs, in bytes.
func (g *gatewayBench) lines(ctx context.Context, kubelet *logKubelet, l *logReader, before float64) error {
	const sent = logPods * linesOfRound
	rate := g.section.measure("log lines at the reader", "a second")
	latency := g.section.measure("from the time of a log line to the reader, p99", "ms")
	middle := g.section.measure("from the time of a log line to the reader, median", "ms")
	busy := g.section.measure("CPU of the gateway with log lines", "ms per s")
	live := g.section.measure("heap and stacks of a followed log after lines", "KiB")
	arrived := check{Name: "log lines of a round that arrived once, whole and in order", Want: sent}
	for round := range g.options.Rounds + 1 {
		l.reset()
		used, at := rig.CPUTime(g.process.PID), time.Now()
		kubelet.write(at)
		if err := l.await(ctx, &l.seen, int64(sent)); err != nil {
			return err
		}
		took := time.Since(at).Seconds()
		busy.add(round, float64(rig.CPUTime(g.process.PID)-used)/float64(time.Millisecond)/took)
		rate.add(round, float64(sent)/took)
		latency.add(round, l.percentile(99))
		middle.add(round, l.percentile(50))
		arrived.Got = append(arrived.Got, int(l.seen.Load()))
		now, err := g.footprint(ctx)
		if err != nil {
			return err
		}
		live.add(round, (now-before)/logPods/1024)
	}
	g.section.Checks = append(g.section.Checks, arrived)
	g.section.note("the logs of %d pods in one request, %d lines a second each, for %s a round; the bench that writes and reads them shares the machine",
		logPods, linesPerSecond, logWindow)
	return nil
}

func (l *logReader) read(ctx context.Context, web *http.Client, asks question) error {
	body, err := ask(ctx, web, asks)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		if err := l.take(lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// take checks a line, which begins with its pod, its container and its time.
func (l *logReader) take(line string) error {
	where, stamped, _ := strings.Cut(line, "] ")
	if where == "[notice" {
		if !strings.HasSuffix(stamped, " has ended") {
			return fmt.Errorf("cannot go on after %q", line)
		}
		l.ended.Add(1)
		return nil
	}
	pod := strings.TrimSuffix(strings.TrimPrefix(where, "[pod/"), "/"+logContainer)
	stamp, text, _ := strings.Cut(stamped, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if want := logText(pod, l.next[pod]); err != nil || !bytes.Equal(want, []byte(text)) {
		return fmt.Errorf("cannot go on after a line that is lost, torn or out of order: got %q, want %q from %s", line, want, pod)
	}
	l.next[pod]++
	l.saw(at)
	return nil
}
