// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
)

const (
	// metricsPath is where nodes and what they use are.
	metricsPath = "/apis/metrics.k8s.io/v1beta1/nodes"
	// firstTry is how often the recorder looks whether objects are known.
	firstTry = time.Second
	// metricsTimeout bounds one request for it, and maxMetrics the answer in bytes: 5,000 nodes have some 2 MiB.
	metricsTimeout = 20 * time.Second
	maxMetrics     = 32 << 20
	// fresh is how old the figure of a node can be that counts as the one of now.
	fresh = 2 * time.Minute
)

// Options are what a Recorder works with.
type Options struct {
	// Machines and Nodes have the objects.
	Machines, Nodes *feed.Kind
	// Server is the API server, as the gateway's own account.
	Server rest.Interface
	Now    func() time.Time
	Log    logr.Logger
}

// Recorder takes the points.
type Recorder struct {
	*Rings

	options Options
	// taking is held while points are taken, so that what was read later is also known later.
	taking sync.Mutex
	served atomic.Bool
}

// NewRecorder returns a Recorder without points.
func NewRecorder(options Options) *Recorder { return &Recorder{Rings: NewRings(), options: options} }

// NodesAreMeasured reports whether somebody serves metrics of nodes, and the gateway may read them.
func (r *Recorder) NodesAreMeasured() bool { return r.served.Load() }

// Run takes points until the context ends, of each kind the first ones as soon as its objects are known. One kind does not wait for the other,
// which the gateway's account may not be able to watch.
func (r *Recorder) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { r.repeat(ctx, r.options.Machines, r.takeMachines) })
	running.Go(func() { r.repeat(ctx, r.options.Nodes, r.takeNodes) })
	running.Wait()
}

// repeat takes points of the objects of a kind.
func (r *Recorder) repeat(ctx context.Context, of *feed.Kind, take func(context.Context)) {
	for {
		next := firstTry
		if _, _, known := of.Store.List(); known {
			take(ctx)
			next = Interval
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// Take takes the points of this minute.
func (r *Recorder) Take(ctx context.Context) {
	r.takeMachines(ctx)
	r.takeNodes(ctx)
}

// takeMachines reads the usage that the manager has written into the status of machines, which it does when it has changed.
func (r *Recorder) takeMachines(context.Context) {
	r.taking.Lock()
	defer r.taking.Unlock()
	defer func() { r.Forget(r.options.Now()) }()
	items, _, _ := r.options.Machines.Store.List()
	for _, item := range items {
		var vm struct {
			Status struct {
				Server struct {
					Usage struct {
						CPUCores    float64   `json:"cpuCores"`
						MemoryBytes int64     `json:"memoryBytes"`
						SampledAt   time.Time `json:"sampledAt"`
					} `json:"usage"`
				} `json:"server"`
			} `json:"status"`
		}
		if json.Unmarshal(item.JSON, &vm) == nil { // which the schema of the kind guarantees
			usage := vm.Status.Server.Usage
			r.Record(item.UID, usage.SampledAt, r.options.Now(), usage.CPUCores, usage.MemoryBytes)
		}
	}
}

// takeNodes reads what nodes use, and notes whether somebody serves it.
func (r *Recorder) takeNodes(ctx context.Context) {
	r.taking.Lock()
	defer r.taking.Unlock()
	defer func() { r.Forget(r.options.Now()) }()
	err := r.readMetrics(ctx)
	if was := r.served.Swap(err == nil); was && err != nil && ctx.Err() == nil {
		r.options.Log.Info("Usage of nodes is not measured any more", "cause", err.Error())
	}
}

// readMetrics reads the usage of nodes from the program that serves metrics.k8s.io. It measures node after node: what was read together is of one
// minute, or sums would have only some of the nodes.
func (r *Recorder) readMetrics(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, metricsTimeout)
	defer cancel()
	body, err := r.options.Server.Get().AbsPath(metricsPath).Stream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	var list struct {
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Timestamp time.Time `json:"timestamp"`
			Usage     struct {
				CPU    resource.Quantity `json:"cpu"`
				Memory resource.Quantity `json:"memory"`
			} `json:"usage"`
		} `json:"items"`
	}
	if err := json.NewDecoder(io.LimitReader(body, maxMetrics)).Decode(&list); err != nil {
		return fmt.Errorf("cannot read the metrics of nodes: %w", err)
	}
	now := r.options.Now()
	for i := range list.Items {
		measured := &list.Items[i]
		// A node that is not there is nobody's: its metrics can be invented.
		if node, exists := r.options.Nodes.Store.Get("", measured.Metadata.Name); exists {
			at := measured.Timestamp
			if now.Sub(at).Abs() <= fresh {
				at = now
			}
			r.Record(node.UID, at, now, measured.Usage.CPU.AsApproximateFloat64(), measured.Usage.Memory.Value())
		}
	}
	return nil
}
