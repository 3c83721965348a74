// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// launch is a run that is to be started.
type launch struct {
	id      string
	action  provision.Action
	attempt int32
	digest  string
	// raw is the configuration that the tool gets.
	raw []byte
}

// decision is what a pass has to do.
type decision struct {
	// finish says that the last run has ended and nobody has taken care of what it left.
	finish bool
	// cancel says that the run that is under way has to end.
	cancel bool
	// start is the run that has to be started, nil for none.
	start *launch
	// letGo says that nothing of the cluster is left, or shall be removed.
	letGo bool
	// change is what applying the configuration will change, nil where it is applied.
	change *clusterprovisionerv1alpha1.Plan
	// retryAt is when a failed run is repeated, zero where it is not.
	retryAt time.Time
	// outcome is how the pass goes on once that has been done.
	outcome flow.Outcome
}

// soon is how long a pass waits that has recorded something on which the next one decides.
const soon = 20 * time.Millisecond

// plan decides what is to be done about a cluster.
func plan(cluster *clusterprovisionerv1alpha1.Cluster, seen observation, now time.Time) decision {
	if run := seen.run; run != nil {
		switch {
		case run.Phase == provision.Running:
			return follow(cluster, run)
		case !recorded(cluster, run):
			return decision{finish: true, outcome: flow.Wait(applying(run.Action), "the end of the run to be recorded", soon)}
		}
	}
	if !cluster.DeletionTimestamp.IsZero() {
		return planRemoval(cluster, seen, now)
	}
	return planUp(cluster, seen, now)
}

// recorded reports whether the status tells how the run ended.
func recorded(cluster *clusterprovisionerv1alpha1.Cluster, run *provision.Run) bool {
	last := cluster.Status.LastOperation
	return last != nil && last.ID == run.ID && (last.EndTime != nil || last.Reason != "")
}

// applying is the reason of a wait for a run.
func applying(action provision.Action) string {
	if action == provision.Remove {
		return clusterprovisionerv1alpha1.ReasonRemoving
	}
	return clusterprovisionerv1alpha1.ReasonApplying
}

// follow waits for a run that is under way. A cluster that shall be removed does not wait until it is complete.
func follow(cluster *clusterprovisionerv1alpha1.Cluster, run *provision.Run) decision {
	what := "the tool to apply the configuration"
	if run.Action == provision.Remove {
		what = "the tool to remove the cluster"
	}
	if !cluster.DeletionTimestamp.IsZero() && run.Action == provision.Up {
		return decision{cancel: true, outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonRemoving, "the tool's run to end", lookAgain)}
	}
	return decision{outcome: flow.Wait(applying(run.Action), what, lookAgain)}
}

// planUp has the configuration applied, unless it is.
func planUp(cluster *clusterprovisionerv1alpha1.Cluster, seen observation, now time.Time) decision {
	if seen.problem != nil {
		return decision{outcome: flow.Stall(seen.problem.reason, errors.New(seen.problem.message))}
	}
	prefix := "up-" + short(seen.config.Digest, cluster.Annotations[clusterprovisionerv1alpha1.RetryAnnotation]) + "-"
	if cluster.Status.AppliedConfigHash == seen.config.Digest && !askedAgain(cluster, prefix) {
		return decision{}
	}
	next := decision{change: changeOf(cluster, seen)}
	attempt := int32(1)
	if last := cluster.Status.LastOperation; last != nil && strings.HasPrefix(last.ID, prefix) {
		attempt = last.Attempt + 1
		if outcome, at := again(cluster, last, attempt, now); !outcome.IsDone() {
			next.outcome, next.retryAt = outcome, at
			return next
		}
	}
	approved := cluster.Annotations[clusterprovisionerv1alpha1.ApproveAnnotation] == next.change.ID
	switch {
	case status.IsPaused(cluster):
		next.outcome = flow.Wait(status.ReasonPaused, "the annotation "+status.PausedAnnotation+" to be removed", 0)
	case cluster.Spec.Approval == clusterprovisionerv1alpha1.ApprovalManual && !approved:
		next.outcome = flow.Wait(clusterprovisionerv1alpha1.ReasonWaitingForApproval, fmt.Sprintf("the annotation %s=%s",
			clusterprovisionerv1alpha1.ApproveAnnotation, next.change.ID), 0)
	default:
		next.start = &launch{
			id: prefix + strconv.Itoa(int(attempt)), action: provision.Up, attempt: attempt, digest: seen.config.Digest, raw: seen.raw,
		}
		next.outcome = flow.Wait(clusterprovisionerv1alpha1.ReasonApplying, "the tool to apply the configuration", lookAgain)
	}
	return next
}

