// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/gateway/api"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/provision"
)

// reach is how the HTTP API of the manager's process reaches what runs outside of the cluster: it is the api.Hosts of that API. Controllers
// fill it when they are added.
type reach struct {
	// leading is closed when this instance is the leader, which alone connects to hosts and follows runs.
	leading <-chan struct{}
	// objects has the VirtualMachines and Clusters.
	objects client.Reader

	// machines are the hosts, nil without the controller of VirtualMachines.
	machines     *fleet.Fleet
	installation string

	// tools has the runs, nil without the controller of Clusters. kept has the ConfigMaps of those that have ended, in the namespace.
	tools     provision.Provisioner
	kept      client.Reader
	namespace string
	// followers has a slot for each run that is followed.
	followers chan struct{}
}

// newReach returns a reach that controllers have not filled yet.
func newReach(objects client.Reader, leading <-chan struct{}) *reach {
	return &reach{objects: objects, leading: leading, followers: make(chan struct{}, maxFollowers)}
}

// hosts returns what the HTTP API reaches hosts with, nil for a process that does not.
func (r *reach) hosts() api.Hosts {
	if r.machines == nil && r.tools == nil {
		return nil
	}
	return r
}

// read reads an object of the cache, if this instance is the leader.
func (r *reach) read(ctx context.Context, namespace, name string, into client.Object) error {
	select {
	case <-r.leading:
	default:
		return again(http.StatusServiceUnavailable, "NotLeading",
			"This instance is not the leader, which alone reaches hosts. Ask the leader, or try again: this instance may become it.")
	}
	err := r.objects.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into)
	if apierrors.IsNotFound(err) {
		return view.NewProblem(http.StatusNotFound, "NotFound", err.Error())
	}
	if err != nil {
		return fmt.Errorf("cannot read %T %s/%s: %w", into, namespace, name, err)
	}
	return nil
}

// absent is the problem of a process without the controller.
func absent(controller string) *view.Problem {
	return view.NewProblem(http.StatusNotImplemented, "NoHosts",
		fmt.Sprintf("This manager runs without the controller %q, so it does not reach what you ask for. Ask the manager that runs it.", controller))
}

// again returns a problem that can pass.
func again(status int, code view.Code, detail string) *view.Problem {
	out := view.NewProblem(status, code, detail)
	out.RetryAfter = "2"
	return out.With(view.ParameterSeconds, out.RetryAfter)
}
