// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
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
}

// claim is what one machine claims.
type claim struct {
	at   kube.Placement
	size machine.Resources
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
	if c.byKey == nil {
		c.byKey = read
	}
}

// set records the claim of a machine that has a host.
func (c *claims) set(key types.NamespacedName, made claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey != nil {
		c.byKey[key] = made
	}
}

// has reports whether the machine has a claim. Before load it has: its object tells.
func (c *claims) has(key types.NamespacedName) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.byKey[key]
	return ok || c.byKey == nil
}

// drop removes the claim of a machine.
func (c *claims) drop(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byKey, key)
}

// choose has a host chosen in view of all claims and records the new claim, so that no two workers give away the same room.
func (c *claims) choose(key types.NamespacedName, choice func(taken map[string]placement.Allocation) (claim, error)) (claim, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := map[string]placement.Allocation{}
	for _, one := range c.byKey {
		host := taken[one.at.Host]
		host.Machines++
		host.Resources.MilliCPU += one.size.MilliCPU
		host.Resources.MemoryBytes += one.size.MemoryBytes
		host.Resources.RootDiskBytes += one.size.RootDiskBytes
		taken[one.at.Host] = host
	}
	made, err := choice(taken)
	if err == nil {
		c.byKey[key] = made
	}
	return made, err
}
