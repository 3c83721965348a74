// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// followEvery is how often runs that are under way are asked how far they are.
const followEvery = 2 * time.Second

// Watch follows the runs that are under way, also those that an earlier process started, until ctx ends: it stores what they leave, and
// sends their clusters to Changed, and those that there is a slot for. It asks nothing while there are no runs.
func (r *Runner) Watch(ctx context.Context) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	var following sync.WaitGroup
	defer following.Wait()
	asked := &inFlight{}
	var known map[types.UID]string
	var called []string
	for {
		jobs, err := r.list(ctx)
		if err == nil {
			known = r.compare(known, jobs)
			called = append(called, r.queue.Call(r.options.Limit-slotsIn(jobs), r.options.Now())...)
		}
		called = slices.DeleteFunc(called, r.send)
		for i := range jobs {
			if of := &jobs[i]; !over(of) && asked.begin(of.UID) {
				following.Go(func() { defer asked.end(of.UID); r.follow(ctx, of) })
			}
		}
		next := tick.C
		if err == nil && len(jobs) == 0 && len(called) == 0 {
			next = nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.woken:
		case <-next:
		}
	}
}

// compare tells of the Jobs that have ended or are gone, and returns the cluster of each that is there.
func (r *Runner) compare(known map[types.UID]string, jobs []batchv1.Job) map[types.UID]string {
	now := make(map[types.UID]string, len(jobs))
	for i := range jobs {
		of := &jobs[i]
		now[of.UID] = of.Labels[runLabel]
		if over(of) {
			r.tell(now[of.UID], "over "+of.Name)
		}
	}
	for uid, cluster := range known {
		if _, there := now[uid]; !there {
			r.tell(cluster, "gone "+string(uid))
		}
	}
	return now
}

// follow asks a run once how far it is, and stores its result if it has ended.
func (r *Runner) follow(ctx context.Context, of *batchv1.Job) {
	kept := &run{
		cluster: of.Labels[runLabel], id: of.Annotations[clusterprovisionerv1alpha1.OperationAnnotation],
		action: provision.Action(of.Annotations[actionAnnotation]),
	}
	pod, err := r.podOf(ctx, of)
	switch {
	case err != nil:
		r.hinder(of, kept, err.Error())
		return
	case pod == nil:
		return
	case !working(pod):
		r.advance(kept, provision.Run{Stage: obstacle(pod)})
		return
	}
	told, err := r.ask(ctx, pod, kept.cluster)
	switch {
	case err != nil:
		r.hinder(of, kept, fmt.Sprintf("Pod %s/%s cannot be asked: %s", pod.Namespace, pod.Name, err))
		return
	case told.Run.Phase == provision.Running:
		r.advance(kept, trim(told, kept, r.options.Now()).Run)
		return
	}
	if err := r.settle(ctx, of, told); err != nil {
		r.hinder(of, kept, "the run has ended, and its result cannot be stored: "+err.Error())
		return
	}
	r.tell(kept.cluster, "ended "+of.Name)
	r.wake()
}

// advance keeps and tells how far a run is.
func (r *Runner) advance(of *run, to provision.Run) {
	r.progress.note(of.cluster, to)
	r.tell(of.cluster, fmt.Sprint(to.Stage, len(to.Log)))
}

// When a run that cannot be followed says so: after a failure of hindered tries in a row, because a Pod that ends fails once or twice, and then every
// hinderedAgain tries, because errors name ports and times, and each other text would be a write of the status.
const (
	hindered      = 2
	hinderedAgain = 10
)

// hinder says what keeps a run from being followed. The next time may do better; a Pod that has ended ends its Job. A Job that is being deleted can be
// that of the run before.
func (r *Runner) hinder(by *batchv1.Job, of *run, problem string) {
	if !by.DeletionTimestamp.IsZero() {
		return
	}
	if failures := r.progress.fail(of.cluster); failures != hindered && failures%hinderedAgain != 0 {
		return
	}
	stage := status.Clip(provision.Redact(problem), maxText)
	r.progress.say(of, stage)
	r.tell(of.cluster, stage)
}

// settle stores how a run ended, unless that is known, and deletes its Job: the Pod has nothing left to do.
func (r *Runner) settle(ctx context.Context, of *batchv1.Job, told *Report) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	cluster := of.Labels[runLabel]
	kept, err := r.read(ctx, cluster)
	if err != nil {
		return err
	}
	if kept == nil || of.Name != jobName(cluster, kept.id) || kept.job != "" && kept.job != string(of.UID) {
		return nil // the Job of another run: the next start deletes it
	}
	if kept.result == nil {
		kept.job, kept.request = string(of.UID), nil
		kept.result = trim(told, kept, r.options.Now())
		err := r.write(ctx, kept)
		if errors.Is(err, errTooLarge) {
			kept.result = tooLarge(kept.result)
			err = r.write(ctx, kept)
		}
		if err != nil {
			return err
		}
	}
	r.progress.drop(cluster)
	return r.delete(ctx, of)
}

// ask reads how far a run is, and what it left. A Pod that tells more than a run may leave has ended it.
func (r *Runner) ask(ctx context.Context, pod *corev1.Pod, cluster string) (*Report, error) {
	out := &bounded{limit: maxPacked}
	told := &Report{}
	err := r.options.Attach(ctx, pod.Name, []string{program, Command, "report", cluster}, out)
	if err == nil {
		err = unpack(out.Bytes(), told)
	}
	if errors.Is(err, errTooLarge) || out.full {
		return tooLarge(told), nil
	}
	return told, err
}

// obstacle says why a Pod has not begun, as far as it tells.
func obstacle(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return "the Pod waits for a node: " + condition.Message
		}
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, c := range statuses {
			if waits := c.State.Waiting; waits != nil && waits.Message != "" {
				return "container " + c.Name + " waits: " + waits.Reason + ": " + waits.Message
			}
		}
	}
	return "the Pod starts"
}

// tell sends a cluster to Changed, unless that was sent for the same state.
func (r *Runner) tell(cluster, state string) {
	if r.progress.differs(cluster, state) && !r.send(cluster) {
		r.progress.differs(cluster, "")
	}
}

// send sends a cluster to Changed, and reports whether it could: a slow reader is told the next time.
func (r *Runner) send(cluster string) bool {
	select {
	case r.changed <- cluster:
		return true
	default:
		return false
	}
}

// slotsIn counts the Jobs that hold a slot.
func slotsIn(jobs []batchv1.Job) int {
	count := 0
	for i := range jobs {
		if holdsSlot(&jobs[i]) {
			count++
		}
	}
	return count
}

// inFlight are the Jobs that are being asked: a node that does not answer delays nobody else.
type inFlight struct {
	mu   sync.Mutex
	jobs map[types.UID]bool
}

func (f *inFlight) begin(uid types.UID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.jobs[uid] {
		return false
	}
	if f.jobs == nil {
		f.jobs = map[types.UID]bool{}
	}
	f.jobs[uid] = true
	return true
}

func (f *inFlight) end(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.jobs, uid)
}
