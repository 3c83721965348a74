// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// Bounds of texts in the status, in bytes, as its schema says.
const (
	maxVersion  = 128
	maxStage    = 256
	maxEndpoint = 512
	maxMessage  = 1024
	maxSummary  = 4096
)

// declaration lists the conditions that Ready depends on, the most important first.
func declaration() status.Declaration {
	return status.Declaration{
		{Type: clusterprovisionerv1alpha1.ConditionConfigValid},
		{Type: clusterprovisionerv1alpha1.ConditionProvisioned},
		{Type: clusterprovisionerv1alpha1.ConditionKubeconfigAvailable},
		{Type: clusterprovisionerv1alpha1.ConditionHealthy},
		{Type: clusterprovisionerv1alpha1.ConditionDegraded, Negative: true},
	}
}

// describe writes what a pass observed and did into the Cluster's status, tells the events of its run, and returns the marks of the
// conditions. If the pass could not observe, what the status says stays, and every condition is Unknown.
func describe(pass *scope, outcome flow.Outcome) *status.Marks {
	marks := declaration().Begin()
	if pass.seen == nil {
		return marks
	}
	report(pass)
	markConfig(marks, pass)
	markProvisioned(marks, pass, outcome)
	markKubeconfig(marks, pass)
	markHealthy(marks, pass)
	markDegraded(marks, pass)
	pass.Tell(progress(pass.Before, pass.Object)...)
	return marks
}

// report writes everything of the status but the conditions.
func report(pass *scope) {
	written, seen := &pass.Object.Status, pass.seen
	reportOperation(pass)
	reportDigest(pass)
	if run := pass.finished; run != nil {
		written.SkippedNodes = run.Skipped[:min(len(run.Skipped), maxSkipped)]
		if run.Phase == provision.Succeeded && run.Action == provision.Up {
			reportApplied(pass)
		}
	}
	written.NextRetryTime = timeOf(pass.decision.retryAt)
	written.Plan = pass.decision.change
	if written.Plan != nil {
		written.Plan.Summary = status.Clip(written.Plan.Summary, maxSummary)
	}
	if len(seen.kubeconfig.content) > 0 {
		written.KubeconfigRef = new(seen.kubeconfig.ref)
	}
	if seen.version != "" {
		written.ToolVersion = seen.version
	}
	if seen.health.version != "" {
		written.KubernetesVersion = seen.health.version
	}
	if seen.health.endpoint != "" {
		written.Endpoint = seen.health.endpoint
	}
	reportNodes(pass)
}

// reportNodes lists the nodes. A manager that has just taken over has not listed them: until it has, what the manager before it found holds, as for
// Healthy. Of a cluster that is being removed nothing holds: nobody probes it, and the tool takes it apart.
func reportNodes(pass *scope) {
	written, seen := &pass.Object.Status, pass.seen
	kept := pass.Object.DeletionTimestamp.IsZero() && probes(pass) && wereListed(written.Nodes)
	switch {
	case !seen.health.listed && kept:
		if len(seen.config.Nodes) > 0 {
			written.Nodes.Desired = count(seen.config.Nodes)
		}
	case len(seen.config.Nodes) > 0 || seen.health.known:
		written.Nodes = nodesOf(seen.config.Nodes, seen.health.nodes, seen.health.listed)
	}
}

// probes reports whether there is something to probe the cluster with.
func probes(pass *scope) bool {
	refused := pass.decision.refused
	return len(pass.seen.probed()) > 0 && (refused == nil || refused.reason != clusterprovisionerv1alpha1.ReasonKubeconfigInvalid)
}

// wereListed reports whether nodes of the cluster have been listed, also by a version of Windlass that only counted them.
func wereListed(nodes *clusterprovisionerv1alpha1.ClusterNodes) bool {
	return nodes != nil && (nodes.Ready > 0 || len(nodes.Items) > 0) && !areUnknown(nodes)
}

// areUnknown reports whether the status says that the nodes have not been listed.
func areUnknown(nodes *clusterprovisionerv1alpha1.ClusterNodes) bool {
	return slices.ContainsFunc(nodes.Items, func(item clusterprovisionerv1alpha1.ClusterNode) bool {
		return item.Reason == clusterprovisionerv1alpha1.NodeNotProbed
	})
}

// timeOf returns a time for the status, which has whole seconds; nil for none.
func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}

// maxSkipped is how many skipped machines the status lists, as its schema says.
const maxSkipped = 256

