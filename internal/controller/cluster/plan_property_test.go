// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision"
)

// lives is how many lives of a Cluster the properties are tried with, steps how much happens in each of them.
const (
	lives = 400
	steps = 60
)

// life plays a Cluster without an API server and without a tool: the planner's decisions are carried out on values, while a person
// changes the configuration, approves, asks for a retry, and deletes, at random.
type life struct {
	*situation

	random *rand.Rand
	now    time.Time
	// ran are the IDs of all runs.
	ran []string
	// taken are the configurations that a run has applied, tried those that one was given.
	taken, tried []document
}

// TestPropertyRunsOfALife holds, for random lives, that no run starts twice or beside another; that nothing starts from a refused or
// unapproved configuration; that a removal is given what was applied, or else what was tried; and that a life in which nothing happens any
// more comes to rest.
func TestPropertyRunsOfALife(t *testing.T) {
	t.Parallel()
	for seed := range uint64(lives) {
		random := rand.New(rand.NewPCG(seed, 1))
		l := &life{situation: given(), random: random, now: noon}
		if random.IntN(2) == 0 {
			manual(l.situation)
		}
		for range steps {
			l.person()
			if problem := l.pass(); problem != "" {
				t.Fatalf("life %d: %s\nruns: %v", seed, problem, l.ran)
			}
		}
		l.rest(t, seed)
	}
}

// person does something now and then.
func (l *life) person() {
	switch l.random.IntN(12) {
	case 0:
		configured([]string{textA, textB, textNewer}[l.random.IntN(3)])(l.situation)
		l.seen.problem = nil
	case 1:
		refusedConfig("ConfigUnreadable", "no YAML")(l.situation)
	case 2:
		if change := l.cluster.Status.Plan; change != nil {
			annotate(clusterprovisionerv1alpha1.ApproveAnnotation, change.ID)(l.cluster)
		}
	case 3:
		annotate(clusterprovisionerv1alpha1.RetryAnnotation, strconv.Itoa(l.random.IntN(3)))(l.cluster)
	case 4:
		if l.random.IntN(5) == 0 {
			l.cluster.DeletionTimestamp = new(metav1.NewTime(l.now))
		}
	case 5, 6, 7:
		l.now = l.now.Add(time.Duration(l.random.IntN(10)) * time.Minute)
	default:
		l.tool()
	}
}

// tool ends the run that is under way.
func (l *life) tool() {
	if run := l.seen.run; run != nil && run.Phase == provision.Running {
		run.Phase = []provision.Phase{provision.Succeeded, provision.Succeeded, provision.Failed, provision.Interrupted}[l.random.IntN(4)]
		if run.Phase != provision.Succeeded {
			run.Failure = &provision.Failure{Reason: clusterprovisionerv1alpha1.ReasonUnknown, Message: "no", Retryable: true}
		}
		l.seen.left = &provision.Artifacts{}
	}
}

// pass carries out one plan, as act and describe do, and returns which property it breaks.
func (l *life) pass() string {
	decided := plan(l.cluster, l.seen, l.now)
	l.cluster.Status.Plan = decided.change
	if decided.save != nil {
		l.record(decided.save)
	}
	if decided.release && len(l.taken) > 0 && !removed(l.cluster.Status.LastOperation) {
		return "a cluster that was applied is released before it has been removed"
	}
	if decided.start == nil {
		return ""
	}
	if problem := l.judge(decided.start); problem != "" {
		return problem
	}
	next := decided.start
	l.seen.stored = l.seen.stored.before(next, l.cluster.Status.LastOperation)
	l.seen.run = &provision.Run{ID: next.id, Action: next.action, Phase: provision.Running}
	l.cluster.Status.LastOperation = &clusterprovisionerv1alpha1.Operation{
		ID: next.id, Action: clusterprovisionerv1alpha1.Action(next.action), Attempt: next.attempt, ConfigHash: next.digest,
	}
	l.ran = append(l.ran, next.id)
	return ""
}

