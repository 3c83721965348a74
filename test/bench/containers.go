// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	vmachine "github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

const (
	variantContainers = "containers"
	variantEngine     = "engine"
	// containerCount is how many containers are made at once.
	containerCount = 100
	// The limits of each container, which the host has for all of them.
	containerMilliCPU, containerMemory = 10, 32 << 20
)

// containers measures how long many VirtualMachines on a real container engine take until all of them are Active, against a bare loop of
// create and start with the engine's own client.
func containers(ctx context.Context, b *bench, r *controlPlane) (s section, err error) {
	s = section{Title: fmt.Sprintf("%d VirtualMachines created at once on a Docker Engine", containerCount)}
	if why := dockertest.Missing(); why != "" {
		return s, errors.New("there is no Docker Engine: " + why)
	}
	if err := r.addNamespace(ctx); err != nil {
		return s, err
	}
	engine, err := dockertest.Open(ctx)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	api, err := engine.Client()
	if err != nil {
		return s, err
	}
	p := &machineBench{
		plane: r, count: containerCount, hosts: filepath.Join(r.Dir, "engine.yaml"), new: newContainer,
		hostList: fmt.Sprintf("- {name: engine, driver: docker, endpoint: %q}\n", engine.Host().Endpoint), driver: vmachine.DriverDocker,
	}
	p.measure(&s, "bare loop of create and start")
	if err := p.writeHosts(); err != nil {
		return s, err
	}
	bare := &engineLoop{api: api, took: p.floor}
	err = b.interleave(ctx, variant{variantEngine, bare.run}, variant{variantContainers, p.machines})
	s.Ratios = append(s.Ratios, compare("containers to the bare loop of create and start", p.took, p.floor, 1.2))
	return s, err
}

// engineLoop makes the containers without Windlass.
type engineLoop struct {
	api  *client.Client
	took *series
}

// run makes and starts the containers, as many at a time as Windlass does, and removes them again, which is not measured.
func (l *engineLoop) run(ctx context.Context, round int) error {
	ids := make([]string, containerCount)
	begun := time.Now()
	err := forEach(ctx, vmachine.DefaultMaxCalls, containerCount, func(ctx context.Context, i int) (err error) {
		ids[i], err = l.start(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot start containers: %w", err)
	}
	l.took.add(round, time.Since(begun).Seconds())
	return forEach(ctx, vmachine.DefaultMaxCalls, containerCount, func(ctx context.Context, i int) error {
		_, err := l.api.ContainerRemove(ctx, ids[i], client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		return err
	})
}

// start makes and starts one container.
func (l *engineLoop) start(ctx context.Context) (string, error) {
	made, err := l.api.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config: &container.Config{Image: cloudnativev1alpha1.DefaultImage},
		HostConfig: &container.HostConfig{Resources: container.Resources{
			NanoCPUs: containerMilliCPU * 1e6, Memory: containerMemory, MemorySwap: containerMemory,
		}},
	})
	if err != nil {
		return "", err
	}
	_, err = l.api.ContainerStart(ctx, made.ID, client.ContainerStartOptions{})
	return made.ID, err
}

func newContainer(name string) *cloudnativev1alpha1.VirtualMachine {
	vm := newMachine(name)
	vm.Spec.Resource = corev1.ResourceList{
		cloudnativev1alpha1.ResourceCPU:    *resource.NewMilliQuantity(containerMilliCPU, resource.DecimalSI),
		cloudnativev1alpha1.ResourceMemory: *resource.NewQuantity(containerMemory, resource.BinarySI),
	}
	vm.Spec.PowerOff.Mode = cloudnativev1alpha1.PowerOffHard
	return vm
}
