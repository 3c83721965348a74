// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"fmt"
	"strings"

	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// engine is a private Docker Engine with the hosts of faults.
type engine struct {
	*dockertest.Daemon

	api *client.Client
}

// startEngines starts two engines: that of all faults, and one that a fault stops.
func (w *world) startEngines(ctx context.Context) (err error) {
	if missing := dockertest.Missing(); missing != "" {
		w.lacking[realEngine] = "no Docker Engine: " + missing
		return nil
	}
	for _, one := range []*engine{&w.engine, &w.doomed} {
		if one.Daemon, err = dockertest.Open(ctx); err != nil {
			return err
		}
		if one.api, err = one.Client(); err != nil {
			return err
		}
	}
	return nil
}

// close ends the engine, if there is one.
func (e *engine) close() error {
	if e.Daemon == nil {
		return nil
	}
	if e.api != nil {
		_ = e.api.Close() // the engine goes anyway
	}
	return e.Close()
}

// dockerHosts are the hosts of the faults on Docker, one for each.
func (w *world) dockerHosts() string {
	if w.engine.Daemon == nil {
		return ""
	}
	text := &strings.Builder{}
	for _, f := range dockerFaults() {
		on := &w.engine
		if f.id == doomed {
			on = &w.doomed
		}
		policy := ""
		if f.id == unreachable {
			policy = `, containers: {registries: ["127.0.0.1:1"]}`
		}
		fmt.Fprintf(text, "- {name: %s, driver: docker, endpoint: \"unix://%s\", namespaces: [%s]%s}\n", f.id, on.Socket(), f.id, policy)
	}
	return text.String()
}

// onHost does something to the container of the fault, as somebody would who has access to the host.
func onHost(does string, do func(ctx context.Context, api *client.Client, container string) error) step {
	return step{does, func(ctx context.Context, r *trial) error { return do(ctx, r.engine.api, r.fault.id) }}
}

func removeContainer() step {
	return onHost("remove the container", func(ctx context.Context, api *client.Client, container string) error {
		_, err := api.ContainerRemove(ctx, container, client.ContainerRemoveOptions{Force: true})
		return err
	})
}

func pauseContainer() step {
	return onHost("pause the container", func(ctx context.Context, api *client.Client, container string) error {
		_, err := api.ContainerPause(ctx, container, client.ContainerPauseOptions{})
		return err
	})
}

// powerCut ends the engine that a fault stops.
func powerCut() step {
	return step{"end the engine", func(_ context.Context, r *trial) error {
		r.doomed.Kill()
		return nil
	}}
}

// The faults whose hosts are not like the others.
const doomed, unreachable = "docker-stopped", "docker-registry-down"

// container is a VirtualMachine in Docker, with a name that its container gets, more of its spec, and its image.
func container(spec, image string) step {
	return have(`{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: $}, spec: {driver: docker, host: $, image: {` + image + `}, ` + spec + `}}`)
}

// dockerFaults are of machines that are real containers.
func dockerFaults() []fault {
	const guest, size, is = `name: "` + dockertest.Image + `"`, `resource: {cpu: 100m, memory: 64Mi}`, "VirtualMachine/$ status.conditions[*]"
	runs := until("vm/$", "status.conditions[Ready]", "True")
	faults := []fault{
		{
			name: "The image is not on the host and must not be pulled", id: "docker-image", steps: []step{container(size, `name: "causes.invalid/app:1", pullPolicy: Never`)},
			code: "ImageNotFound", message: "causes.invalid/app:1",
		},
		{
			name: "Nothing listens where the image should come from", id: unreachable, steps: []step{container(size, `name: "127.0.0.1:1/app:1"`)},
			code: "ImagePullFailed", message: "127.0.0.1:1", shows: "ImagePullFailed",
		},
		{
			name: "The host must not fetch images from the registry", id: "docker-registry", steps: []step{container(size, `name: "127.0.0.1:1/app:1"`)},
			code: "NotAllowed", message: "containers.registries",
		},
		{
			name: "The command crashes again and again", id: "docker-crash", steps: []step{container(size+`, args: [-listen, "nowhere:none"]`, guest)},
			code: "Crashed", message: "exit code 1", shows: "cannot listen",
		},
		{
			name: "The image does not have the command", id: "docker-program", steps: []step{container(size+`, command: [/no/such/program]`, guest)},
			code: "InvalidSpec", message: "/no/such/program",
		},
		{
			name: "The engine of the machine has stopped", id: doomed, steps: []step{container(size, guest), runs, powerCut()},
			code: "DriverUnreachable", message: doomed, shows: "DriverUnreachable",
		},
		{
			name: "No host has that many processors", id: "docker-cpus", steps: []step{container(`resource: {cpu: 900, memory: 64Mi}`, guest)},
			code: "NoCapacity", message: "900 needed",
		},
		{
			name: "The machine is to become larger than the real host", id: "docker-grows",
			steps: []step{container(size, guest), runs, change("vm/$", `spec: {resource: {cpu: 900}}`)},
			code:  "NoCapacity", message: "cannot resize",
		},
		{
			name: "Somebody removed the container of a machine that runs once", id: "docker-lost", steps: []step{container(size+`, runStrategy: Once`, guest), runs, removeContainer()},
			code: "InstanceLost", message: "disappeared from host", cures: true,
		},
		{
			name: "Somebody removed the container of a suspended machine", id: "docker-lost-suspended",
			steps: []step{
				container(size, guest), runs, change("vm/$", `spec: {runStrategy: Suspended}`), until("vm/$", "status.phase", "Suspended"), removeContainer(),
			},
			code: "InstanceLost", message: "disappeared from host", cures: true,
		},
		{
			name: "Somebody paused the container", id: "docker-held", steps: []step{container(size, guest), runs, pauseContainer()},
			code: "Held", message: "suspended on its host", cures: true,
		},
		{
			name: "The container ignores that it is to stop", id: "docker-stubborn",
			steps: []step{container(size+`, args: [-ignore], powerOff: {mode: Soft, gracePeriodSeconds: 1}`, guest), runs, change("vm/$", `spec: {runStrategy: Halted}`)},
			code:  "StopFailed", shows: "StopFailed",
		},
		{
			name: "The machine is to be smaller than Docker accepts", id: "docker-small", steps: []step{container(size, guest), runs, change("vm/$", `spec: {resource: {memory: 4Mi}}`)},
			code: "InvalidSpec", message: "memory",
		},
		{
			name: "The host does not publish the port", id: "docker-port", steps: []step{container(size+`, ports: [{port: 80, hostPort: 81}]`, guest)},
			code: "NotAllowed", message: "hostPort 81",
		},
		{
			name: "The machine asks for a root disk, which a container does not have", id: "docker-disk",
			steps: []step{container(`resource: {cpu: 100m, memory: 64Mi, rootDisk: 1Gi}`, guest), runs},
			code:  "NoRootDisk", message: "rootDisk",
		},
		{
			name: "New arguments wait for a restart", id: "docker-changed", steps: []step{container(size, guest), runs, change("vm/$", `spec: {args: [-burn]}`)},
			code: "SpecChanged", cures: true,
		},
	}
	for i := range faults {
		faults[i].ask, faults[i].evidence, faults[i].needs = "virtualmachines/$/$", is, realEngine
	}
	return faults
}
