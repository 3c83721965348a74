// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/provision"
)

// Options say how tools are run.
type Options struct {
	// Client reads and writes without a cache.
	Client client.Client
	// Namespace is the one that Windlass runs in. No Job, Pod or Secret of another is used.
	Namespace string
	// Supervisor is the image with this program, whose entry point it is.
	Supervisor string
	// PullSecrets name the Secrets of the namespace with which the images are pulled. Without any, the API server adds those of the ServiceAccount
	// default, which Windlass has no right to read.
	PullSecrets []corev1.LocalObjectReference
	// Images are the images of tools, by the names of provisioners.
	Images map[string]string
	// Limit is how many runs can be under way at the same time.
	Limit int
	// Attach runs a command in a container.
	Attach Attach
	// Now is the time.
	Now func() time.Time
}

// Runner implements provision.Provisioner.
type Runner struct {
	options Options
	changed chan string
	// woken has an element if a run has started that nobody follows yet, or one has ended.
	woken chan struct{}
	// queue holds the clusters that found no slot.
	queue provision.Queue

	// mu is held while the Secret and the Job of a run change, so that others see both or none.
	mu sync.Mutex
	// progress is what was last read of runs that are under way, by cluster.
	progress progress
}

var _ provision.Provisioner = (*Runner)(nil)

// New returns a Runner.
func New(options Options) *Runner {
	return &Runner{options: options, changed: make(chan string, 64), woken: make(chan struct{}, 1)}
}

// Start implements provision.Provisioner. The Secret is written before the Job: a manager that ends in between starts the run again, and
// finds nothing that runs.
func (r *Runner) Start(ctx context.Context, wanted provision.Request) error {
	image, err := r.imageFor(wanted)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, err := r.read(ctx, wanted.Cluster)
	if err != nil {
		return err
	}
	if kept != nil && kept.id == wanted.ID && (kept.result != nil || kept.job != "") && !kept.predates(wanted.Since) {
		return nil // it is under way, has ended, or was interrupted
	}
	if err := r.makeWay(ctx, wanted, kept); err != nil {
		if errors.Is(err, provision.ErrLimit) {
			r.queue.Join(wanted.Cluster)
		}
		return err
	}
	r.queue.Leave(wanted.Cluster)
	next := &run{cluster: wanted.Cluster, name: wanted.Name, id: wanted.ID, action: wanted.Action}
	if next.request, err = pack(requestFor(wanted)); err != nil {
		return fmt.Errorf("cannot pass configuration and state of %q to its Pod: %w", wanted.Name, err)
	}
	if err := wanted.CallBefore(ctx); err != nil {
		return err
	}
	if err := r.write(ctx, next); err != nil {
		return err
	}
	if next.job, err = r.create(ctx, manifest(r.options, wanted, image)); err != nil {
		return err
	}
	if err := r.write(ctx, next); err != nil {
		return err
	}
	r.wake()
	return nil
}

// wake has Watch look at once.
func (r *Runner) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// imageFor returns the image of the request's tool, or why Windlass has none.
func (r *Runner) imageFor(wanted provision.Request) (string, error) {
	if wanted.ConfigPath != "" {
		return "", fmt.Errorf("%w: with --tool-runner=job tools run in Pods, which do not have the file %q: use spec.config instead of spec.configPath",
			provision.ErrPathRefused, wanted.ConfigPath)
	}
	return r.image(wanted.Tool)
}

func (r *Runner) image(tool provision.Tool) (string, error) {
	if image := r.options.Images[tool.Name]; image != "" {
		return image, nil
	}
	return "", fmt.Errorf("%w: --tool-runner=job needs an image with the tool of provisioner %[2]q: start Windlass with --tool-images=%[2]s=IMAGE",
		provision.ErrToolMissing, tool.Name)
}

// requestFor returns what the Pod is told. What a tool leaves running would end with its Pod.
func requestFor(wanted provision.Request) provision.Request {
	wanted.Tool.KeepsDaemons = false
	return wanted
}

