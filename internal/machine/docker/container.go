// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

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

// optionsOf translates a spec and the policy for containers.
func optionsOf(spec machine.Spec, policy machine.ContainerPolicy) (client.ContainerCreateOptions, error) {
	if err := check(spec); err != nil {
		return client.ContainerCreateOptions{}, err
	}
	exposed, published, err := portsOf(spec.Ports, policy.Ports)
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
			Resources:     confine(limitsOf(spec.Resources), policy),
			SecurityOpt:   securityOf(policy),
			CapDrop:       []string{"ALL"},
			CapAdd:        capabilitiesOf(policy),
			LogConfig:     logOf(policy),
			PortBindings:  published,
			RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		},
	}, nil
}

// confine adds the limit of processes to the limits of a new container.
func confine(limits container.Resources, policy machine.ContainerPolicy) container.Resources {
	if processes := cmp.Or(policy.MaxProcesses, machine.DefaultMaxProcesses); processes > 0 {
		limits.PidsLimit = &processes
	}
	return limits
}

// securityOf returns the security options of a new container.
func securityOf(policy machine.ContainerPolicy) []string {
	if policy.AllowPrivilegeEscalation {
		return nil
	}
	return []string{"no-new-privileges"}
}

// capabilitiesOf returns the capabilities of a new container, which loses all others.
func capabilitiesOf(policy machine.ContainerPolicy) []string {
	if policy.Capabilities == nil {
		return machine.DefaultCapabilities()
	}
	return policy.Capabilities
}

// logFiles is how many files keep the output of a container. A full one replaces the oldest.
const logFiles = 3

// logOf bounds the output that the engine keeps. Its log driver stays the one that the engine is configured with.
func logOf(policy machine.ContainerPolicy) container.LogConfig {
	limit := cmp.Or(policy.MaxLogBytes, machine.DefaultMaxLogBytes)
	if limit < 0 {
		return container.LogConfig{}
	}
	return container.LogConfig{Config: map[string]string{
		"max-size": strconv.FormatInt(max(limit/logFiles, 1), 10), "max-file": strconv.Itoa(logFiles),
	}}
}

// check refuses a spec that no engine can run, or with fields that are not for containers.
func check(spec machine.Spec) error {
	switch {
	case spec.Installation == "" || spec.UID == "":
		return fmt.Errorf("%w: the machine has no identity", machine.ErrInvalid)
	case spec.Image.Name == "":
		return fmt.Errorf("%w: the machine has no image", machine.ErrInvalid)
	case len(namesOf(spec.Identity)) == 0:
		return fmt.Errorf("%w: the engine does not accept its name and namespace in the name of a container", machine.ErrInvalid)
	case spec.Boot != (machine.Boot{}) || len(spec.Disks) > 0 || len(spec.Networks) > 0 || !spec.CloudInit.IsZero():
		return fmt.Errorf("%w: a container has no boot, disks, networks and cloud-init", machine.ErrUnsupported)
	}
	for _, variable := range spec.Env {
		if variable.Name == "" || strings.ContainsAny(variable.Name, "=\x00") || strings.Contains(variable.Value, "\x00") {
			return fmt.Errorf("%w: %.64q is not a valid environment variable", machine.ErrInvalid, variable.Name)
		}
	}
	return checkSize(spec.Resources)
}

func checkSize(size machine.Resources) error {
	switch {
	case size.RootDiskBytes != 0:
		return fmt.Errorf("%w: a container has no root disk of a size of its own", machine.ErrUnsupported)
	case size.MilliCPU < 0 || size.MilliCPU > 0 && size.MilliCPU < minMilliCPU:
		return fmt.Errorf("%w: %dm of CPU is less than the minimum of an engine, %dm", machine.ErrInvalid,
			size.MilliCPU, minMilliCPU)
	case size.MemoryBytes < 0:
		return fmt.Errorf("%w: memory is negative", machine.ErrInvalid)
	}
	return nil
}

// limitsOf translates a size. It sets the limit of memory and swap together to the memory limit, so there is no swap. If only memory were
// set, the engine would set the sum to twice as much, and refuse to raise memory beyond that later.
func limitsOf(size machine.Resources) container.Resources {
	return container.Resources{
		NanoCPUs:   size.MilliCPU * nanosPerMilli,
		Memory:     size.MemoryBytes,
		MemorySwap: size.MemoryBytes,
	}
}

// portsOf translates ports, and refuses those that the policy does not allow. Ports without a host IP are published on the loopback
// address.
func portsOf(ports []machine.Port, policy machine.PortPolicy) (network.PortSet, network.PortMap, error) {
	exposed, published := network.PortSet{}, network.PortMap{}
	for _, port := range ports {
		protocol := network.IPProtocol(strings.ToLower(string(port.Protocol)))
		switch protocol {
		case "":
			protocol = network.TCP
		case network.TCP, network.UDP:
		default:
			return nil, nil, fmt.Errorf("%w: port %d has protocol %.16q: must be TCP or UDP", machine.ErrInvalid, port.Port, port.Protocol)
		}
		inside, ok := network.PortFrom(port.Port, protocol)
		if !ok || port.Port == 0 {
			return nil, nil, fmt.Errorf("%w: %d is not a valid port", machine.ErrInvalid, port.Port)
		}
		address := netip.AddrFrom4([4]byte{127, 0, 0, 1})
		if port.HostIP != "" {
			var err error
			if address, err = netip.ParseAddr(port.HostIP); err != nil {
				return nil, nil, fmt.Errorf("%w: port %d has host IP %.64q, which is not an IP address", machine.ErrInvalid,
					port.Port, port.HostIP)
			}
		}
		if err := allowPort(port, address, policy); err != nil {
			return nil, nil, err
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

// allowPort refuses a port that the policy does not allow, and says what it allows.
func allowPort(port machine.Port, address netip.Addr, policy machine.PortPolicy) error {
	address = address.Unmap()
	allowed := func(own netip.Addr) bool { return own == address || own.IsUnspecified() && own.Is4() == address.Is4() }
	switch {
	case policy.Addresses == nil && !address.IsLoopback():
		return fmt.Errorf("%w: port %d has hostIP %s: the host publishes ports on its loopback addresses only; the administrator can "+
			"allow more with containers.ports in the hosts file", machine.ErrNotAllowed, port.Port, address)
	case policy.Addresses != nil && !slices.ContainsFunc(policy.Addresses, allowed):
		return fmt.Errorf("%w: port %d has hostIP %s: the host publishes ports on %v", machine.ErrNotAllowed, port.Port, address,
			policy.Addresses)
	}
	first, last := policy.First, policy.Last
	if first == 0 && last == 0 {
		first, last = machine.DefaultFirstPort, machine.DefaultLastPort
	}
	if port.HostPort != 0 && (port.HostPort < first || port.HostPort > last) {
		return fmt.Errorf("%w: port %d has hostPort %d: the host publishes ports %d to %d", machine.ErrNotAllowed, port.Port,
			port.HostPort, first, last)
	}
	return nil
}
