// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The engine counts processors in billionths, and refuses less than a hundredth of one.
const (
	nanosPerMilli = 1_000_000
	minMilliCPU   = 10
)

// Create implements machine.Driver.
func (d *driver) Create(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
	observed, err := d.get(ctx, spec.Identity)
	if !errors.Is(err, machine.ErrNotFound) {
		return observed, err
	}
	options, err := optionsOf(spec)
	if err != nil {
		return machine.Observed{}, fmt.Errorf("cannot create a container for machine %q: %w", spec.UID, err)
	}
	return d.create(ctx, spec, options)
}

// create makes the container under the first name that is free.
func (d *driver) create(ctx context.Context, spec machine.Spec, options client.ContainerCreateOptions) (machine.Observed, error) {
	var taken error
	for _, name := range namesOf(spec.Identity) {
		options.Name = name
		what := fmt.Sprintf("create container %q", name)
		created, err := d.api.ContainerCreate(ctx, options)
		switch {
		case err == nil:
			return d.created(ctx, created.ID)
		case errdefs.IsConflict(err):
			// It may be ours, made at this moment by another manager.
			observed, lookErr := d.get(ctx, spec.Identity)
			if !errors.Is(lookErr, machine.ErrNotFound) {
				return observed, lookErr
			}
			taken = fmt.Errorf("cannot %s: %w: %w", what, machine.ErrConflict, err)
		case errdefs.IsNotFound(err):
			return machine.Observed{}, fmt.Errorf("cannot %s: %w: %w", what, machine.ErrImageNotFound, err)
		default:
			return machine.Observed{}, d.explainSize(ctx, what, spec.Resources, err)
		}
	}
	return machine.Observed{}, taken
}

// created observes a container that has just been made.
func (d *driver) created(ctx context.Context, id string) (machine.Observed, error) {
	observed, err := d.inspect(ctx, id)
	if errors.Is(err, errGone) {
		err = fmt.Errorf("cannot inspect new container %.12q: somebody removed it: %w", id, machine.ErrNotFound)
	}
	return observed, err
}

// explainSize explains a failure that may be because of the size: the engine has one kind of error for what no host has and for what this
// host has not.
func (d *driver) explainSize(ctx context.Context, what string, size machine.Resources, err error) error {
	if !errdefs.IsInvalidArgument(err) {
		return explain(ctx, what, err)
	}
	info, infoErr := d.Info(ctx)
	if infoErr == nil && size.MilliCPU > info.Capacity.MilliCPU {
		return fmt.Errorf("cannot %s: %w: %w", what, machine.ErrNoCapacity, err)
	}
	return explain(ctx, what, err)
}

// optionsOf translates the spec.
func optionsOf(spec machine.Spec) (client.ContainerCreateOptions, error) {
	if err := check(spec); err != nil {
		return client.ContainerCreateOptions{}, err
	}
	exposed, published, err := portsOf(spec.Ports)
	if err != nil {
		return client.ContainerCreateOptions{}, err
	}
	env := make([]string, 0, len(spec.Env))
	for _, variable := range spec.Env {
		env = append(env, variable.Name+"="+variable.Value)
	}
	return client.ContainerCreateOptions{
		Config: &container.Config{
			Image:        spec.Image.Name,
			Entrypoint:   spec.Command,
			Cmd:          spec.Args,
			Env:          env,
			ExposedPorts: exposed,
			Labels:       labelsOf(spec),
		},
		HostConfig: &container.HostConfig{
			Resources:     limitsOf(spec.Resources),
			PortBindings:  published,
			RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		},
	}, nil
}

// check refuses what no engine can do, and what this driver has no use for.
func check(spec machine.Spec) error {
	switch {
	case spec.Installation == "" || spec.UID == "":
		return fmt.Errorf("%w: it has no identity", machine.ErrInvalid)
	case spec.Image.Name == "":
		return fmt.Errorf("%w: it has no image", machine.ErrInvalid)
	case len(namesOf(spec.Identity)) == 0:
		return fmt.Errorf("%w: neither its name nor its namespace can be part of a container's name", machine.ErrInvalid)
	case spec.Boot != (machine.Boot{}) || len(spec.Disks) > 0 || len(spec.Networks) > 0 || !spec.CloudInit.IsZero():
		return fmt.Errorf("%w: boot, disks, networks and cloud-init are for guests", machine.ErrUnsupported)
	}
	for _, variable := range spec.Env {
		if variable.Name == "" || strings.ContainsAny(variable.Name, "=\x00") || strings.Contains(variable.Value, "\x00") {
			return fmt.Errorf("%w: %.64q cannot be a variable of the environment", machine.ErrInvalid, variable.Name)
		}
	}
	return checkSize(spec.Resources)
}

func checkSize(size machine.Resources) error {
	switch {
	case size.RootDiskBytes != 0:
		return fmt.Errorf("%w: a container has no root disk of its own size", machine.ErrUnsupported)
	case size.MilliCPU < 0 || size.MilliCPU > 0 && size.MilliCPU < minMilliCPU:
		return fmt.Errorf("%w: %d thousandths of a CPU are less than the %d that an engine can give", machine.ErrInvalid,
			size.MilliCPU, minMilliCPU)
	case size.MemoryBytes < 0:
		return fmt.Errorf("%w: its memory is negative", machine.ErrInvalid)
	}
	return nil
}

// limitsOf translates the size. Memory and swap go together: an engine that is told only the one makes the other twice as much, and refuses
// to raise it beyond that later. With both equal there is no swap, and memory means memory.
func limitsOf(size machine.Resources) container.Resources {
	return container.Resources{
		NanoCPUs:   size.MilliCPU * nanosPerMilli,
		Memory:     size.MemoryBytes,
		MemorySwap: size.MemoryBytes,
	}
}

// portsOf translates the ports. They are published on the loopback address unless somebody wants them elsewhere.
func portsOf(ports []machine.Port) (network.PortSet, network.PortMap, error) {
	exposed, published := network.PortSet{}, network.PortMap{}
	for _, port := range ports {
		protocol := network.IPProtocol(strings.ToLower(string(port.Protocol)))
		switch protocol {
		case "":
			protocol = network.TCP
		case network.TCP, network.UDP:
		default:
			return nil, nil, fmt.Errorf("%w: port %d has the protocol %.16q", machine.ErrInvalid, port.Port, port.Protocol)
		}
		inside, ok := network.PortFrom(port.Port, protocol)
		if !ok || port.Port == 0 {
			return nil, nil, fmt.Errorf("%w: %d is no port", machine.ErrInvalid, port.Port)
		}
		address := netip.AddrFrom4([4]byte{127, 0, 0, 1})
		if port.HostIP != "" {
			var err error
			if address, err = netip.ParseAddr(port.HostIP); err != nil {
				return nil, nil, fmt.Errorf("%w: port %d is to be published on %.64q, which is no address", machine.ErrInvalid,
					port.Port, port.HostIP)
			}
		}
		binding := network.PortBinding{HostIP: address}
		if port.HostPort != 0 {
			binding.HostPort = strconv.Itoa(int(port.HostPort))
		}
		exposed[inside] = struct{}{}
		published[inside] = append(published[inside], binding)
	}
	return exposed, published, nil
}