// askedAgain reports whether somebody wants a configuration applied again that was applied, but not on every machine.
func askedAgain(cluster *clusterprovisionerv1alpha1.Cluster, prefix string) bool {
	last := cluster.Status.LastOperation
	if last == nil || cluster.Annotations[clusterprovisionerv1alpha1.RetryAnnotation] == "" {
		return false
	}
	failed := last.Reason != "" && last.ConfigHash == cluster.Status.AppliedConfigHash
	return failed || len(cluster.Status.SkippedNodes) > 0 && !strings.HasPrefix(last.ID, prefix)
}

// again says whether a run that failed is repeated now, and if not, when.
func again(
	cluster *clusterprovisionerv1alpha1.Cluster, last *clusterprovisionerv1alpha1.Operation, attempt int32, now time.Time,
) (flow.Outcome, time.Time) {
	retry := cluster.Spec.Retry
	switch {
	case !provision.Retryable(last.Reason):
		return flow.Stall(last.Reason, errors.New(last.Message)), time.Time{}
	case attempt > cmp.Or(retry.Attempts, clusterprovisionerv1alpha1.DefaultAttempts):
		return flow.Stall(last.Reason, fmt.Errorf("gave up after %d attempts: %s", last.Attempt, last.Message)), time.Time{}
	}
	return pause(last, backoff(retry, last.Attempt), now)
}

// pause waits until the time for the next attempt has come.
func pause(last *clusterprovisionerv1alpha1.Operation, after time.Duration, now time.Time) (flow.Outcome, time.Time) {
	ended := last.EndTime
	if ended == nil {
		ended = last.StartTime
	}
	if ended == nil {
		return flow.Done(), time.Time{}
	}
	at := ended.Add(after)
	if !now.Before(at) {
		return flow.Done(), time.Time{}
	}
	return flow.Wait(clusterprovisionerv1alpha1.ReasonRetrying,
		fmt.Sprintf("attempt %d after %s: %s", last.Attempt+1, last.Reason, last.Message), at.Sub(now)), at
}

// backoff is the pause after so many failures: twice as long each time, up to the maximum.
func backoff(retry clusterprovisionerv1alpha1.Retry, failures int32) time.Duration {
	pause := cmp.Or(retry.Initial.Duration, clusterprovisionerv1alpha1.DefaultRetryInitial)
	most := max(cmp.Or(retry.Max.Duration, clusterprovisionerv1alpha1.DefaultRetryMax), pause)
	for range failures - 1 {
		if pause *= 2; pause >= most {
			return most
		}
	}
	return pause
}

