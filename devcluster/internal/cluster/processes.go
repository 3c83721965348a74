// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/windlass-operator/windlass/devcluster/internal/process"
	"github.com/windlass-operator/windlass/devcluster/internal/realnode"
)

const (
	// startPatience limits the start of a component; a loaded machine needs much of it.
	startPatience = 90 * time.Second
	// healPatience is how long a running but unhealthy component can take before it is replaced: the API server needs
	// a moment to find an etcd that was restarted.
	healPatience = 10 * time.Second
	maxLog       = 16 << 20
)

// runDir identifies a process, so no other process may have it as its working directory.
func (c *cluster) runDir(name string) string { return filepath.Join(c.dir, "run", name) }

// recordPath is next to the working directory, because a component could overwrite it inside.
func (c *cluster) recordPath(name string) string { return c.runDir(name) + ".json" }

// logPath is named in error messages, so it is short.
func (c *cluster) logPath(name string) string { return filepath.Join(c.dir, "logs", name+".log") }

// survey returns the processes of the cluster that run, by component: those on record that are
// still the same process, and those that a killed command started and did not record.
func (c *cluster) survey() (map[string][]process.ID, error) {
	running, err := process.Find(filepath.Join(c.dir, "run"))
	if err != nil {
		return nil, fmt.Errorf("cannot find the processes of cluster %q: %w", c.state.Name, err)
	}
	if running == nil {
		running = map[string][]process.ID{}
	}
	for _, batch := range batches() {
		for _, component := range batch {
			id, err := c.recorded(component.name)
			if err != nil {
				return nil, err
			}
			alive, err := id.Alive()
			if err != nil {
				return nil, fmt.Errorf("cannot find the processes of cluster %q: %w", c.state.Name, err)
			}
			if alive && !slices.Contains(running[component.name], id) {
				running[component.name] = append(running[component.name], id)
			}
		}
	}
	return running, nil
}

// recorded returns the process on record of a component, or the zero ID. Damaged contents are no record, but a file that
// cannot be read is an error: its process can run.
func (c *cluster) recorded(name string) (process.ID, error) {
	raw, err := readFile(c.recordPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return process.ID{}, nil
	}
	if err != nil {
		return process.ID{}, fmt.Errorf("cannot read which process of cluster %q is its %s: %w", c.state.Name, name, err)
	}
	var id process.ID
	if damaged := json.Unmarshal(raw, &id) != nil; damaged {
		id = process.ID{}
	}
	return id, nil
}