// reportOperation describes the run that the pass has started, or the one that it read.
func reportOperation(pass *scope) {
	written := &pass.Object.Status
	if pass.started {
		next := pass.decision.start
		written.LastOperation = &clusterprovisionerv1alpha1.Operation{
			ID: next.id, Action: clusterprovisionerv1alpha1.Action(next.action), Attempt: next.attempt, ConfigHash: next.digest,
			StartTime: timeOf(pass.Now),
		}
		return
	}
	run := pass.seen.run
	if run == nil {
		return
	}
	last := written.LastOperation
	if last == nil || last.ID != run.ID { // the manager died before it recorded that it had started the run
		last = &clusterprovisionerv1alpha1.Operation{ID: run.ID, Action: clusterprovisionerv1alpha1.Action(run.Action), Attempt: attemptOf(run.ID)}
		if strings.HasPrefix(run.ID, upPrefix(pass.Object, pass.seen.config.Digest)) {
			last.ConfigHash = pass.seen.config.Digest
		}
	}
	if !run.StartedAt.IsZero() {
		last.StartTime = timeOf(run.StartedAt)
	}
	if run.Stage != "" {
		last.Stage = status.Clip(run.Stage, maxStage) // what delays a Pod can be any text
	}
	if pass.finished != nil {
		last.EndTime, last.ExitCode, last.Message = timeOf(run.EndedAt), run.ExitCode, ""
		if last.EndTime == nil {
			last.EndTime = timeOf(pass.Now) // nobody saw when it ended
		}
		if run.Failure != nil {
			last.Reason, last.Message = run.Failure.Reason, status.Clip(run.Failure.Message, maxMessage)
		}
	}
	written.LastOperation = last
}

// reportDigest replaces what an earlier version has recorded of the configuration that is applied.
func reportDigest(pass *scope) {
	written := &pass.Object.Status
	if digest := appliedDigest(pass.Object, *pass.seen); digest != written.AppliedConfigHash {
		written.AppliedConfigHash, written.AppliedConfig = digest, pass.seen.stored.applied.config().Applied()
	}
}

// reportApplied says which configuration the tool has applied: the one that the run was started with, which may not be the current one.
func reportApplied(pass *scope) {
	written := &pass.Object.Status
	written.AppliedAt = timeOf(pass.Now)
	applied, err := provision.ReadConfig(pass.seen.stored.applied.text)
	if err != nil {
		return
	}
	written.AppliedConfigHash, written.AppliedConfig = applied.Digest, applied.Applied()
	pass.decision.change = nil
}

func markConfig(marks *status.Marks, pass *scope) {
	if problem := pass.seen.problem; problem != nil {
		marks.False(clusterprovisionerv1alpha1.ConditionConfigValid, problem.reason, problem.message)
		return
	}
	marks.True(clusterprovisionerv1alpha1.ConditionConfigValid, clusterprovisionerv1alpha1.ReasonConfigRead, "")
}

// markProvisioned says whether there is a cluster. A later change that fails does not undo it: Degraded tells of that.
func markProvisioned(marks *status.Marks, pass *scope, outcome flow.Outcome) {
	cluster := pass.Object
	last := cluster.Status.LastOperation
	switch {
	case removed(last):
		marks.False(clusterprovisionerv1alpha1.ConditionProvisioned, clusterprovisionerv1alpha1.ReasonRemoved, "the tool has removed the cluster")
	case cluster.Status.AppliedConfigHash != "":
		marks.True(clusterprovisionerv1alpha1.ConditionProvisioned, clusterprovisionerv1alpha1.ReasonApplied, "")
	case waitsToBeRemoved(cluster, outcome):
		marks.False(clusterprovisionerv1alpha1.ConditionProvisioned, outcome.Reason(), outcome.Message())
	case last != nil && last.Reason != "":
		marks.False(clusterprovisionerv1alpha1.ConditionProvisioned, last.Reason, failed(last))
	case outcome.Reason() != "":
		marks.False(clusterprovisionerv1alpha1.ConditionProvisioned, outcome.Reason(), outcome.Message())
	default:
		marks.False(clusterprovisionerv1alpha1.ConditionProvisioned, clusterprovisionerv1alpha1.ReasonApplying, "")
	}
}

