// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Get implements machine.Driver.
func (d *driver) Get(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	return d.get(ctx, id)
}

func (d *driver) get(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	found, err := d.find(ctx, id)
	if err != nil {
		return machine.Observed{}, err
	}
	if len(found) == 0 {
		return machine.Observed{}, notFound(id)
	}
	observed, err := d.inspect(ctx, found[0].ID)
	if errors.Is(err, errGone) {
		err = fmt.Errorf("cannot inspect the container of machine %q: %w", id.UID, machine.ErrNotFound)
	}
	observed.Replacing = hasSuccessor(found, found[0].ID)
	return observed, err
}

// hasSuccessor reports whether one of the containers was made to replace that one.
func hasSuccessor(all []container.Summary, id string) bool {
	return slices.ContainsFunc(all, func(c container.Summary) bool { return c.Labels[labelReplaces] == id })
}

// List implements machine.Driver.
func (d *driver) List(ctx context.Context, installation string) ([]machine.Observed, error) {
	all, err := d.list(ctx, within(installation))
	if err != nil {
		return nil, err
	}
	out, err := each(ctx, parallel, machines(slices.Clone(all)), func(ctx context.Context, c container.Summary) (machine.Observed, error) {
		observed, late, err := machine.Briefly(ctx, func(ctx context.Context) (machine.Observed, error) { return d.inspect(ctx, c.ID) })
		switch {
		case late:
			return listed(c), nil
		case errors.Is(err, errGone):
			return machine.Observed{}, nil
		}
		observed.Replacing = hasSuccessor(all, c.ID)
		return observed, err
	})
	return slices.DeleteFunc(out, func(o machine.Observed) bool { return o.ID == "" }), err
}

// listed is what the list of the engine tells of a container.
func listed(c container.Summary) machine.Observed {
	out := machine.Observed{Identity: identityOf(c.Labels), ID: c.ID, Silent: true, State: machine.StateUnknown}
	if len(c.Names) > 0 {
		out.NativeName = strings.TrimPrefix(c.Names[0], "/")
	}
	return out
}

// errGone says that a container was removed after it had been listed.
var errGone = errors.New("container no longer exists")

// inspect observes a container. errGone if it was removed in the meantime.
func (d *driver) inspect(ctx context.Context, id string) (machine.Observed, error) {
	result, err := d.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(err) {
		return machine.Observed{}, errGone
	}
	if err != nil {
		return machine.Observed{}, explain(ctx, "inspect a container", err)
	}
	return observe(result.Container), nil
}

// observe translates a container.
func observe(c container.InspectResponse) machine.Observed {
	out := machine.Observed{
		ID:         c.ID,
		NativeName: strings.TrimPrefix(c.Name, "/"),
		State:      machine.StateUnknown,
		CreatedAt:  moment(c.Created),
	}
	if c.Config != nil {
		out.Identity, out.SpecHash = identityOf(c.Config.Labels), c.Config.Labels[labelHash]
	}
	if c.HostConfig != nil {
		out.Resources = resourcesOf(c.HostConfig.Resources)
	}
	if c.State == nil {
		return out
	}
	out.State = stateOf(c.State.Status)
	out.StartedAt, out.FinishedAt = moment(c.State.StartedAt), moment(c.State.FinishedAt)
	switch out.State {
	case machine.StateStopped:
		out.ExitCode = exitCodeOf(c.State)
		out.Cause = causeOf(c.State)
	case machine.StateCreated:
		out.Cause = causeOf(c.State) // of a start that failed
	case machine.StateRunning, machine.StatePaused:
		out.Addresses, out.Ports = networkOf(c.NetworkSettings)
	default:
	}
	return out
}

// exitCodeOf returns the exit code of a container that is off. It has eight bits.
func exitCodeOf(state *container.State) *int32 {
	if state.ExitCode < 0 || state.ExitCode > math.MaxUint8 {
		return nil
	}
	return new(int32(state.ExitCode))
}

// stateOf translates the states of the engine.
func stateOf(state container.ContainerState) machine.State {
	switch state {
	case container.StateCreated:
		return machine.StateCreated
	case container.StateRunning:
		return machine.StateRunning
	case container.StatePaused:
		return machine.StatePaused
	case container.StateRemoving:
		return machine.StateStopping
	case container.StateExited, container.StateDead, container.StateRestarting:
		// A restarting container is off. The engine is about to start it, because somebody changed its restart policy.
		return machine.StateStopped
	default:
		return machine.StateUnknown
	}
}

// causeOf says why a container is off; empty if it was stopped in order.
func causeOf(state *container.State) string {
	switch {
	case state.OOMKilled:
		return "OOMKilled"
	case state.Error != "":
		return state.Error
	case state.Status == container.StateDead:
		return "dead: the engine could not remove it"
	default:
		return ""
	}
}

// resourcesOf translates the limits of a container.
func resourcesOf(r container.Resources) machine.Resources {
	return machine.Resources{MilliCPU: r.NanoCPUs / nanosPerMilli, MemoryBytes: r.Memory}
}

// networkOf returns the addresses of a running container and its ports on the host, both sorted.
func networkOf(settings *container.NetworkSettings) (addresses []string, ports []machine.Port) {
	if settings == nil {
		return nil, nil
	}
	for _, endpoint := range settings.Networks {
		if endpoint.IPAddress.IsValid() {
			addresses = append(addresses, endpoint.IPAddress.String())
		}
		if endpoint.GlobalIPv6Address.IsValid() {
			addresses = append(addresses, endpoint.GlobalIPv6Address.String())
		}
	}
	slices.Sort(addresses)
	for port, bindings := range settings.Ports {
		for _, binding := range bindings {
			ports = append(ports, portOf(port, binding))
		}
	}
	slices.SortFunc(ports, func(a, b machine.Port) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.HostIP, b.HostIP),
			cmp.Compare(a.HostPort, b.HostPort))
	})
	return addresses, ports
}

func portOf(port network.Port, binding network.PortBinding) machine.Port {
	out := machine.Port{Port: port.Num(), Protocol: machine.Protocol(strings.ToUpper(string(port.Proto())))}
	if binding.HostIP.IsValid() {
		out.HostIP = binding.HostIP.String()
	}
	if number, err := strconv.ParseUint(binding.HostPort, 10, 16); err == nil {
		out.HostPort = uint16(number)
	}
	return out
}

// moment parses a time of the engine. The engine writes the first of January of the year 1 for never.
func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Year() <= 1 {
		return time.Time{}
	}
	return at
}
