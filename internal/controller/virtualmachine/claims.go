// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/placement"
)

// claims knows what every machine claims of its host. It is read from the objects once and kept while the manager runs, because
// the cache learns of a placement only some time after it was decided.
type claims struct {
	mu sync.Mutex
	// byKey is nil until load.
	byKey map[types.NamespacedName]claim
	// read are the claims whose sizes are those of the specs: what editors ask for, until the hosts tell what the machines have.
	read map[types.NamespacedName]bool
	// left are the claims of machines that stay without their objects, until a survey of the host finds the machines.
	left []leftover
	// leaving counts the claims that were ever left.
	leaving int
}

// claim is what one machine claims.
type claim struct {
	at   kube.Placement
	size machine.Resources
}

// allocation is the claim as the sum of one machine.
func (c claim) allocation() placement.Allocation {
	return placement.Allocation{Resources: c.size, Machines: 1}
}

// leftover is the claim of a machine that has lost its object.
type leftover struct {
	claim

	// number of the leftover: how many there were before.
	number int
}

// loaded reports whether the claims have been read.
func (c *claims) loaded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byKey != nil
}

// load starts with the claims that were read from the objects, unless another worker has done so.
func (c *claims) load(read map[types.NamespacedName]claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey != nil {
		return
	}
	c.byKey, c.read = read, make(map[types.NamespacedName]bool, len(read))
	for key := range read {
		c.read[key] = true
	}
}

// set records the claim of a machine.
func (c *claims) set(key types.NamespacedName, made claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey != nil {
		c.put(key, made)
	}
}

// put is set with the lock.
func (c *claims) put(key types.NamespacedName, made claim) {
	c.byKey[key] = made
	delete(c.read, key)
}

// keep keeps the claim of a machine that has a host. That of an existing machine follows its size, in another phase. One that does not exist
// can come to claim less; if it has no claim, or wants more, it asks for room when it is created.
func (c *claims) keep(key types.NamespacedName, wanted claim, exists bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, has := c.byKey[key]
	there := has && was.at == wanted.at
	switch {
	case c.byKey == nil:
	case exists && !there:
		c.byKey[key], c.read[key] = wanted, true
	case !exists && there && within(wanted.size, was.size):
		c.put(key, wanted)
	}
}

// learn takes over what machines have, as their host tells. A spec can ask for less or more, which its machine gets later, or not at all while the
// object is paused. Any list is newer than a claim that was just read: a machine can be silent in the first one. A claim that was made in view of the host
// can be newer than a list, except for the first one.
func (c *claims) learn(sizes map[types.NamespacedName]machine.Resources, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, size := range sizes {
		was, ok := c.byKey[key]
		switch {
		case !ok:
		case c.read[key]:
			c.put(key, claim{was.at, size})
		case first:
			c.byKey[key] = claim{was.at, larger(was.size, size)}
		}
	}
}

// has reports whether the machine has a claim at the place. Before load it has none.
func (c *claims) has(key types.NamespacedName, at kube.Placement) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, ok := c.byKey[key]
	return ok && was.at == at
}

// covers reports whether a machine that is to be created has claimed what it takes. What was only read from its object was never compared with
// the room of the host.
func (c *claims) covers(key types.NamespacedName, wanted claim) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, ok := c.byKey[key]
	return ok && !c.read[key] && was.at == wanted.at && within(wanted.size, was.size)
}

// drop removes the claim of a machine.
func (c *claims) drop(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byKey, key)
}

// leave keeps the claim of a machine that may stay on its host without its object.
func (c *claims) leave(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was, ok := c.byKey[key]; ok {
		delete(c.byKey, key)
		c.left = append(c.left, leftover{was, c.leaving})
		c.leaving++
	}
}

// leftovers returns how many claims were left so far.
func (c *claims) leftovers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leaving
}

// surveyed drops the first leftovers on the host, as many as there were before a survey has looked for their machines.
func (c *claims) surveyed(host string, before int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = slices.DeleteFunc(c.left, func(l leftover) bool { return l.at.Host == host && l.number < before })
}

// choose has a host chosen in view of the claims of all others and records the new claim, so that no two workers give away the
// same room.
func (c *claims) choose(key types.NamespacedName, choice func(taken map[string]placement.Allocation) (claim, error)) (claim, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := map[string]placement.Allocation{}
	for other, one := range c.byKey {
		if other != key {
			taken[one.at.Host] = taken[one.at.Host].Plus(one.allocation())
		}
	}
	for _, one := range c.left {
		taken[one.at.Host] = taken[one.at.Host].Plus(one.allocation())
	}
	made, err := choice(taken)
	if err == nil {
		c.put(key, made)
	}
	return made, err
}

// larger returns the larger of two sizes, field by field.
func larger(a, b machine.Resources) machine.Resources {
	return machine.Resources{
		MilliCPU: max(a.MilliCPU, b.MilliCPU), MemoryBytes: max(a.MemoryBytes, b.MemoryBytes),
		RootDiskBytes: max(a.RootDiskBytes, b.RootDiskBytes),
	}
}

// within reports whether a machine of one size takes no more than one of another size. Without a limit it takes what it gets; its root disk then is
// that of the image, which takes no room.
func within(size, limit machine.Resources) bool {
	limited := func(size, limit int64) bool { return size == limit || 0 < size && size < limit }
	return limited(size.MilliCPU, limit.MilliCPU) && limited(size.MemoryBytes, limit.MemoryBytes) && size.RootDiskBytes <= limit.RootDiskBytes
}