// waitsToBeRemoved reports whether the outcome says what keeps a Cluster from being removed, and not the last run, which was to apply it.
func waitsToBeRemoved(cluster *clusterprovisionerv1alpha1.Cluster, outcome flow.Outcome) bool {
	last := cluster.Status.LastOperation
	tried := last != nil && last.Action == clusterprovisionerv1alpha1.ActionRemove
	return !cluster.DeletionTimestamp.IsZero() && !tried && outcome.Reason() != ""
}

func markKubeconfig(marks *status.Marks, pass *scope) {
	conditionType, live := clusterprovisionerv1alpha1.ConditionKubeconfigAvailable, pass.seen.kubeconfig
	switch refused := pass.decision.refused; {
	case refused != nil:
		marks.False(conditionType, refused.reason, refused.message)
	case len(live.content) > 0:
		marks.True(conditionType, clusterprovisionerv1alpha1.ReasonKubeconfigWritten,
			fmt.Sprintf("Secret %s/%s holds the kubeconfig", live.ref.Namespace, live.ref.Name))
	default:
		marks.False(conditionType, clusterprovisionerv1alpha1.ReasonKubeconfigMissing, "the tool has not written a kubeconfig")
	}
}

// markHealthy marks what the probes have found. A manager that has just taken over has not probed yet: until it has, what the manager before
// it found holds, as it would without the change. One that has nothing to probe with never will.
func markHealthy(marks *status.Marks, pass *scope) {
	state, found := pass.seen.health, metav1.ConditionUnknown
	before := apimeta.FindStatusCondition(pass.Before.Status.Conditions, clusterprovisionerv1alpha1.ConditionHealthy)
	if before != nil && probes(pass) {
		found = before.Status
	}
	switch {
	case state.ready, !state.known && found == metav1.ConditionTrue:
		marks.True(clusterprovisionerv1alpha1.ConditionHealthy, clusterprovisionerv1alpha1.ReasonAnswering, "")
		marks.Reach(status.ReasonReady, answer(pass.Object.Status, state.unlisted))
	case !state.known && found == metav1.ConditionFalse:
		marks.False(clusterprovisionerv1alpha1.ConditionHealthy, before.Reason, before.Message)
	case !state.known:
		marks.Unknown(clusterprovisionerv1alpha1.ConditionHealthy, clusterprovisionerv1alpha1.ReasonNotProbed, "the API server has not been probed yet")
	default:
		marks.False(clusterprovisionerv1alpha1.ConditionHealthy, clusterprovisionerv1alpha1.ReasonNotAnswering, state.message)
	}
}

// answer says what a healthy cluster answers. unlisted says why it does not list its nodes, if so.
func answer(written clusterprovisionerv1alpha1.ClusterStatus, unlisted string) string {
	said := strings.TrimSpace("Kubernetes "+written.KubernetesVersion) + " answers at " + written.Endpoint
	if nodes := written.Nodes; nodes != nil && !areUnknown(nodes) {
		said += fmt.Sprintf(", and %d of its nodes are Ready", nodes.Ready) + unready(nodes.Items)
	}
	if unlisted != "" {
		said += ". It does not list its nodes: " + unlisted
	}
	return said
}

// unready names a few nodes that are not Ready. A machine that is not a node is not meant.
func unready(items []clusterprovisionerv1alpha1.ClusterNode) string {
	var names []string
	for _, item := range items {
		if item.Ready != metav1.ConditionTrue && !isOurs(item.Reason) {
			names = append(names, item.Name)
		}
	}
	switch most := 3; {
	case len(names) == 0:
		return ""
	case len(names) > most:
		return ". Not Ready: " + strings.Join(names[:most], ", ") + " and others"
	}
	return ". Not Ready: " + strings.Join(names, ", ")
}

func markDegraded(marks *status.Marks, pass *scope) {
	written := pass.Object.Status
	last := written.LastOperation
	switch {
	case len(written.SkippedNodes) > 0:
		marks.True(clusterprovisionerv1alpha1.ConditionDegraded, clusterprovisionerv1alpha1.ReasonNodesSkipped, status.Clip(fmt.Sprintf(
			"the tool could not reach %s, and what runs there may still run", strings.Join(written.SkippedNodes, ", ")), maxMessage))
	case last != nil && last.Reason != "" && written.AppliedConfigHash != "":
		marks.True(clusterprovisionerv1alpha1.ConditionDegraded, last.Reason, failed(last))
	default:
		marks.False(clusterprovisionerv1alpha1.ConditionDegraded, clusterprovisionerv1alpha1.ReasonNotDegraded, "")
	}
}