// planRemoval has the cluster removed, and lets the object go when it is.
func planRemoval(cluster *clusterprovisionerv1alpha1.Cluster, seen observation, now time.Time) decision {
	last := cluster.Status.LastOperation
	removed := last != nil && last.Action == clusterprovisionerv1alpha1.ActionRemove && last.EndTime != nil && last.Reason == ""
	accepted := cluster.Annotations[clusterprovisionerv1alpha1.AcceptSkippedAnnotation] == "true"
	untouched := seen.run == nil && last == nil && cluster.Status.AppliedConfigHash == "" && seen.stored == nil
	if cluster.Spec.DeletionPolicy == clusterprovisionerv1alpha1.DeletionOrphan || untouched ||
		removed && (len(cluster.Status.SkippedNodes) == 0 || accepted) || accepted && reachedNone(cluster, seen) {
		return decision{letGo: true}
	}
	attempt := int32(1)
	if last != nil && last.Action == clusterprovisionerv1alpha1.ActionRemove {
		attempt = last.Attempt + 1
		failed := *last
		if removed {
			failed.Reason, failed.Message = clusterprovisionerv1alpha1.ReasonNodesSkipped, "the tool could not reach "+
				strings.Join(cluster.Status.SkippedNodes, ", ")
		}
		if outcome, at := pause(&failed, backoff(cluster.Spec.Retry, failed.Attempt), now); !outcome.IsDone() {
			return decision{outcome: outcome, retryAt: at}
		}
	}
	if status.IsPaused(cluster) {
		return decision{outcome: flow.Wait(status.ReasonPaused, "the annotation "+status.PausedAnnotation+" to be removed", 0)}
	}
	raw := seen.raw
	if seen.problem != nil && seen.stored != nil {
		raw = seen.stored.config // the one that the tool was given last
	}
	if len(raw) == 0 {
		return decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonConfigNotFound, errors.New(
			"the tool cannot remove a cluster without its configuration, and no copy is kept: restore it, or set spec.deletionPolicy to Orphan"))}
	}
	return decision{
		start: &launch{
			id: "remove-" + short(string(cluster.UID)) + "-" + strconv.Itoa(int(attempt)), action: provision.Remove, attempt: attempt, raw: raw,
		},
		outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonRemoving, "the tool to remove the cluster", lookAgain),
	}
}

// reachedNone reports whether the last removal failed without having reached any machine of the cluster: neither one of the configuration
// that the tool was given last, nor one of the configuration that is applied. Where a machine may have answered, what it still runs is
// for the tool to remove, so one whose machines are unknown is none of these.
func reachedNone(cluster *clusterprovisionerv1alpha1.Cluster, seen observation) bool {
	last := cluster.Status.LastOperation
	if last == nil || last.Action != clusterprovisionerv1alpha1.ActionRemove || last.EndTime == nil || last.Reason == "" || seen.stored == nil {
		return false
	}
	given, err := provision.ReadConfig(seen.stored.config)
	if err != nil || len(given.Nodes) == 0 {
		return false
	}
	nodes := given.Nodes
	if len(seen.stored.applied) > 0 {
		applied, err := provision.ReadConfig(seen.stored.applied)
		if err != nil || len(applied.Nodes) == 0 {
			return false
		}
		nodes = slices.Concat(nodes, applied.Nodes)
	}
	return !slices.ContainsFunc(nodes, func(node provision.Node) bool {
		return !slices.Contains(cluster.Status.SkippedNodes, node.Address) // tools name machines by their address
	})
}

// changeOf says what applying the configuration will change.
func changeOf(cluster *clusterprovisionerv1alpha1.Cluster, seen observation) *clusterprovisionerv1alpha1.Plan {
	var before *provision.Config
	if seen.stored != nil && len(seen.stored.applied) > 0 {
		if applied, err := provision.ReadConfig(seen.stored.applied); err == nil {
			before = &applied
		}
	}
	difference := provision.Diff(before, seen.config)
	return &clusterprovisionerv1alpha1.Plan{
		ID:      "plan-" + short(cluster.Status.AppliedConfigHash, seen.config.Digest),
		Summary: strings.Join(difference.Summary, "\n"), Destructive: difference.Destructive,
	}
}

// short returns a short digest of texts, which is part of a name.
func short(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return hex.EncodeToString(sum[:5])
}

// timeOf returns a time for the status, which has seconds; nil for none.
func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}