// makeWay returns nil if the run can start, and deletes the Jobs of the cluster's runs that have ended.
func (r *Runner) makeWay(ctx context.Context, wanted provision.Request, kept *run) error {
	jobs, err := r.list(ctx)
	if err != nil {
		return err
	}
	others, own := 0, types.UID("")
	for i := range jobs {
		found := &jobs[i]
		switch {
		case found.Name == jobName(wanted.Cluster, wanted.ID): // it was created, and nobody noted that
			own = found.UID
		case found.Labels[runLabel] != wanted.Cluster:
			if holdsSlot(found) {
				others++
			}
		case over(found), kept.settled(found):
			if err := r.delete(ctx, found); err != nil {
				return err
			}
		default:
			return provision.ErrBusy
		}
	}
	if err := r.outlived(ctx, wanted.Cluster, kept, own); err != nil { // before the limit, which Forget does not mind
		return err
	}
	if others >= r.options.Limit {
		return provision.ErrLimit
	}
	return nil
}

// Observe implements provision.Provisioner.
func (r *Runner) Observe(ctx context.Context, cluster string) (provision.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, err := r.read(ctx, cluster)
	if err != nil {
		return provision.Run{}, err
	}
	if kept == nil {
		return provision.Run{}, provision.ErrNoRun
	}
	if kept.result != nil {
		return kept.result.Run, nil
	}
	found, err := r.jobOf(ctx, kept)
	switch {
	case err != nil:
		return provision.Run{}, err
	case found == nil && kept.job == "":
		return provision.Run{}, provision.ErrNoRun // a manager ended before it could start it
	case found == nil:
		return interrupted(kept, "its Job was deleted"), nil
	case over(found):
		return interrupted(kept, "its Job ended without a result: "+whyOver(found)), nil
	}
	return r.progress.of(kept, found), nil
}

// Cancel implements provision.Provisioner.
func (r *Runner) Cancel(ctx context.Context, cluster string) error {
	kept, found, err := r.underWay(ctx, cluster)
	if err != nil || found == nil {
		return err
	}
	pod, err := r.podOf(ctx, found)
	if err != nil {
		return err
	}
	if pod == nil || !working(pod) {
		return r.delete(ctx, found) // the tool has not begun: there is nothing that it could save
	}
	err = r.options.Attach(ctx, pod.Name, []string{program, Command, "cancel", kept.cluster}, nil)
	if err != nil && r.progress.hindered(cluster) {
		return r.delete(ctx, found) // the kubelet tells it to stop as well, with the same grace
	}
	if err != nil {
		return fmt.Errorf("cannot tell the tool in Pod %s/%s to stop: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// underWay returns the cluster's run and its Job; the Job is nil unless the run is under way.
func (r *Runner) underWay(ctx context.Context, cluster string) (*run, *batchv1.Job, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, err := r.read(ctx, cluster)
	if err != nil || kept == nil || kept.result != nil {
		return kept, nil, err
	}
	found, err := r.jobOf(ctx, kept)
	if err != nil || found == nil || over(found) {
		return kept, nil, err
	}
	return kept, found, nil
}

// Collect implements provision.Provisioner.
func (r *Runner) Collect(ctx context.Context, place provision.Place, _ provision.Tool) (provision.Artifacts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, err := r.read(ctx, place.Cluster)
	if err != nil || kept == nil || kept.result == nil || kept.result.Left == nil {
		return provision.Artifacts{}, err
	}
	return *kept.result.Left, nil
}

// Forget implements provision.Provisioner.
func (r *Runner) Forget(ctx context.Context, cluster string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, err := r.read(ctx, cluster)
	if err != nil {
		return err
	}
	r.queue.Leave(cluster)
	none := provision.Request{Place: provision.Place{Cluster: cluster}}
	if err := r.makeWay(ctx, none, kept); err != nil && !errors.Is(err, provision.ErrLimit) {
		return err
	}
	if kept == nil {
		return nil
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.options.Namespace, Name: secretName(cluster)}}
	if err := r.options.Client.Delete(ctx, secret); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot delete Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	r.progress.drop(cluster)
	return nil
}

// Version implements provision.Provisioner. What a tool says about its version would take a Pod to find out; its image says it as well.
func (r *Runner) Version(_ context.Context, tool provision.Tool) (string, error) {
	return r.image(tool)
}

// Changed implements provision.Provisioner.
func (r *Runner) Changed() <-chan string { return r.changed }
