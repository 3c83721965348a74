// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// networkOf returns the name of the network for the machine, and whether the driver makes it: containers of different namespaces must
// not reach each other, so each namespace has its own, unless the hosts file names one.
func (d *driver) networkOf(id machine.Identity) (name string, own bool) {
	for _, namespace := range []string{id.Namespace, machine.AllNamespaces} {
		if name := d.policy.Networks[namespace]; name != "" {
			return name, false
		}
	}
	return ownNetwork(id), true
}

// ownNetwork returns the name of the network that the driver makes for the namespace. It holds the whole identity, so no two
// installations or namespaces share one.
func ownNetwork(id machine.Identity) string {
	return fmt.Sprintf("windlass-%s-%s", id.Installation, id.Namespace)
}

// networks remembers which networks the driver has seen, so that a create costs no more calls than before. A network that somebody
// has removed is made again when a container cannot start without it.
type networks struct {
	// alone is held by the one call that makes or removes a network.
	alone chan struct{}

	mu   sync.Mutex
	seen map[string]bool
}

// maxNetworks bounds what is remembered. Engines have a few dozen networks.
const maxNetworks = 1024

func newNetworks() *networks {
	return &networks{alone: make(chan struct{}, 1), seen: make(map[string]bool)}
}

func (n *networks) has(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen[name]
}

func (n *networks) set(name string, there bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.seen) >= maxNetworks {
		clear(n.seen)
	}
	n.seen[name] = there
}

// lock waits for other calls that make or remove a network, and returns what ends the wait of the next one.
func (n *networks) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case n.alone <- struct{}{}:
		return func() { <-n.alone }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("cannot wait for another network: %w", ctx.Err())
	}
}

// networkMode makes sure that the machine's network exists, and returns it as the engine takes it: by name, so that a network that was
// removed can be made again.
func (d *driver) networkMode(ctx context.Context, id machine.Identity) (container.NetworkMode, error) {
	name, own := d.networkOf(id)
	if d.networks.has(name) {
		return container.NetworkMode(name), nil
	}
	unlock, err := d.networks.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if own {
		err = d.ensureNetwork(ctx, name, id)
	} else {
		err = d.existing(ctx, name, id.Namespace)
	}
	if err == nil {
		d.networks.set(name, true)
	}
	return container.NetworkMode(name), err
}

// existing refuses a network that the hosts file names and the host does not have.
func (d *driver) existing(ctx context.Context, name, namespace string) error {
	_, err := d.api.NetworkInspect(ctx, name, client.NetworkInspectOptions{})
	if errdefs.IsNotFound(err) {
		return fmt.Errorf("%w: the host has no network %q, which containers.networks of the hosts file names for namespace %q",
			machine.ErrNotAllowed, name, namespace)
	}
	return explain(ctx, fmt.Sprintf("inspect network %q", name), err)
}

// ensureNetwork makes the network of a namespace, if it does not exist.
func (d *driver) ensureNetwork(ctx context.Context, name string, id machine.Identity) error {
	what := fmt.Sprintf("create network %q", name)
	found, err := d.ours(ctx, name, id)
	if err != nil || len(found) > 0 {
		return err
	}
	settling, cancel := machine.Settle(ctx)
	defer cancel()
	_, err = d.api.NetworkCreate(settling, name, client.NetworkCreateOptions{
		Driver: "bridge", Labels: map[string]string{labelInstallation: id.Installation, labelNamespace: id.Namespace},
	})
	switch {
	case err == nil:
		return d.single(ctx, name, id)
	case errdefs.IsConflict(err): // another manager has made it at the same moment
		_, err = d.ours(ctx, name, id)
		return err
	case noAddresses(err):
		return fmt.Errorf("cannot %s: %w: the engine has no address range left; add default-address-pools to daemon.json, or name a "+
			"network in containers.networks of the hosts file: %w", what, machine.ErrNoCapacity, err)
	default:
		return explain(ctx, what, err)
	}
}

// noAddresses reports whether the engine has run out of address ranges, for which it has no error type.
func noAddresses(err error) bool {
	text := err.Error()
	return strings.Contains(text, "address pool") || strings.Contains(text, "fully subnetted")
}

