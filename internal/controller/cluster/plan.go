// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// launch is a run to start.
type launch struct {
	id      string
	action  provision.Action
	attempt int32
	digest  string
	// document is the configuration that the tool is given.
	document document
}

// decision is what a pass has to do.
type decision struct {
	// save is what to store now that the last run has ended; nil unless that has to be recorded. lost is why what it left cannot be stored, and so
	// how it has failed; nil if it can.
	save *store
	lost *provision.Failure
	// regain says that the state of the tool has to be stored once more: its Secret is gone.
	regain bool
	// cancel says that the run that is under way has to end.
	cancel bool
	// start is the run to start; nil for none.
	start *launch
	// release says that the Cluster can go: nothing is left of it, or what is left stays.
	release bool
	// kubeconfig is what to write to the Secret; nil leaves it as it is. refused says why it is not written, or of no use.
	kubeconfig []byte
	refused    *refusal
	// dropFormer says that the Secret that held the kubeconfig before has to be deleted.
	dropFormer bool
	// change is what applying the configuration will change; nil if it is applied.
	change *clusterprovisionerv1alpha1.Plan
	// retryAt is when a failed run is repeated; zero if it is not.
	retryAt time.Time
	// outcome is how the pass goes on once all this is done.
	outcome flow.Outcome
}

// soon is how long a pass waits that recorded something which the next one decides on.
const soon = 20 * time.Millisecond

// plan decides what to do about a Cluster.
func plan(cluster *clusterprovisionerv1alpha1.Cluster, seen observation, now time.Time) decision {
	next := planRun(cluster, seen, now)
	next.regain = seen.regained && !next.release && !status.IsPaused(cluster)
	if cluster.DeletionTimestamp.IsZero() {
		planKubeconfig(&next, cluster, seen)
	}
	return next
}

// planRun decides which run of the tool to start, to follow, or to record.
func planRun(cluster *clusterprovisionerv1alpha1.Cluster, seen observation, now time.Time) decision {
	switch run := seen.run; {
	case run != nil && run.Phase == provision.Running:
		return follow(cluster, run)
	case run != nil && !recorded(cluster, run) && seen.unusable == nil && !orphaned(cluster):
		return record(seen)
	case !cluster.DeletionTimestamp.IsZero():
		return planRemoval(cluster, seen, now)
	}
	return planUp(cluster, seen, now)
}

// recorded reports whether the status says how the run ended.
func recorded(cluster *clusterprovisionerv1alpha1.Cluster, run *provision.Run) bool {
	last := cluster.Status.LastOperation
	return last != nil && last.ID == run.ID && (last.EndTime != nil || last.Reason != "")
}

// lostRun returns the last run as one that was interrupted, if the status does not say how it ended and nothing else is left of it; nil if the
// status does.
func lostRun(cluster *clusterprovisionerv1alpha1.Cluster) *provision.Run {
	last := cluster.Status.LastOperation
	if last == nil || last.EndTime != nil || last.Reason != "" {
		return nil
	}
	run := &provision.Run{
		ID: last.ID, Action: provision.Action(last.Action), Phase: provision.Interrupted,
		Failure: &provision.Failure{
			Reason: clusterprovisionerv1alpha1.ReasonInterrupted, Retryable: true,
			Message: "nothing is left of the run: the Pod or the machine that it ran on is gone",
		},
	}
	if last.StartTime != nil {
		run.StartedAt = last.StartTime.Time
	}
	return run
}

// outdated reports whether a run that has ended is from before the last one: another manager has led since, went on from it, and has stored
// newer state than this machine keeps. A run that began after the last one is not: its manager died before it could record it. Without a copy,
// an old state is the best there is. Where there is no run, a start that came to nothing can have left a state, which a later run of another manager has
// outdated, too.
func outdated(cluster *clusterprovisionerv1alpha1.Cluster, kept *store, run *provision.Run, none bool) bool {
	last := cluster.Status.LastOperation
	if none {
		return kept != nil && last != nil && last.StartTime != nil
	}
	return kept != nil && run.Predates(last)
}

// follow waits for a run that is under way. A Cluster that is deleted does not wait until it has come up, and a removal stops once the machines are to
// stay.
func follow(cluster *clusterprovisionerv1alpha1.Cluster, run *provision.Run) decision {
	if !cluster.DeletionTimestamp.IsZero() && run.Action == provision.Up || orphaned(cluster) {
		return decision{cancel: true, outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonRemoving, "the running tool to stop", lookAgain)}
	}
	return decision{outcome: working(run.Action)}
}

// record saves what a run left, so that the status can say that it has ended.
func record(seen observation) decision {
	kept, lost := seen.stored.after(seen.run, seen.left)
	return decision{
		save: kept, lost: lost,
		outcome: flow.Wait(reasonFor(seen.run.Action), "the end of the run to be recorded", soon),
	}
}

