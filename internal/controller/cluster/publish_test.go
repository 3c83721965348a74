// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// running returns the ConfigMap that publishes the run of the Cluster; nil if there is none.
func (s *stage) running() *corev1.ConfigMap {
	s.t.Helper()
	live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.namespace, Name: s.cluster.Name + clusterprovisionerv1alpha1.RunningSuffix,
	}}
	if !s.Get(s.t, live) {
		return nil
	}
	return live
}

// hangs creates a Cluster whose tool prints a line and hangs, and waits until a pass has seen the line.
func (s *stage) hangs() {
	s.t.Helper()
	s.file("up.hangs", "")
	s.create()
	s.until("the tool has printed", func() bool { return s.underWay().Log != "" })
	s.pass() // the one before may have been the one that started the tool
}

// underWay is the run of the Cluster, as the tool's supervisor tells it.
func (s *stage) underWay() provision.Run {
	run, _ := s.runner.Observe(s.t.Context(), string(s.cluster.UID))
	return run
}

// ends stops the tool, and waits until that is recorded.
func (s *stage) ends() {
	s.t.Helper()
	if err := s.runner.Cancel(s.t.Context(), string(s.cluster.UID)); err != nil {
		s.t.Fatal(err)
	}
	s.until("its end is recorded", func() bool { last := s.cluster.Status.LastOperation; return last != nil && last.EndTime != nil })
}

// TestWhatAToolPrintsIsPublishedWhileItRuns ends with nothing published: the log of a run that has ended is elsewhere.
func TestWhatAToolPrintsIsPublishedWhileItRuns(t *testing.T) {
	s := newStage(t)
	s.hangs()
	s.later()
	s.pass()
	got := s.running()
	if got == nil {
		t.Fatal("nothing is published")
	}
	run, underWay := provision.DecodeRunning(got.Data)
	if want := s.underWay().Log; !underWay || run.Log != want || run.ID != s.cluster.Status.LastOperation.ID {
		t.Errorf("published is %+v, want the log %q", run, want)
	}
	s.settled()
	for range 3 { // it has printed nothing since
		s.later()
		s.pass()
	}
	if again := s.running(); again.ResourceVersion != got.ResourceVersion {
		t.Error("it was written again without a change")
	}
	s.restart() // another manager ends what this one has begun
	s.ends()
	if left := s.running(); strings.Contains(left.Data["log"], "begins") {
		t.Errorf("of a run that has ended it still has %q", left.Data)
	}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + clusterprovisionerv1alpha1.LogSuffix}}
	if !s.Get(t, kept) || !strings.Contains(kept.Data["log"], "begins") {
		t.Errorf("its log is not kept: %q", kept.Data)
	}
}

// TestAShortRunIsNotPublished is about what a run costs: most are over soon.
func TestAShortRunIsNotPublished(t *testing.T) {
	t.Parallel()
	var p published
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	if wait := p.of("a", "one", now).next.Sub(now); wait != provision.PublishPause("") {
		t.Errorf("a run that has just begun is published after %s", wait)
	}
	if wait := p.of("a", "one", now.Add(time.Second)).next.Sub(now); wait != provision.PublishPause("") {
		t.Errorf("asked once more, it is published after %s", wait)
	}
	p.note("a", publication{run: "one", log: "line\n", next: now.Add(time.Hour)})
	if got := p.of("a", "two", now).log; got != "" {
		t.Errorf("of another run %q was published", got)
	}
}

// TestAttackAConfigMapInThePlaceOfTheLines is about one of that name that somebody else has made.
func TestAttackAConfigMapInThePlaceOfTheLines(t *testing.T) {
	s := newStage(t)
	s.hangs()
	foreign := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + clusterprovisionerv1alpha1.RunningSuffix},
		Data:       map[string]string{"mine": "yes"},
	}
	s.Create(t, foreign)
	s.later()
	s.pass()
	s.ends()
	if got := s.running(); len(got.Data) != 1 || got.Data["mine"] != "yes" || len(got.OwnerReferences) > 0 {
		t.Errorf("it was changed: %+v", got)
	}
}