// single removes all networks with the name but one: engines before 25.0 accept a name twice, so two managers can both make it. The oldest
// stays, unless a younger one is in use: which is the older one is only known when both are there, and a container can be faster.
func (d *driver) single(ctx context.Context, name string, id machine.Identity) error {
	found, err := d.ours(ctx, name, id)
	left := len(found)
	for _, youngest := range slices.Backward(found) {
		if left == 1 {
			break
		}
		gone, removeErr := d.removeNetwork(ctx, youngest)
		err = errors.Join(err, removeErr)
		if gone {
			left--
		}
	}
	return err
}

// ours returns the networks of the namespace with the name, the oldest first. It fails if somebody else's network has the name.
func (d *driver) ours(ctx context.Context, name string, id machine.Identity) ([]network.Summary, error) {
	result, err := d.api.NetworkList(ctx, client.NetworkListOptions{Filters: make(client.Filters).Add("name", name)})
	if err != nil {
		return nil, explain(ctx, "list networks", err)
	}
	found := slices.DeleteFunc(result.Items, func(n network.Summary) bool { return n.Name != name }) // the filter finds parts of names
	for i := range found {
		if found[i].Labels[labelInstallation] != id.Installation || found[i].Labels[labelNamespace] != id.Namespace {
			return nil, fmt.Errorf("%w: network %q was not made by Windlass; rename or remove it, or name it in containers.networks of the hosts file",
				machine.ErrConflict, name)
		}
	}
	slices.SortFunc(found, func(a, b network.Summary) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return found, nil
}

// disconnect removes the network of a namespace that has no container left. Somebody else's network, and one that a container which is not
// ours uses, stay.
func (d *driver) disconnect(ctx context.Context, id machine.Identity) error {
	unlock, err := d.networks.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	left, err := d.list(ctx, within(id.Installation).Add("label", labelNamespace+"="+id.Namespace))
	if err != nil || len(left) > 0 {
		return err
	}
	name := ownNetwork(id)
	found, err := d.ours(ctx, name, id)
	if errors.Is(err, machine.ErrConflict) {
		return nil
	}
	d.networks.set(name, false)
	for _, n := range found {
		_, removeErr := d.removeNetwork(ctx, n)
		err = errors.Join(err, removeErr)
	}
	return err
}

// removeNetwork removes a network that no container uses, and reports whether it is gone.
func (d *driver) removeNetwork(ctx context.Context, n network.Summary) (gone bool, err error) {
	_, err = d.api.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
	switch {
	case err == nil, errdefs.IsNotFound(err):
		return true, nil
	case errdefs.IsPermissionDenied(err), errdefs.IsConflict(err): // in use
		return false, nil
	default:
		return false, explain(ctx, fmt.Sprintf("remove network %q", n.Name), err)
	}
}

// reconnect makes the network of a container that cannot start without it, and reports whether it did. The network is gone if another
// manager removed it before the container was made, or if a person did.
func (d *driver) reconnect(ctx context.Context, c container.Summary, failure error) (bool, error) {
	id := identityOf(c.Labels)
	name := ownNetwork(id)
	if failure == nil || c.HostConfig.NetworkMode != name || !lacksNetwork(failure) {
		return false, nil
	}
	unlock, err := d.networks.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := errors.Join(d.ensureNetwork(ctx, name, id), d.single(ctx, name, id)); err != nil {
		return false, err
	}
	if !strings.Contains(failure.Error(), name) {
		// A container that has run knows its network by the ID that is gone.
		if _, err := d.api.NetworkConnect(ctx, name, client.NetworkConnectOptions{Container: c.ID}); err != nil {
			return false, explain(ctx, fmt.Sprintf("connect container %.12q to network %q", c.ID, name), err)
		}
	}
	return true, nil
}

// lacksNetwork reports whether a container cannot start because its network is gone, or there are two with its name. Engines have no error
// type for it.
func lacksNetwork(failure error) bool {
	text := failure.Error()
	return strings.Contains(text, "network ") && (strings.Contains(text, "not found") || strings.Contains(text, "is ambiguous"))
}