// ensure starts every component that does not run, batch by batch.
func (c *cluster) ensure(ctx context.Context, running map[string][]process.ID) error {
	prober, err := newProber(c.pki)
	if err != nil {
		return err
	}
	for _, batch := range c.batches() {
		group, ctx := errgroup.WithContext(ctx)
		for _, component := range batch {
			group.Go(func() error { return c.ensureComponent(ctx, prober, component, running[component.name]) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// ensureComponent leaves a healthy process alone, so a second up is quick and harmless.
func (c *cluster) ensureComponent(ctx context.Context, prober *prober, component component, running []process.ID) error {
	// A process that ran when this command began can have ended with its node. One of which nobody knows is stopped below, or its error is reported.
	running = slices.DeleteFunc(running, func(id process.ID) bool {
		alive, err := id.Alive()
		return err == nil && !alive
	})
	if len(running) == 1 {
		err := c.await(ctx, prober, component, healPatience, nil)
		if err == nil || ctx.Err() != nil {
			return err
		}
		c.store.progress.Done("%s (process %d) does not answer, restarting it: %v", component.name, running[0].PID, err)
	}
	// Several processes of one component cannot be distinguished by their port, so all of them are stopped.
	if err := process.Stop(ctx, component.grace, running...); err != nil {
		return fmt.Errorf("cannot stop %s: %w", component.name, err)
	}
	return c.start(ctx, prober, component)
}

// start returns when the component works or has failed to start. It does not clean up: the caller finds the process by
// survey, and only the caller knows whether to stop other components too.
func (c *cluster) start(ctx context.Context, prober *prober, component component) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.store.progress.Doing("starting %s", component.name)
	begin := time.Now()
	for _, dir := range []string{c.runDir(component.name), filepath.Dir(c.logPath(component.name))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("cannot create directory %q: %w", dir, err)
		}
	}
	logged, err := rotate(c.logPath(component.name))
	if err != nil {
		return err
	}
	started, err := c.launch(ctx, component)
	if err != nil {
		return err
	}
	if err := c.await(ctx, prober, component, startPatience, started); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("cannot start %s: %w; to delete the cluster with its data and start over, run 'devcluster down --name %s'; log %s ends with:\n%s",
			component.name, err, c.state.Name, c.logPath(component.name), tail(c.logPath(component.name), logged))
	}
	c.store.progress.Done("%s is ready after %.1fs", component.name, time.Since(begin).Seconds())
	if component.started == nil {
		return nil
	}
	return component.started(ctx, c)
}

// launch starts the process of a component and records it.
func (c *cluster) launch(ctx context.Context, component component) (*process.Process, error) {
	spec := process.Spec{
		Path: filepath.Join(c.binaries, component.name),
		Args: component.args(c),
		Env:  environment(c, component.name),
		Dir:  c.runDir(component.name),
		Log:  c.logPath(component.name),
	}
	if component.place != nil {
		if err := component.place(ctx, c, &spec); err != nil {
			return nil, err
		}
	}
	started, err := process.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	record, err := json.Marshal(started.ID)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the record of %s: %w", component.name, err)
	}
	if err := writeFile(c.recordPath(component.name), record); err != nil {
		return nil, fmt.Errorf("cannot record the process of %s: %w", component.name, err)
	}
	return started, nil
}

// await waits until a component answers its probe, ends, or exceeds the patience. Started is nil for a process of an
// earlier command, whose end this one cannot wait for.
func (c *cluster) await(ctx context.Context, prober *prober, component component, patience time.Duration, started *process.Process) error {
	deadline, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var ended <-chan struct{}
	if started != nil {
		ended = started.Done()
	}
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := c.healthy(deadline, prober, component)
		if err == nil {
			return nil
		}
		if deadline.Err() == nil {
			last = err
		}
		select {
		case <-ended:
			return fmt.Errorf("the process ended with %w", started.Err())
		case <-deadline.Done():
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return fmt.Errorf("not ready after %s (%w)", patience, errors.Join(last))
		case <-tick.C:
		}
	}
}

// stop ends all processes of the cluster in the reverse order of starting.
func (c *cluster) stop(ctx context.Context) error {
	return c.stopThose(ctx, func(component) bool { return true })
}

// stopThose is stop for some of the components.
func (c *cluster) stopThose(ctx context.Context, included func(component) bool) error {
	running, err := c.survey()
	if err != nil {
		return err
	}
	for _, batch := range slices.Backward(batches()) {
		var group errgroup.Group
		for _, component := range batch {
			ids := running[component.name]
			if len(ids) == 0 || !included(component) {
				continue
			}
			group.Go(func() error {
				c.store.progress.Doing("stopping %s", component.name)
				if err := process.Stop(ctx, component.grace, ids...); err != nil {
					return fmt.Errorf("cannot stop %s: %w", component.name, err)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	// Cgroups are the only part of a real node that outlives its processes.
	return realnode.RemoveCgroups(context.WithoutCancel(ctx), c.cgroup())
}

// healthy returns nil if a component works, or the reason why it does not.
func (c *cluster) healthy(ctx context.Context, prober *prober, component component) error {
	if component.check != nil {
		return component.check(ctx, c)
	}
	return prober.healthy(ctx, component, c.state.Ports)
}

// rotate bounds the size of a log and returns its size before the next start.
func rotate(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read log %q: %w", path, err)
	}
	if info.Size() < maxLog {
		return info.Size(), nil
	}
	if err := os.Rename(path, path+".old"); err != nil {
		return 0, fmt.Errorf("cannot rotate log %q: %w", path, err)
	}
	return 0, nil
}

// tail returns the last lines that were logged after an offset. Stack traces are left out, because the reason is
// logged before them.
func tail(path string, offset int64) string {
	const lines = 12
	raw, err := os.ReadFile(path)
	if err != nil || int64(len(raw)) <= offset {
		return "  (nothing)"
	}
	logged, _, _ := strings.Cut(string(raw[offset:]), "\ngoroutine ")
	all := strings.Split(strings.TrimSpace(logged), "\n")
	return "  " + strings.Join(all[max(0, len(all)-lines):], "\n  ")
}