// judge returns what is wrong with a run that is about to start.
func (l *life) judge(next *launch) string {
	switch {
	case len(l.ran) > 0 && l.ran[len(l.ran)-1] == next.id:
		return "run " + next.id + " starts twice"
	case next.action == provision.Up && len(l.taken) > 0 && next.digest == l.cluster.Status.AppliedConfigHash && !repeatRequested(l.cluster):
		return "an applied configuration is applied again"
	case l.seen.run != nil && l.seen.run.Phase == provision.Running:
		return "run " + next.id + " starts beside another"
	case next.action == provision.Up && !l.cluster.DeletionTimestamp.IsZero():
		return "a deleted cluster comes up"
	case next.action == provision.Up && l.seen.problem != nil:
		return "a refused configuration is applied"
	case next.action == provision.Up && l.cluster.Spec.Approval == clusterprovisionerv1alpha1.ApprovalManual && !l.approved(next):
		return "a change is applied that nobody has approved"
	case next.action == provision.Up:
		l.tried = append(l.tried, next.document)
		return ""
	case len(l.taken) > 0 && !next.document.equal(l.taken[len(l.taken)-1]):
		return "a removal is given something else than what was applied last"
	case len(l.taken) == 0 && !slices.ContainsFunc(l.tried, next.document.equal):
		return "a removal is given what the tool has never been given"
	}
	return ""
}

// approved reports whether a person has approved a run with what it takes back, or need not: it gives the tool once more what it was given last, and has
// applied.
func (l *life) approved(next *launch) bool {
	from, last := l.cluster.Status.AppliedConfigHash, ""
	if len(l.tried) > 0 {
		last = mustRead(string(l.tried[len(l.tried)-1].text)).Digest
	}
	if from == next.digest {
		from = last
	}
	approval, wanted := l.cluster.Annotations[clusterprovisionerv1alpha1.ApproveAnnotation], planID(from, next.digest)
	if last != "" && last != from && last != next.digest {
		wanted = planID(from, next.digest, last)
	}
	return from == next.digest || approval == wanted || strings.HasPrefix(approval, wanted+"-")
}

// record makes the status say that the run has ended.
func (l *life) record(kept *store) {
	run, last := l.seen.run, l.cluster.Status.LastOperation
	l.seen.stored, l.seen.left = kept, nil
	last.EndTime = new(metav1.NewTime(l.now))
	if run.Failure != nil {
		last.Reason = run.Failure.Reason
	}
	if run.Action == provision.Up && run.Phase == provision.Succeeded {
		l.cluster.Status.AppliedConfigHash = last.ConfigHash
		l.taken = append(l.taken, kept.applied)
	}
}

// rest holds that a Cluster which nobody changes any more is applied, released, or waits for a person.
func (l *life) rest(t *testing.T, seed uint64) {
	t.Helper()
	for range 40 {
		if run := l.seen.run; run != nil && run.Phase == provision.Running {
			run.Phase, l.seen.left = provision.Succeeded, &provision.Artifacts{}
		}
		if problem := l.pass(); problem != "" {
			t.Fatalf("life %d, at its end: %s\nruns: %v", seed, problem, l.ran)
		}
		l.now = l.now.Add(time.Hour)
	}
	last := plan(l.cluster, l.seen, l.now)
	waiting := last.outcome.IsStalled() || last.outcome.Reason() == clusterprovisionerv1alpha1.ReasonWaitingForApproval
	if last.start != nil || !last.release && !last.outcome.IsDone() && !waiting {
		t.Errorf("life %d does not come to rest: %s %s\nruns: %s", seed, last.outcome.Reason(), last.outcome.Message(), strings.Join(l.ran, " "))
	}
	if last.outcome == flow.Done() && !last.release && !bytes.Equal(l.seen.stored.applied.text, l.seen.raw) {
		t.Errorf("life %d rests on another configuration than the present one", seed)
	}
}
