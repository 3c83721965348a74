// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/gateway/api"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
)

// reach is how the HTTP API of the manager's process reaches what runs outside of the cluster. Controllers fill it when they are added.
type reach struct {
	// leading is closed when this instance is the leader, which alone connects to hosts.
	leading <-chan struct{}
	// machines are the hosts, nil without the controller of VirtualMachines.
	machines *fleet.Fleet
	// objects has the VirtualMachines.
	objects      client.Reader
	installation string
}

// hosts returns what the HTTP API reaches hosts with, nil for a process that does not.
func (r *reach) hosts() api.Hosts {
	if r.machines == nil {
		return nil
	}
	return r
}

// Output implements api.Hosts.
func (r *reach) Output(ctx context.Context, namespace, name string, tail int, follow bool) (io.ReadCloser, error) {
	driver, id, err := r.machine(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	out, err := driver.Output(ctx, id, machine.OutputOptions{Tail: tail, Follow: follow})
	return out, refusal(err)
}

// machine returns the machine of a VirtualMachine and the driver of its host.
func (r *reach) machine(ctx context.Context, namespace, name string) (machine.Driver, machine.Identity, error) {
	if !r.isLeading() {
		return nil, machine.Identity{}, again(http.StatusServiceUnavailable, "NotLeading",
			"This instance is not the leader, which alone reaches hosts. Ask the leader, or try again: this instance may become it.")
	}
	var vm cloudnativev1alpha1.VirtualMachine
	err := r.objects.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &vm)
	if apierrors.IsNotFound(err) {
		return nil, machine.Identity{}, view.NewProblem(http.StatusNotFound, "NotFound", err.Error())
	}
	if err != nil {
		return nil, machine.Identity{}, fmt.Errorf("cannot read VirtualMachine %s/%s: %w", namespace, name, err)
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
	return driver, machine.Identity{Installation: r.installation, UID: string(vm.UID), Namespace: vm.Namespace, Name: vm.Name}, nil
}

func (r *reach) isLeading() bool {
	select {
	case <-r.leading:
		return true
	default:
		return false
	}
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

// again returns a problem that can pass.
func again(status int, code view.Code, detail string) *view.Problem {
	out := view.NewProblem(status, code, detail)
	out.RetryAfter = "2"
	return out.With(view.ParameterSeconds, out.RetryAfter)
}
