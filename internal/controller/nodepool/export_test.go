// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

// Due returns how many nodes of a pool were due when it was last counted.
func (r *Reconciler) Due(pool string) int {
	r.pace.mu.Lock()
	defer r.pace.mu.Unlock()
	return r.pace.due[pool]
}
