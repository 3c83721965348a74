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

	"github.com/moby/moby/api/types/container"
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
	proxy.changed = s.checkTwins
	hosts := filepath.Join(s.Dir, "hosts.yaml")
	list := fmt.Sprintf("hosts:\n- {name: host, driver: docker, endpoint: \"unix://%s\"}\n", proxy.socket)
	if err := os.WriteFile(hosts, []byte(list), 0o600); err != nil {
		return nil, errors.Join(err, proxy.close())
	}
	s.args = append(s.args, "--vm-driver=docker", "--vm-hosts="+hosts)
	s.hosts = append(s.hosts, s.seeEngine)
	if !s.hasty {
		s.hosts = append(s.hosts, proxy.seeLosses)
	}
	return func() error { return errors.Join(proxy.close(), s.emptyEngine()) }, nil
}

// startEngine starts the engine of the lane if it does not run yet.
func (l *lane) startEngine() error {
	if l.engine != nil {
		return nil
	}
	var err error
	if l.engine, err = dockertest.Open(context.Background()); err != nil {
		return err
	}
	return l.engine.Import(context.Background(), imageWithVolume, "VOLUME /data")
}

// imageWithVolume is the image of machines on engines, which makes a volume for each: data that the machine must have as long as it is
// there, and nobody after that.
const imageWithVolume = "campaign.invalid/data:1"

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
		to[onHost(machine.DriverDocker, "containers", withoutUIDs(name))] = map[string]any{
			"state": string(made.State.Status), "image": made.Config.Image, "env": made.Config.Env, "volumes": len(made.Mounts),
			"memory": made.HostConfig.Memory, "nanoCPUs": made.HostConfig.NanoCPUs, "network": withoutUIDs(string(made.HostConfig.NetworkMode)),
		}
	}
	networks, err := api.NetworkList(ctx, ownNetworks())
	if err != nil {
		return fmt.Errorf("cannot list networks: %w", err)
	}
	for i := range networks.Items {
		key := onHost(machine.DriverDocker, "networks", withoutUIDs(networks.Items[i].Name))
		if _, twice := to[key]; twice {
			key += " again"
		}
		to[key] = true
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

// Labels of the containers of machines, which Windlass finds them again by.
const (
	uidLabel      = "cloudnative.tw/vm-uid"
	replacesLabel = "cloudnative.tw/replaces"
)

// checkTwins breaks the promise that there is never more than one machine for an object: a container may be made in the place of another
// one, but must not run beside it.
func (s *stage) checkTwins(ctx context.Context) {
	api, err := s.engine.Client()
	if err != nil {
		s.fail(err)
		return
	}
	defer func() { _ = api.Close() }()
	list, err := api.ContainerList(ctx, client.ContainerListOptions{All: true})
	if err != nil {
		return // the engine was killed
	}
	if twin := twins(list.Items); twin != "" {
		s.breaks(twin)
	}
}

// twins returns what is wrong if an object has two machines, and nothing otherwise.
func twins(all []container.Summary) string {
	byID, machines := map[string]string{}, map[string][]string{}
	for i := range all {
		byID[all[i].ID] = all[i].Labels[uidLabel]
	}
	for i := range all {
		uid, off := all[i].Labels[uidLabel], all[i].State != container.StateRunning
		if predecessor, ok := byID[all[i].Labels[replacesLabel]]; ok && predecessor == uid && off {
			continue
		}
		machines[uid] = append(machines[uid], fmt.Sprintf("%v (%s)", all[i].Names, all[i].State))
	}
	for _, made := range machines {
		if len(made) > 1 {
			return fmt.Sprintf("one object has the containers %v", made)
		}
	}
	return ""
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
	if _, err := api.NetworkPrune(ctx, client.NetworkPruneOptions{}); err != nil {
		return fmt.Errorf("cannot remove networks: %w", err)
	}
	if _, err := api.VolumePrune(ctx, client.VolumePruneOptions{}); err != nil {
		return fmt.Errorf("cannot remove volumes: %w", err)
	}
	return nil
}

// ownNetworks selects the networks that are not the engine's own.
func ownNetworks() client.NetworkListOptions {
	return client.NetworkListOptions{Filters: make(client.Filters).Add("type", "custom")}
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
