// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
	"github.com/windlass-operator/windlass/test/rig"
)

// patience is how long anything may take that is waited for. An end state that takes longer is a finding.
const patience = time.Minute

// garbage is how much of it there may be in programs on lanes, in percent of what they use: the processors are short, and not the memory.
const garbage = "800"

// programEnv is the environment of programs on lanes. Those of a control plane wait for each other most of the time; with several processors they would also
// wake each other and look for each other's work.
func programEnv() []string { return []string{"GOGC=" + garbage, "GOMAXPROCS=1"} }

// controllersOfLanes are the controllers of Kubernetes that scenarios can meet: those that make, move and remove pods, delete what has lost its owner or its namespace,
// and give accounts to pods. The others would wait and watch on each lane.
func controllersOfLanes() string {
	return strings.Join([]string{
		"deployment-controller", "replicaset-controller", "disruption-controller", "node-lifecycle-controller", "taint-eviction-controller",
		"pod-garbage-collector-controller", "garbage-collector-controller", "namespace-controller", "serviceaccount-controller",
		"serviceaccount-token-controller", "root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller",
		"validatingadmissionpolicy-status-controller",
	}, ",")
}

// lane is a control plane with everything that is installed on it. Runs on it come one after another, and leave it as they found
// it, so objects have the same names in all runs. Lanes work side by side.
type lane struct {
	rig.Cluster

	number int
	// started is true from the start of the control plane to its end.
	started bool
	// reading guards what snapshots know of the lane: its kinds, and the keys in etcd that belong to none of them.
	reading  sync.Mutex
	kinds    []*kind
	foreign  map[string]bool
	registry *registry
	// token is that of the manager's ServiceAccount.
	token string
	runs  int
	// spent is the processor time of parts of the control plane that have ended, by name.
	counting sync.Mutex
	spent    costs
	// skewed is the program of a manager whose clock can be wrong, empty if nobody asked for one.
	skewed string
	// engine is the Docker Engine of the lane, if a run has needed one.
	engine *dockertest.Daemon
	// hypervisor is the libvirt daemon of the lane, if a run has needed one.
	hypervisor *hypervisor
}

// newLane returns a lane that has not been started yet.
func newLane(programs rig.Programs, number int) *lane {
	return &lane{number: number, spent: costs{}, Cluster: rig.Cluster{
		Programs: programs, Name: fmt.Sprintf("fault-%d-%d", os.Getpid(), number), Env: programEnv(),
	}}
}

// start starts the control plane. Whatever comes of it, it is to be stopped.
func (l *lane) start(ctx context.Context) error {
	l.started = true
	l.engine, l.hypervisor, l.registry, l.kinds, l.foreign = nil, nil, nil, nil, map[string]bool{}
	ctx, cancel := context.WithTimeout(ctx, 6*time.Minute)
	defer cancel()
	if err := l.up(ctx); err != nil {
		return err
	}
	if err := l.Install(ctx); err != nil {
		return err
	}
	var err error
	if l.token, err = l.Token(ctx, rig.Namespace, rig.ServiceAccount); err != nil {
		return err
	}
	if l.registry, err = l.openRegistry(); err != nil {
		return err
	}
	l.kinds, err = l.discover()
	return err
}

// up starts the control plane, at the second try if need be: an API server gives up when a busy machine lets it wait.
func (l *lane) up(ctx context.Context) error {
	args := []string{"--name", l.Name, "--nodes", "0", "--controllers", controllersOfLanes()}
	first := l.Up(ctx, args...)
	if first == nil {
		return nil
	}
	if err := l.Down(ctx); err != nil {
		return errors.Join(first, err)
	}
	return l.Up(ctx, args...)
}

// stop deletes the control plane, if there is one.
func (l *lane) stop(ctx context.Context) error {
	if !l.started {
		return nil
	}
	for _, name := range components() {
		if pid, err := l.componentPID(name); err == nil {
			l.note(name, pid)
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var engine error
	if l.engine != nil {
		engine = l.engine.Close()
	}
	err := errors.Join(engine, l.hypervisor.close(), l.registry.close(), l.Down(ctx))
	l.started = err != nil
	return err
}

// file returns a path in the directory of the lane, for the present run.
func (l *lane) file(name string) string {
	return filepath.Join(l.Dir, fmt.Sprintf("run-%d-%s", l.runs, name))
}

// cleanUp deletes what a run has left, so that the lane is as it was before.
func (l *lane) cleanUp(ctx context.Context, before snapshot) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := rig.Until(ctx, settled, func(ctx context.Context) error {
		after, err := l.snapshot(ctx)
		if err != nil {
			return err
		}
		var left []string
		for key, object := range after {
			if was, ok := before[key]; ok && was.GetUID() == object.GetUID() {
				continue
			}
			left = append(left, key)
			if err := client.IgnoreNotFound(l.discard(ctx, object.DeepCopy())); err != nil {
				return err
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("these are left: %s", strings.Join(left, ", "))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot clean up: %w", err)
	}
	return l.deleteEvents(ctx)
}

// discard deletes an object without waiting for its finalizers.
func (l *lane) discard(ctx context.Context, object *unstructured.Unstructured) error {
	if len(object.GetFinalizers()) > 0 {
		free := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		if err := l.Client.Patch(ctx, object, free); err != nil {
			return err
		}
	}
	return l.Client.Delete(ctx, object, client.GracePeriodSeconds(0))
}
