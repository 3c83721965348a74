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

	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// onDocker has the machines of a scenario run on a Docker Engine, which all runs on a lane share. It is a setUp.
func onDocker(s *stage) (func() error, error) {
	if err := s.startEngine(); err != nil {
		return nil, err
	}
	proxy, err := newEngineProxy(filepath.Join(s.Dir, "engine.sock"), s.engine, s.effects)
	if err != nil {
		return nil, err
	}
	hosts := filepath.Join(s.Dir, "hosts.yaml")
	list := fmt.Sprintf("hosts:\n- {name: host, driver: docker, endpoint: \"unix://%s\"}\n", proxy.socket)
	if err := os.WriteFile(hosts, []byte(list), 0o600); err != nil {
		return nil, errors.Join(err, proxy.close())
	}
	s.args = append(s.args, "--vm-driver=docker", "--vm-hosts="+hosts)
	s.hosts = append(s.hosts, s.seeEngine)
	return func() error { return errors.Join(proxy.close(), s.emptyEngine()) }, nil
}

// startEngine starts the engine of the lane if it does not run yet.
func (l *lane) startEngine() error {
	if l.engine != nil {
		return nil
	}
	var err error
	l.engine, err = dockertest.Open(context.Background())
	return err
}

// stopEngine ends the engine of the lane if there is one.
func (l *lane) stopEngine() error {
	if l.engine == nil {
		return nil
	}
	return l.engine.Close()
}

// seeEngine adds to a state what is on the engine.
func (s *stage) seeEngine(ctx context.Context, to state) (err error) {
	api, containers, err := s.containers(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, api.Close()) }()
	for _, id := range containers {
		inspected, err := api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
		if err != nil {
			return fmt.Errorf("cannot inspect a container: %w", err)
		}
		made := inspected.Container
		name := strings.TrimPrefix(made.Name, "/")
		to[onHost(machine.DriverDocker, "containers", name)] = map[string]any{
			"state": string(made.State.Status), "image": made.Config.Image, "env": made.Config.Env,
			"memory": made.HostConfig.Memory, "nanoCPUs": made.HostConfig.NanoCPUs, "volumes": len(made.Mounts),
		}
	}
	volumes, err := api.VolumeList(ctx, client.VolumeListOptions{})
	if err != nil {
		return fmt.Errorf("cannot list volumes: %w", err)
	}
	if len(volumes.Items) > 0 {
		to[onHost(machine.DriverDocker, "volumes", "")] = len(volumes.Items)
	}
	return nil
}

// emptyEngine removes what a run has left on the engine.
func (s *stage) emptyEngine() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	api, containers, err := s.containers(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, api.Close()) }()
	for _, id := range containers {
		options := client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}
		if _, err := api.ContainerRemove(ctx, id, options); err != nil {
			return fmt.Errorf("cannot remove a container: %w", err)
		}
	}
	return nil
}

// containers returns the IDs of all containers on the engine, and a client of it to be closed.
func (s *stage) containers(ctx context.Context) (api *client.Client, ids []string, err error) {
	api, err = s.engine.Client()
	if err != nil {
		return nil, nil, err
	}
	list, err := api.ContainerList(ctx, client.ContainerListOptions{All: true})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("cannot list containers: %w", err), api.Close())
	}
	for i := range list.Items {
		ids = append(ids, list.Items[i].ID)
	}
	return api, ids, nil
}
