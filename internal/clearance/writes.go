// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package clearance

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Version is a pool as people have declared it at a time.
type Version struct {
	Pool       string
	UID        types.UID
	Generation int64
}

// Writes says for which versions of pools nodes are being written. Who writes a node begins, and then makes sure that these are still the versions in the
// cache. Who counts the nodes of a pool asks before the count. So one of them knows of the other: the write is given up, the count sees it, or the
// count knows that it may come. The zero value knows of no write.
type Writes struct {
	mu    sync.Mutex
	begun map[Version]int
}

// Begin says that a node is about to be written for these versions.
func (w *Writes) Begin(versions []Version) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun == nil {
		w.begun = map[Version]int{}
	}
	for _, version := range versions {
		w.begun[version]++
	}
}

// End takes back what Begin has said, once the API server has answered.
func (w *Writes) End(versions []Version) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, version := range versions {
		if w.begun[version]--; w.begun[version] <= 0 {
			delete(w.begun, version)
		}
	}
}

// Others reports whether a node is being written for another version of the pool.
func (w *Writes) Others(version Version) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for begun := range w.begun {
		if begun.Pool == version.Pool && begun != version {
			return true
		}
	}
	return false
}