// TestAttackAConfigMapInThePlaceOfTheLog is about one of that name that somebody else has made: the end of the first run took it over, and the garbage
// collector deleted it with the Cluster. Nothing waits for the log.
func TestAttackAConfigMapInThePlaceOfTheLog(t *testing.T) {
	for name, appears := range map[string]bool{"it is there": false, "it has just appeared": true} {
		t.Run(name, func(t *testing.T) {
			s, made := newStage(t), false
			foreign := &corev1.ConfigMap{}
			create := func() {
				foreign.ObjectMeta = metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + clusterprovisionerv1alpha1.LogSuffix}
				foreign.Data = map[string]string{"log": "mine"}
				s.Create(t, foreign)
				made = true
			}
			s.r.direct = testkit.Meanwhile(s.r.direct, func(object runtime.ApplyConfiguration) {
				if log, ok := object.(*corev1ac.ConfigMapApplyConfiguration); ok && !made && strings.HasSuffix(*log.Name, clusterprovisionerv1alpha1.LogSuffix) {
					create()
				}
			})
			s.create()
			if !appears {
				create()
			}
			testkit.Eventually(t, "the run is recorded", func() bool {
				_, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(s.cluster))
				if err != nil && !apierrors.IsConflict(err) {
					t.Fatal(err)
				}
				return s.Get(t, s.cluster) && s.cluster.Status.AppliedConfigHash != ""
			})
			s.ready()
			if !made || !s.Get(t, foreign) || len(foreign.Data) != 1 || foreign.Data["log"] != "mine" || len(foreign.Labels)+len(foreign.OwnerReferences) > 0 {
				t.Errorf("it was changed: %+v", foreign)
			}
		})
	}
}

// wordy is a provisioner whose runs tell of a stage without bounds, as a kubelet tells why it cannot pull an image.
type wordy struct{ provision.Provisioner }

// Observe implements provision.Provisioner.
func (w *wordy) Observe(ctx context.Context, cluster string) (provision.Run, error) {
	run, err := w.Provisioner.Observe(ctx, cluster)
	run.Stage = strings.Repeat("failed to resolve reference ", 40)
	return run, err
}

// TestAStageWithoutBoundsHidesItself is about an image that cannot be pulled: what the kubelet says of it has no room in the status, which the API server
// refused as a whole, until the Job was over.
func TestAStageWithoutBoundsHidesItself(t *testing.T) {
	s := newStage(t)
	s.r.provisioner = &wordy{s.r.provisioner}
	s.hangs()
	s.until("the stage is told", func() bool {
		return strings.HasPrefix(s.cluster.Status.LastOperation.Stage, "failed to resolve reference failed to resolve reference")
	})
	if got := s.cluster.Status.LastOperation.Stage; len(got) > maxStage || !strings.HasSuffix(got, "...") {
		t.Errorf("the stage is %q", got)
	}
	s.ends()
}

// cannotPublish is a client by which nothing can be published.
type cannotPublish struct {
	client.Client

	tried int
}

func (c *cannotPublish) Apply(ctx context.Context, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	if named, ok := object.(interface{ GetName() *string }); ok && strings.HasSuffix(*named.GetName(), clusterprovisionerv1alpha1.RunningSuffix) {
		c.tried++
		return errors.New("refused")
	}
	return c.Client.Apply(ctx, object, options...)
}

// TestARunThatCannotBePublishedGoesOn is about what nobody needs to provision a cluster.
func TestARunThatCannotBePublishedGoesOn(t *testing.T) {
	s := newStage(t)
	refusing := &cannotPublish{Client: s.r.direct}
	s.r.direct = refusing
	s.hangs()
	s.later()
	s.pass()
	s.pass()
	if refusing.tried != 1 {
		t.Errorf("it was tried %d times in a row", refusing.tried)
	}
	s.later()
	s.pass()
	if refusing.tried != 2 {
		t.Errorf("after a pause it was tried %d times in all", refusing.tried)
	}
	if !s.is(status.Reconciling, "True Applying: waiting for the tool to apply the configuration") {
		t.Errorf("the status is %+v", s.cluster.Status.Conditions)
	}
	s.ends()
}
