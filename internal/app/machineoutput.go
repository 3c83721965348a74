// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/gateway/api"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
)

// Output implements api.Hosts.
func (r *reach) Output(ctx context.Context, namespace, name string, tail int, follow bool) (io.ReadCloser, error) {
	driver, id, err := r.machine(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	out, err := driver.Output(ctx, id, machine.OutputOptions{Tail: tail, Follow: follow})
	return out, refusal(err)
}

// Console implements api.Hosts.
func (r *reach) Console(ctx context.Context, namespace, name string) (api.Console, error) {
	driver, id, err := r.machine(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	at, err := driver.Console(ctx, id)
	if err != nil {
		return nil, refusal(err)
	}
	return at, nil
}

// machine returns the machine of a VirtualMachine and the driver of its host.
func (r *reach) machine(ctx context.Context, namespace, name string) (machine.Driver, machine.Identity, error) {
	if r.machines == nil {
		return nil, machine.Identity{}, absent("virtualmachine")
	}
	var vm cloudnativev1alpha1.VirtualMachine
	if err := r.read(ctx, namespace, name, &vm); err != nil {
		return nil, machine.Identity{}, err
	}
	at := kube.PlacementOf(&vm)
	if at.Host == "" {
		return nil, machine.Identity{}, noMachine()
	}
	driver, ok := r.machines.Driver(at.Host)
	if !ok {
		return nil, machine.Identity{}, view.NewProblem(http.StatusConflict, "NotYet",
			fmt.Sprintf("Host %q is not configured. The condition Ready says more.", at.Host))
	}
	id := machine.Identity{Installation: r.installation, UID: string(kube.MachineUIDOf(&vm)), Namespace: vm.Namespace, Name: vm.Name}
	if id.UID == string(vm.UID) {
		return driver, id, nil
	}
	// The status names the machine, after a restore: it must be that of an object of this name.
	found, err := driver.Get(ctx, id)
	switch {
	case err != nil:
		return nil, machine.Identity{}, refusal(err)
	case found.Identity != id:
		return nil, machine.Identity{}, noMachine()
	}
	return driver, id, nil
}

// refusal turns what a driver says into a problem. Its words can name addresses, so they go to the log only.
func refusal(err error) error {
	var problem *view.Problem
	switch {
	case err == nil:
		return nil
	case errors.Is(err, machine.ErrNotFound):
		problem = noMachine()
	case errors.Is(err, machine.ErrUnsupported):
		problem = view.NewProblem(http.StatusNotImplemented, "Unsupported", "The host of this machine cannot do this.")
	case errors.Is(err, machine.ErrOff):
		problem = view.NewProblem(http.StatusConflict, "MachineOff", "The machine does not run: it is off or suspended.")
	case errors.Is(err, machine.ErrConsoleHeld):
		problem = view.NewProblem(http.StatusConflict, "ConsoleHeld",
			"The machine has one console, and somebody else has it open. Nobody is thrown out: ask them to leave, or wait.")
	case errors.Is(err, machine.ErrNoShell):
		problem = view.NewProblem(http.StatusNotImplemented, "NoShell",
			"The console of a container is the program /bin/sh of its image, which has none.")
	case errors.Is(err, machine.ErrBusy):
		problem = again(http.StatusTooManyRequests, "TooManyRequests", "The host of this machine serves as many readers as it can.")
	default:
		problem = again(http.StatusServiceUnavailable, "HostUnreachable", "The host of this machine does not answer.")
	}
	return fmt.Errorf("%w: %w", problem, err)
}

// noMachine is the problem of an object without a machine.
func noMachine() *view.Problem {
	return view.NewProblem(http.StatusConflict, "NotYet", "The object does not have a machine. Its condition Ready says why.")
}