// planKubeconfig decides whether the kubeconfig that the tool last wrote has to be written to the Secret, or why it must not be.
func planKubeconfig(next *decision, cluster *clusterprovisionerv1alpha1.Cluster, seen observation) {
	kept, live := seen.stored, seen.kubeconfig
	if next.save != nil {
		kept = next.save
	}
	if kept == nil || len(kept.kubeconfig) == 0 {
		return
	}
	_, err := kube.Target(kept.kubeconfig)
	switch {
	case err != nil:
		next.refused = &refusal{clusterprovisionerv1alpha1.ReasonKubeconfigInvalid, err.Error()}
	case live.forbidden != nil:
		next.refused = live.forbidden
	case live.foreign:
		next.refused = &refusal{
			clusterprovisionerv1alpha1.ReasonSecretConflict,
			fmt.Sprintf("Secret %s/%s exists and does not belong to this Cluster. Delete it, or name another in spec.kubeconfigSecretRef",
				live.ref.Namespace, live.ref.Name),
		}
	case status.IsPaused(cluster):
	case !bytes.Equal(kept.kubeconfig, live.content):
		next.kubeconfig, next.dropFormer = kept.kubeconfig, seen.former != nil
	default:
		next.dropFormer = seen.former != nil
	}
}

// planUp has the configuration applied, unless it is.
func planUp(cluster *clusterprovisionerv1alpha1.Cluster, seen observation, now time.Time) decision {
	if problem := cmp.Or(seen.problem, seen.unusable, seen.forbidden); problem != nil {
		return decision{outcome: problem.stall()}
	}
	applied := appliedDigest(cluster, seen)
	if applied == seen.config.Digest && !repeatRequested(cluster) {
		return decision{}
	}
	next := decision{change: changeOf(applied, seen)}
	attempt := int32(1)
	if last := cluster.Status.LastOperation; last != nil && strings.HasPrefix(last.ID, upPrefix(cluster, seen.config.Digest)) {
		attempt = last.Attempt + 1
		if next.outcome, next.retryAt = retry(cluster.Spec.Retry, last, now); !next.outcome.IsDone() {
			return next
		}
	}
	// What the tool was given last and has applied changes nothing, and a person has asked for it: there is nothing to approve.
	approved := approves(cluster.Annotations[clusterprovisionerv1alpha1.ApproveAnnotation], next.change.ID) ||
		next.change.ID == planID(seen.config.Digest, seen.config.Digest)
	switch {
	case status.IsPaused(cluster):
		next.outcome = paused()
	case cluster.Spec.Approval == clusterprovisionerv1alpha1.ApprovalManual && !approved:
		next.outcome = flow.Wait(clusterprovisionerv1alpha1.ReasonWaitingForApproval, fmt.Sprintf("the annotation %s=%s",
			clusterprovisionerv1alpha1.ApproveAnnotation, next.change.ID), 0)
	default:
		next.start = &launch{
			id: upID(cluster, seen.config.Digest, attempt), action: provision.Up, attempt: attempt, digest: seen.config.Digest,
			document: document{seen.raw, cluster.Spec.ConfigPath},
		}
		next.outcome = working(provision.Up)
	}
	return next
}

// appliedDigest returns the digest of the configuration that is applied. Earlier versions have recorded that of its first document alone, and an upgrade
// must not take the others for a change.
func appliedDigest(cluster *clusterprovisionerv1alpha1.Cluster, seen observation) string {
	recorded := cluster.Status.AppliedConfigHash
	if recorded == "" || recorded == seen.config.Digest || seen.stored == nil {
		return recorded
	}
	if applied := seen.stored.applied.config(); applied != nil && applied.Former == recorded {
		return applied.Digest
	}
	return recorded
}

// repeatRequested reports whether a configuration that was applied is to be applied again: a person has asked for it since the last run, or
// the run that they asked for failed.
func repeatRequested(cluster *clusterprovisionerv1alpha1.Cluster) bool {
	last := cluster.Status.LastOperation
	if last == nil || cluster.Annotations[clusterprovisionerv1alpha1.RetryAnnotation] == "" {
		return false
	}
	failed := last.Reason != "" && last.ConfigHash == cluster.Status.AppliedConfigHash
	return failed || !strings.HasPrefix(last.ID, upPrefix(cluster, last.ConfigHash))
}

// undone is the line of a plan above those that it has because a change failed.
const undone = "undone from the change that failed:"

// unknownBefore is the line of a plan where the configuration that is applied is not stored any more, so that nobody can say what goes.
const unknownBefore = "what is applied is not known"

// changeOf says what applying the configuration will change. Applied is the digest of the one that is applied, empty for none. It also undoes what the
// tool was given since: a run that failed can have done half of it.
func changeOf(applied string, seen observation) *clusterprovisionerv1alpha1.Plan {
	var before, given *provision.Config
	from, to := applied, seen.config.Digest
	if seen.stored != nil {
		before, given = seen.stored.applied.config(), seen.stored.given.config()
	}
	switch {
	case given != nil && applied == to:
		before, from = given, given.Digest
	case before == nil && applied == to:
		before = &seen.config // the digest tells that it is the same
	}
	difference := provision.Diff(before, seen.config)
	if before == nil && applied != "" {
		difference = provision.Plan{Summary: []string{unknownBefore}, Destructive: true}
	}
	change := &clusterprovisionerv1alpha1.Plan{ID: planID(from, to), Destructive: difference.Destructive}
	if given != nil && given.Digest != to && (before == nil || given.Digest != before.Digest) {
		back := provision.Diff(given, seen.config)
		lines := slices.DeleteFunc(back.Summary, func(line string) bool { return slices.Contains(difference.Summary, line) })
		if len(lines) > 0 {
			difference.Summary = slices.Concat(difference.Summary, []string{undone}, lines)
		}
		change.ID, change.Destructive = planID(from, to, given.Digest), change.Destructive || back.Destructive
	}
	change.Summary = strings.Join(difference.Summary, "\n")
	return change
}
