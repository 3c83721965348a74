// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/status"
)

// maxPasses is how many passes an object may need to settle.
const maxPasses = 25

// Index registers the field indexes of a controller.
type Index func(ctx context.Context, indexer client.FieldIndexer) error

// Harness is what a test of a reconciler works with.
type Harness struct {
	// Client is like the manager's: cached, trimmed, and it waits for its own writes.
	Client client.Client
	// Direct is like the manager's for what is not cached: no cache, and its writes count.
	Direct client.Client
	// Live reads and writes without a cache, as other actors of a cluster do.
	Live client.Client
	// Events collects what the reconciler recorded.
	Events *Recorder
	// Clock is the reconciler's time.
	Clock *Clock
	// Config reaches the API server as an administrator.
	Config *rest.Config

	writes atomic.Int64
	passes passWatch
}

// New returns a harness for the test, or skips it where there is no API server.
func New(t *testing.T, indexes ...Index) *Harness {
	t.Helper()
	if server.config == nil {
		t.Skip(server.skip)
	}
	h := &Harness{Clock: NewClock(), Config: server.config}
	h.Events = &Recorder{recorded: h.passes.sawEvent}
	scheme := kube.NewScheme()

	live, err := client.New(server.config, client.Options{Scheme: scheme})
	must(t, err)
	h.Live = live

	counted := rest.CopyConfig(server.config)
	counted.Wrap(h.count)
	objects, err := cache.New(counted, kube.CacheOptions(scheme))
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	for _, index := range indexes {
		must(t, index(ctx, objects))
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = objects.Start(ctx)
	}()
	t.Cleanup(func() { cancel(); <-stopped })

	h.Direct, err = client.New(counted, client.Options{Scheme: scheme})
	must(t, err)
	options := kube.ClientOptions(scheme)
	options.Cache.Reader = objects
	h.Client, err = client.New(counted, options)
	must(t, err)
	return h
}

// count counts what changes, or means to change, the API server's state.
func (h *Harness) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method != http.MethodGet {
			h.writes.Add(1)
		}
		h.passes.sawRequest(request)
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Writes returns how many writes h.Client and h.Direct have sent.
func (h *Harness) Writes() int { return int(h.writes.Load()) }

// Namespace creates a namespace for the test and returns its name.
func (h *Harness) Namespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	h.Create(t, namespace)
	return namespace.Name
}

// Create creates the objects as another actor.
func (h *Harness) Create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		must(t, h.Live.Create(t.Context(), object))
	}
}

// Get reads obj, past the cache, and reports whether it exists.
func (h *Harness) Get(t *testing.T, obj client.Object) bool {
	t.Helper()
	err := h.Live.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
	must(t, client.IgnoreNotFound(err))
	return err == nil
}

// Edit reads obj, changes it and writes it back as another actor, again until there is no conflict.
func Edit[T client.Object](t *testing.T, h *Harness, obj T, change func(T)) {
	t.Helper()
	for {
		must(t, h.Live.Get(t.Context(), client.ObjectKeyFromObject(obj), obj))
		change(obj)
		err := h.Live.Update(t.Context(), obj)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			t.Fatalf("cannot edit %T %s: %v", obj, obj.GetName(), err)
		}
	}
}

// EditStatus does the same for the status.
func EditStatus[T client.Object](t *testing.T, h *Harness, obj T, change func(T)) {
	t.Helper()
	for {
		must(t, h.Live.Get(t.Context(), client.ObjectKeyFromObject(obj), obj))
		change(obj)
		err := h.Live.Status().Update(t.Context(), obj)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			t.Fatalf("cannot edit status of %T %s: %v", obj, obj.GetName(), err)
		}
	}
}

// Reconcile runs one pass for the key, on a cache that has seen everything written before.
func (h *Harness) Reconcile(t *testing.T, r reconcile.Reconciler, key types.NamespacedName) (reconcile.Result, error) {
	t.Helper()
	h.Sync(t)
	h.passes.begin()
	result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
	h.passes.end(t)
	return result, err
}

// SettleKey reconciles the key until a pass writes nothing. Conflicts are repeated, other errors end the test.
func (h *Harness) SettleKey(t *testing.T, r reconcile.Reconciler, key types.NamespacedName) {
	t.Helper()
	h.settle(t, r, key, func() {})
}

// Settle reconciles obj until a pass writes nothing, holds its status against the contract after every pass, and reloads
// obj. An object that is gone at the end is left as it last was.
func (h *Harness) Settle(t *testing.T, r reconcile.Reconciler, obj status.Object) {
	t.Helper()
	present := conditionSets{}
	h.settle(t, r, client.ObjectKeyFromObject(obj), func() {
		t.Helper()
		if h.Get(t, obj) && isWritten(obj) {
			CheckContract(t, obj)
			present.check(t, obj)
		}
	})
	if !isWritten(obj) {
		return
	}
	for _, condition := range obj.GetConditions() {
		if condition.ObservedGeneration != obj.GetGeneration() && obj.GetDeletionTimestamp() == nil {
			t.Errorf("condition %s describes an older generation than the settled object has", condition.Type)
		}
	}
}

func isWritten(obj status.Object) bool {
	return len(obj.GetConditions()) > 0 && !status.Unwritten(obj.GetConditions())
}

func (h *Harness) settle(t *testing.T, r reconcile.Reconciler, key types.NamespacedName, check func()) {
	t.Helper()
	for range maxPasses {
		before := h.Writes()
		_, err := h.Reconcile(t, r, key)
		check()
		switch {
		case apierrors.IsConflict(err):
			continue
		case err != nil:
			t.Fatalf("a pass over %s failed: %v", key, err)
		case h.Writes() == before:
			return
		}
	}
	t.Fatalf("%s does not settle: each of %d passes wrote something", key, maxPasses)
}

// Target is one object under one reconciler.
type Target struct {
	// Reconciler is run on Key.
	Reconciler reconcile.Reconciler
	// Key is the object's key.
	Key types.NamespacedName
}

// Converge settles all targets in turn, again and again, until a whole round writes nothing: what several controllers do to
// one another comes to rest.
func (h *Harness) Converge(t *testing.T, targets ...Target) {
	t.Helper()
	for range maxPasses {
		before := h.Writes()
		for _, target := range targets {
			h.SettleKey(t, target.Reconciler, target.Key)
		}
		if h.Writes() == before {
			return
		}
	}
	t.Fatalf("the targets do not come to rest in %d rounds", maxPasses)
}
