// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// networksOf returns the names of the engine's networks that belong to the installation.
func networksOf(t *testing.T, api *client.Client, installation string) []string {
	t.Helper()
	result, err := api.NetworkList(t.Context(), client.NetworkListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range result.Items {
		if strings.Contains(n.Name, installation) {
			names = append(names, n.Name)
		}
	}
	return names
}

// neighbour returns another machine of the installation.
func neighbour(of machine.Identity, namespace string) machine.Identity {
	id := newIdentity()
	id.Installation, id.Namespace = of.Installation, namespace
	return id
}

func remove(t *testing.T, driver machine.Driver, id machine.Identity) {
	t.Helper()
	if err := driver.Delete(t.Context(), id, machine.PowerOff{Mode: machine.Hard}); err != nil {
		t.Error(err)
	}
}

// All containers of a host were in one network, where each could talk to each, whatever namespace it was of.
func TestAttackAContainerReachesAnotherNamespace(t *testing.T) {
	t.Parallel()
	daemon, driver, api := shared(t)
	victim := newIdentity()
	address := net.JoinHostPort(run(t, driver, specOf(victim)).Addresses[0], "80")
	reaches := func(namespace string, patience time.Duration) bool {
		from := run(t, driver, specOf(neighbour(victim, namespace)))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for ctx.Err() == nil { // the victim may not listen yet
			conn, err := daemon.DialFrom(ctx, inspect(t, api, from.ID).State.Pid, address)
			if err == nil {
				return conn.Close() == nil
			}
		}
		return false
	}
	if !reaches(victim.Namespace, patience) {
		t.Error("a container of the same namespace does not reach the other one")
	}
	if reaches("elsewhere", time.Second) {
		t.Error("a container of another namespace reaches it")
	}
}

func TestNetworkGoesWithItsLastContainer(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	first := newIdentity()
	second, other := neighbour(first, first.Namespace), neighbour(first, "elsewhere")
	for _, id := range []machine.Identity{first, second, other} {
		create(t, driver, specOf(id))
	}
	if names := networksOf(t, api, first.Installation); len(names) != 2 {
		t.Errorf("two namespaces have the networks %v", names)
	}
	remove(t, driver, first)
	if err := driver.Start(t.Context(), second); err != nil {
		t.Errorf("the second machine lost its network: %v", err)
	}
	remove(t, driver, second)
	remove(t, driver, second)
	remove(t, driver, other)
	if names := networksOf(t, api, first.Installation); len(names) > 0 {
		t.Errorf("the networks %v are left", names)
	}
}

// Somebody removed the network, or another manager did before it saw the new container.
func TestNetworkThatIsGoneIsMadeAgain(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	id := newIdentity()
	create(t, driver, specOf(id))
	for _, when := range []string{"before the first start", "after a stop"} {
		for _, name := range networksOf(t, api, id.Installation) {
			if _, err := api.NetworkRemove(t.Context(), name, client.NetworkRemoveOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := driver.Start(t.Context(), id); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if now := get(t, driver, id); now.State != machine.StateRunning || len(now.Addresses) != 1 {
			t.Errorf("%s: the machine is %+v, want it to run with an address", when, now)
		}
		if err := driver.Stop(t.Context(), id, machine.PowerOff{Mode: machine.Hard}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestForeignNetworkIsLeftAlone(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	id := newIdentity()
	name := "windlass-" + id.Installation + "-" + id.Namespace
	if _, err := api.NetworkCreate(t.Context(), name, client.NetworkCreateOptions{Driver: "bridge"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := api.NetworkRemove(context.WithoutCancel(t.Context()), name, client.NetworkRemoveOptions{}); err != nil {
			t.Error(err)
		}
	})
	spec := specOf(id)
	if err := driver.Prepare(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if _, err := driver.Create(t.Context(), spec); !errors.Is(err, machine.ErrConflict) || !strings.Contains(err.Error(), "was not made by Windlass") {
		t.Errorf("Create returned %v, want %v", err, machine.ErrConflict)
	}
	remove(t, driver, id)
	if names := networksOf(t, api, id.Installation); len(names) != 1 {
		t.Errorf("the networks are %v, want the foreign one", names)
	}
}

// Two managers make and remove machines of a namespace at the same time, as while one takes over from the other.
func TestManagersShareTheNetworkOfANamespace(t *testing.T) {
	t.Parallel()
	daemon, _, api := shared(t)
	first := newIdentity()
	var all sync.WaitGroup
	for range 2 {
		driver := open(t, daemon.Host())
		for range 4 {
			spec := specOf(neighbour(first, first.Namespace))
			removeAtEnd(t, driver, spec.Identity)
			all.Go(func() {
				if err := driver.Prepare(t.Context(), spec); err != nil {
					t.Error(err)
				}
				if _, err := driver.Create(t.Context(), spec); err != nil {
					t.Error(err)
				}
				if err := driver.Start(t.Context(), spec.Identity); err != nil {
					t.Error(err)
				}
				remove(t, driver, spec.Identity)
			})
		}
	}
	all.Wait()
	if names := networksOf(t, api, first.Installation); len(names) > 0 {
		t.Errorf("the networks %v are left", names)
	}
}

// Two managers made the network at the same moment. What one of them took for the only one had the later time, and a container was in it
// before the other one appeared: neither could be removed, so no other machine of the namespace started.
func TestMachineStartsWhereTheYoungerOfTwoNetworksIsInUse(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	id := newIdentity()
	user := run(t, driver, specOf(neighbour(id, "elsewhere")))
	removeAtEnd(t, driver, id)
	name := "windlass-" + id.Installation + "-" + id.Namespace
	options := client.NetworkCreateOptions{Driver: "bridge", Labels: map[string]string{
		"cloudnative.tw/installation": id.Installation, "cloudnative.tw/vm-namespace": id.Namespace,
	}}
	if _, err := api.NetworkCreate(t.Context(), name, options); err != nil {
		t.Fatal(err)
	}
	younger, err := api.NetworkCreate(t.Context(), name, options)
	if errdefs.IsConflict(err) {
		t.Skip("the engine takes each name of a network only once")
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.NetworkConnect(t.Context(), younger.ID, client.NetworkConnectOptions{Container: user.ID}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		options := client.NetworkDisconnectOptions{Container: user.ID, Force: true}
		if _, err := api.NetworkDisconnect(context.WithoutCancel(t.Context()), younger.ID, options); err != nil {
			t.Error(err)
		}
	})
	create(t, driver, specOf(id))
	if err := driver.Start(t.Context(), id); err != nil {
		t.Error(err)
	}
	if names := networksOf(t, api, id.Installation); len(names) != 2 {
		t.Errorf("two namespaces have the networks %v", names)
	}
}

func TestHostsFileNamesTheNetwork(t *testing.T) {
	t.Parallel()
	daemon, _, api := shared(t)
	id := newIdentity()
	host := daemon.Host()
	host.Containers.Networks = map[string]string{id.Namespace: "given-" + id.UID, machine.AllNamespaces: "bridge"}
	driver, spec := open(t, host), specOf(id)
	if err := driver.Prepare(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if _, err := driver.Create(t.Context(), spec); !errors.Is(err, machine.ErrNotAllowed) || !strings.Contains(err.Error(), "the host has no network") {
		t.Errorf("Create returned %v, want %v", err, machine.ErrNotAllowed)
	}
	if _, err := api.NetworkCreate(t.Context(), "given-"+id.UID, client.NetworkCreateOptions{Driver: "bridge"}); err != nil {
		t.Fatal(err)
	}
	other := neighbour(id, "elsewhere")
	for id, want := range map[machine.Identity]string{id: "given-" + id.UID, other: "bridge"} {
		networks := inspect(t, api, run(t, driver, specOf(id)).ID).NetworkSettings.Networks
		if networks[want] == nil || len(networks) != 1 {
			t.Errorf("the container of namespace %q is in the networks %v, want %q", id.Namespace, networks, want)
		}
		remove(t, driver, id)
	}
	if _, err := api.NetworkRemove(t.Context(), "given-"+id.UID, client.NetworkRemoveOptions{}); err != nil {
		t.Errorf("the network that the hosts file names is gone: %v", err)
	}
}

func TestEngineWithoutAddressesSaysWhatToDo(t *testing.T) {
	t.Parallel()
	daemon := dockertest.Start(t)
	daemon.Kill()
	if err := daemon.Configure(`{"bip": "10.9.0.1/24", "default-address-pools": [{"base": "10.8.0.0/24", "size": 24}]}`); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	driver, id := open(t, daemon.Host()), newIdentity()
	create(t, driver, specOf(id))
	spec := specOf(neighbour(id, "elsewhere"))
	if err := driver.Prepare(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if _, err := driver.Create(t.Context(), spec); !errors.Is(err, machine.ErrNoCapacity) || !strings.Contains(err.Error(), "default-address-pools") {
		t.Errorf("Create returned %v, want %v", err, machine.ErrNoCapacity)
	}
	remove(t, driver, id)
	if _, err := driver.Create(t.Context(), spec); err != nil {
		t.Errorf("the range of the first namespace is not free again: %v", err)
	}
	remove(t, driver, spec.Identity)
}
