// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/event"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// health is what the probes of a cluster found.
type health struct {
	// known is false until enough requests have succeeded or failed to be sure.
	known bool
	ready bool
	// message says why it is not ready.
	message string
	// version and endpoint of its API server.
	version, endpoint string
	// nodes are those of the cluster, by name. listed is false until they have been read.
	nodes  []node
	listed bool
	// unlisted says why they could not be read the last time; empty if they could.
	unlisted string
}

// same reports whether two probes have found the same. What a status does not show is in neither: the heartbeats of nodes wake nobody.
func (h health) same(other health) bool {
	return h.known == other.known && h.ready == other.ready && h.message == other.message && h.version == other.version &&
		h.endpoint == other.endpoint && h.listed == other.listed && h.unlisted == other.unlisted && slices.Equal(h.nodes, other.nodes)
}

// Prober probes the health of clusters, each in a goroutine and at an interval of its own, outside of the workers. It implements
// manager.Runnable.
type Prober struct {
	changed chan event.GenericEvent
	// added says that there are probes to start.
	added chan struct{}
	// after is time.After, unless a test cannot wait.
	after func(time.Duration) <-chan time.Time

	mu     sync.Mutex
	probes map[types.UID]*probe
}

// probe probes one cluster.
type probe struct {
	name   string
	key    [sha256.Size]byte
	client kubernetes.Interface
	spec   clusterprovisionerv1alpha1.Health
	// stop ends it; nil until it has been started.
	stop context.CancelFunc

	mu    sync.Mutex
	state health
}

// NewProber returns a Prober.
func NewProber() *Prober {
	return &Prober{
		changed: make(chan event.GenericEvent, 256), added: make(chan struct{}, 1), after: time.After, probes: make(map[types.UID]*probe),
	}
}

// Start implements manager.Runnable: it runs the probes until ctx ends.
func (p *Prober) Start(ctx context.Context) error {
	for {
		p.startAdded(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-p.added:
		}
	}
}

// startAdded starts the probes that have not been started.
func (p *Prober) startAdded(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.probes {
		if one.stop == nil {
			probing, stop := context.WithCancel(ctx)
			one.stop = stop
			go one.loop(probing, p.wake, p.after)
		}
	}
}

// wake has a Cluster reconciled. If nobody reads, it is reconciled soon anyway.
func (p *Prober) wake(name string) {
	select {
	case p.changed <- event.GenericEvent{Object: &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}}:
	default:
	}
}

// healthOf returns what is known of a cluster.
func (p *Prober) healthOf(cluster types.UID) health {
	p.mu.Lock()
	one := p.probes[cluster]
	p.mu.Unlock()
	if one == nil {
		return health{}
	}
	return one.get()
}

// Watch starts to probe a cluster, or goes on. What is known stays until the kubeconfig or the spec changes. A kubeconfig that leads nowhere changes
// nothing: the cluster is probed as before.
func (p *Prober) Watch(cluster *clusterprovisionerv1alpha1.Cluster, kubeconfig []byte) error {
	spec, err := json.Marshal(cluster.Spec.Health)
	if err != nil {
		return fmt.Errorf("cannot encode spec.health: %w", err)
	}
	key := sha256.Sum256(append(append([]byte{}, kubeconfig...), spec...))
	p.mu.Lock()
	defer p.mu.Unlock()
	have := p.probes[cluster.UID]
	if have != nil && have.key == key {
		return nil
	}
	target, err := kube.Target(kubeconfig)
	if err != nil {
		return err
	}
	target.Timeout = cmp.Or(cluster.Spec.Health.Timeout.Duration, clusterprovisionerv1alpha1.DefaultHealthTimeout)
	client, err := kubernetes.NewForConfig(target)
	if err != nil {
		return fmt.Errorf("cannot make a client for cluster %q: %w", cluster.Name, err)
	}
	if have != nil {
		have.end()
	}
	p.probes[cluster.UID] = &probe{
		name: cluster.Name, key: key, client: client, spec: cluster.Spec.Health,
		state: health{endpoint: status.Clip(target.Host, maxEndpoint)},
	}
	select {
	case p.added <- struct{}{}:
	default: // Start has been told already
	}
	return nil
}

// Forget stops the probe of a cluster.
func (p *Prober) Forget(cluster types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.probes[cluster]; have != nil {
		have.end()
		delete(p.probes, cluster)
	}
}

func (p *probe) end() {
	if p.stop != nil {
		p.stop()
	}
}

// loop probes until ctx ends. The intervals are jittered, so that many clusters are not probed at once.
func (p *probe) loop(ctx context.Context, wake func(string), after func(time.Duration) <-chan time.Time) {
	failures := int32(0)
	for {
		before := p.get()
		now := before
		if err := p.ask(ctx); err != nil {
			failures++
			if failures >= cmp.Or(p.spec.FailureThreshold, clusterprovisionerv1alpha1.DefaultHealthFailures) {
				now.known, now.ready, now.message = true, false, provision.Redact(err.Error())
			}
		} else {
			failures = 0
			now.known, now.ready, now.message = true, true, ""
			p.details(ctx, &now)
		}
		if ctx.Err() != nil {
			return
		}
		if !now.same(before) {
			p.set(now)
			wake(p.name)
		}
		select {
		case <-ctx.Done():
			return
		case <-after(jitter(interval(p.spec))):
		}
	}
}

// interval returns how often a cluster is probed.
func interval(spec clusterprovisionerv1alpha1.Health) time.Duration {
	return max(cmp.Or(spec.Interval.Duration, clusterprovisionerv1alpha1.DefaultHealthInterval), clusterprovisionerv1alpha1.MinHealthInterval)
}

// jitter spreads an interval by a fifth in both directions.
func jitter(interval time.Duration) time.Duration {
	return time.Duration(float64(interval) * (0.8 + 0.4*rand.Float64()))
}

func (p *probe) get() health {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

func (p *probe) set(state health) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = state
}

// ask asks the API server whether it is ready. /version would answer while etcd is dead, and an anonymous request would prove nothing
// about the credentials.
func (p *probe) ask(ctx context.Context) error {
	if err := p.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return fmt.Errorf("/readyz: %w", err)
	}
	return nil
}

// details reads the version and the nodes. What cannot be read stays as it was.
func (p *probe) details(ctx context.Context, state *health) {
	if version, err := p.client.Discovery().ServerVersion(); err == nil {
		state.version = status.Clip(version.GitVersion, maxVersion)
	}
	nodes, err := p.list(ctx)
	if err != nil {
		state.unlisted = status.Clip(provision.Redact(err.Error()), maxUnlisted)
		return
	}
	state.nodes, state.listed, state.unlisted = nodes, true, ""
}
