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
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/event"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/provision"
)

// health is what is known of a cluster from asking it.
type health struct {
	// known is false until the cluster has been asked as often as it takes to be sure.
	known bool
	ready bool
	// message says why it is not ready.
	message string
	// version and endpoint of its API server, and how many of its nodes are ready.
	version, endpoint string
	readyNodes        int32
}

// Prober asks clusters for their health, each in a goroutine and at an interval of its own, outside of the workers. It implements
// manager.Runnable.
type Prober struct {
	changed chan event.GenericEvent

	mu     sync.Mutex
	base   context.Context //nolint:containedctx // probes outlive the pass that begins them, and end with the manager
	probes map[types.UID]*probe
}

// probe asks one cluster.
type probe struct {
	name   string
	key    [sha256.Size]byte
	client kubernetes.Interface
	spec   clusterprovisionerv1alpha1.Health
	stop   context.CancelFunc

	mu    sync.Mutex
	state health
}

// NewProber returns a Prober.
func NewProber() *Prober {
	return &Prober{changed: make(chan event.GenericEvent, 256), probes: make(map[types.UID]*probe)}
}

// Start implements manager.Runnable.
func (p *Prober) Start(ctx context.Context) error {
	p.mu.Lock()
	p.base = ctx
	for _, one := range p.probes {
		p.run(one) //nolint:contextcheck // it takes the manager's, which has just been kept
	}
	p.mu.Unlock()
	<-ctx.Done()
	return nil
}

// healthOf returns what is known of a cluster.
func (p *Prober) healthOf(cluster types.UID) health {
	p.mu.Lock()
	one := p.probes[cluster]
	p.mu.Unlock()
	if one == nil {
		return health{}
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.state
}

// Watch begins to ask a cluster, or goes on. What is known stays until another kubeconfig leads elsewhere.
func (p *Prober) Watch(cluster *clusterprovisionerv1alpha1.Cluster, kubeconfig []byte) error {
	spec, err := json.Marshal(cluster.Spec.Health)
	if err != nil {
		return fmt.Errorf("cannot encode spec.health: %w", err)
	}
	key := sha256.Sum256(append(append([]byte{}, kubeconfig...), spec...))
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.probes[cluster.UID]; have != nil {
		if have.key == key {
			return nil
		}
		have.end()
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
	one := &probe{name: cluster.Name, key: key, client: client, spec: cluster.Spec.Health, state: health{endpoint: target.Host}}
	p.probes[cluster.UID] = one
	p.run(one)
	return nil
}

// Forget ends the asking of a cluster.
func (p *Prober) Forget(cluster types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.probes[cluster]; have != nil {
		have.end()
		delete(p.probes, cluster)
	}
}

// run starts a probe, once there is a manager.
func (p *Prober) run(one *probe) {
	if p.base == nil {
		return
	}
	ctx, stop := context.WithCancel(p.base)
	one.stop = stop
	go one.loop(ctx, p.tell)
}

// tell wakes a Cluster up. Where nobody reads, the Cluster is looked at by itself soon.
func (p *Prober) tell(name string) {
	select {
	case p.changed <- event.GenericEvent{Object: &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}}:
	default:
	}
}

func (p *probe) end() {
	if p.stop != nil {
		p.stop()
	}
}

// loop asks again and again. The intervals are jittered, so that many clusters are not asked at once.
func (p *probe) loop(ctx context.Context, tell func(string)) {
	failures := int32(0)
	for {
		before := p.get()
		after := before
		if err := p.ask(ctx); err != nil {
			failures++
			if failures >= cmp.Or(p.spec.FailureThreshold, clusterprovisionerv1alpha1.DefaultHealthFailures) {
				after.known, after.ready, after.message = true, false, provision.Redact(err.Error())
			}
		} else {
			failures = 0
			after.known, after.ready, after.message = true, true, ""
			p.details(ctx, &after)
		}
		if ctx.Err() != nil {
			return
		}
		if after != before {
			p.set(after)
			tell(p.name)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(jitter(cmp.Or(p.spec.Interval.Duration, clusterprovisionerv1alpha1.DefaultHealthInterval))):
		}
	}
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

// ask asks the API server whether it is ready. /version would answer while etcd is dead, and an anonymous question proves nothing
// about the credentials.
func (p *probe) ask(ctx context.Context) error {
	if err := p.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return fmt.Errorf("/readyz: %w", err)
	}
	return nil
}

// details looks at the version and the nodes. What cannot be had stays as it was.
func (p *probe) details(ctx context.Context, state *health) {
	if version, err := p.client.Discovery().ServerVersion(); err == nil {
		state.version = version.GitVersion
	}
	nodes, err := p.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return
	}
	state.readyNodes = 0
	for i := range nodes.Items {
		for _, condition := range nodes.Items[i].Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				state.readyNodes++
			}
		}
	}
}
