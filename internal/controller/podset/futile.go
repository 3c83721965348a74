// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// futile remembers the repairs that changed nothing. What an admission webhook turns back, or the API server does not know, cannot be repaired, and
// would be applied in each pass. After a restart, each of them is sent once more.
type futile struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]map[reflect.Type]state // by the type of the child: there is one of each
}

// state is an object as it was at a time.
type state struct {
	uid     types.UID
	version string
}

func stateOf(live client.Object) state {
	return state{uid: live.GetUID(), version: live.GetResourceVersion()}
}

// has reports whether a repair of the object as it is has changed nothing.
func (f *futile) has(key types.NamespacedName, a action) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return a.repairs && f.byKey[key][reflect.TypeOf(a.live)] == stateOf(a.live)
}

// note remembers that a repair has changed nothing.
func (f *futile) note(key types.NamespacedName, live client.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKey == nil {
		f.byKey = map[types.NamespacedName]map[reflect.Type]state{}
	}
	if f.byKey[key] == nil {
		f.byKey[key] = map[reflect.Type]state{}
	}
	f.byKey[key][reflect.TypeOf(live)] = stateOf(live)
}

// forget drops what is remembered of a PodSet that is gone.
func (f *futile) forget(key types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byKey, key)
}
