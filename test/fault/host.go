// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/windlass-operator/windlass/internal/machine"
)

// hostPrefix marks what is on a host of machines, or on the machine of a tool, among effects and in states.
const hostPrefix = "host:"

// lossPrefix marks how much was removed with its data, which is not there.
const lossPrefix = hostPrefix + "lost/"

// onHost names it.
func onHost(driver, resource, name string) string {
	return hostPrefix + driver + "/" + resource + "/" + name
}

// isOnHost reports whether an effect is one on a host.
func isOnHost(e effect) bool { return strings.HasPrefix(e.Object, hostPrefix) }

// hostCall is a call of a host that can crash as the manager can.
type hostCall interface {
	call

	// crash ends what serves the call as a power cut would, and starts it again.
	crash()
}

// crashHost ends the host of a call if it can crash.
func crashHost(c call) {
	if c, ok := c.(hostCall); ok {
		c.crash()
	}
}

// interrupts reports whether a fault ends machines: with the host that they run on, or with the manager that simulates them. The number of starts is
// also another one, and rightly so, where a fault is between the record that a machine is about to run, which libvirt keeps, and its start; and where an
// old container cannot be removed, so that it runs once more.
func interrupts(sc *scenario, f *fault) bool {
	between := isOnHost(f.Effect) && (f.Effect.Verb == "set-metadata" || f.Effect.Verb == "delete")
	return f.Variant.host || between || sc.volatile && strings.HasPrefix(f.Variant.name, "kill-")
}

// hasMachine reports whether a state has a VirtualMachine of that name.
func hasMachine(s state, name string) bool {
	for key := range s {
		if strings.HasPrefix(key, "virtualmachines.") && strings.HasSuffix(key, "/"+name) {
			return true
		}
	}
	return false
}

// uninterrupted returns a state without what tells of a machine that ended and was started again. An engine that is killed while it makes a
// container forgets it, but not the volume that it has made for it: nobody can know whose that was. Nor does it know with which code a container
// ended that ended with it. Of machines that are deleted, nobody can tell whether they had run: an engine that is killed does not answer the calls for others either.
func uninterrupted(s state) state {
	out := maps.Clone(s)
	delete(out, onHost(machine.DriverDocker, "volumes", ""))
	maps.DeleteFunc(out, func(key string, _ any) bool {
		name, isLoss := strings.CutPrefix(key, lossPrefix)
		return isLoss && !hasMachine(s, name)
	})
	for key, object := range s {
		content, ok := object.(map[string]any)
		if !ok || !strings.HasPrefix(key, "virtualmachines.") {
			continue
		}
		copied := runtime.DeepCopyJSON(content)
		for _, field := range []string{"restartCount", "startFailure", "reason"} {
			unstructured.RemoveNestedField(copied, "status", field)
		}
		unstructured.RemoveNestedField(copied, "status", "server", "exitCode")
		unstructured.RemoveNestedField(copied, "metadata", "managedFields") // which name these fields
		out[key] = copied
	}
	return out
}

// state adds what is on hosts to the state of the cluster, and returns what is compared of it.
func (s *stage) state(ctx context.Context, of state) (state, error) {
	for _, look := range s.hosts {
		if err := look(ctx, of); err != nil {
			return nil, err
		}
	}
	return s.comparable(of), nil
}

// onHosts returns what is on hosts now.
func (s *stage) onHosts(ctx context.Context) (state, error) {
	all, err := s.state(ctx, state{})
	maps.DeleteFunc(all, func(key string, _ any) bool { return strings.HasPrefix(key, lossPrefix) })
	return all, err
}

// comparable returns what is compared of a state.
func (s *stage) comparable(of state) state {
	if s.interrupted {
		return uninterrupted(of)
	}
	return of
}
