// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

func TestPlanRemoval(t *testing.T) {
	t.Parallel()
	const accept = clusterprovisionerv1alpha1.AcceptSkippedAnnotation
	removing := flow.Wait(clusterprovisionerv1alpha1.ReasonRemoving, "the tool to remove the cluster", lookAgain)
	removed := func(attempt int32, reason, message string) change {
		return ended(removeID(given().cluster, attempt), reason, message, noon.Add(-time.Minute))
	}
	asked := annotated(clusterprovisionerv1alpha1.RetryAnnotation, "now")
	// sinceAsked is a removal that failed after a person had asked for it.
	sinceAsked := func(attempt int32) change {
		return ended(removeID(given(asked).cluster, attempt), "ImagePull", "no image", noon.Add(-time.Minute))
	}
	again := remove(textA, 1)
	again.id = removeID(given(asked).cluster, 1)
	lost := func(s *situation) { s.seen.stored = nil }
	unusable := func(s *situation) { s.seen.unusable = &refusal{"SecretConflict", "foreign"} }
	unknown := decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonConfigNotFound, errors.New(
		"the configuration that was applied is not known any more. Restore it"+orphanHint))}
	for name, test := range map[string]struct {
		given *situation
		want  decision
	}{
		"what was never worked on is released": {given(deleted), decision{release: true}},
		"an orphan is released":                {given(applied(textA), deleted, orphan), decision{release: true}},
		"a cluster is removed with what was applied": {
			given(applied(textA), deleted), decision{start: remove(textA, 1), outcome: removing},
		},
		"a change that was not applied does not decide what is removed": {
			given(applied(textA), configured(textB), manual, deleted), decision{start: remove(textA, 1), outcome: removing},
		},
		"a refused configuration does not decide what is removed": {
			given(applied(textA), refusedConfig("ConfigPathRefused", "outside"), deleted), decision{start: remove(textA, 1), outcome: removing},
		},
		"a change that failed does not decide what is removed": {
			given(applied(textA), func(s *situation) { s.seen.stored.given = of(textB) }, deleted),
			decision{start: remove(textA, 1), outcome: removing},
		},
		"a cluster that never came up is removed with what the tool was given": {
			given(ended(upID(given().cluster, mustRead(textA).Digest, 1), "ImagePull", "no image", noon), configured(textB), deleted),
			decision{start: remove(textA, 1), outcome: removing},
		},
		"without a copy the present configuration will do if it was applied": {
			given(applied(textA), lost, deleted), decision{start: remove(textA, 1), outcome: removing},
		},
		"without a copy another configuration will not do": {given(applied(textA), lost, configured(textB), deleted), unknown},
		"without a copy a refused configuration will not do": {
			given(applied(textA), lost, refusedConfig("ConfigNotFound", "gone"), deleted), unknown,
		},
		"a tool that is not allowed is not called": {
			given(applied(textA), deleted, func(s *situation) { s.seen.forbidden = &refusal{"ProvisionerNotAllowed", "no"} }),
			decision{outcome: flow.Stall("ProvisionerNotAllowed", errors.New("no"+orphanHint))},
		},
		"a removal that ended is not recorded while the state cannot be used": {
			given(applied(textA), unrecorded(provision.Succeeded, provision.Artifacts{}), deleted, unusable),
			decision{outcome: flow.Stall("SecretConflict", errors.New("foreign"+orphanHint))},
		},
		"an orphan is released although its run is not recorded": {
			given(applied(textA), unrecorded(provision.Succeeded, provision.Artifacts{}), deleted, orphan), decision{release: true},
		},
		"an orphan is released although the state cannot be used": {
			given(applied(textA), unrecorded(provision.Succeeded, provision.Artifacts{}), deleted, orphan, unusable), decision{release: true},
		},
		"a file of another Cluster's is for that one to remove": {
			given(applied(textA), deleted, func(s *situation) { s.seen.claimant = "other" }), decision{release: true},
		},
		"another Cluster's file does not keep what was applied from this one's": {
			given(applied(textA), deleted, func(s *situation) { s.seen.claimant, s.seen.elsewhere = "other", true }),
			decision{start: remove(textA, 1), outcome: removing},
		},
		"a paused Cluster is not removed": {
			given(applied(textA), deleted, annotated(status.PausedAnnotation, "true")), decision{outcome: paused()},
		},
		"a removed cluster is released": {given(applied(textA), removed(1, "", ""), deleted), decision{release: true}},
		"a failed removal is repeated after a pause": {
			given(applied(textA), removed(2, "ImagePull", "no image"), deleted), decision{
				retryAt: noon.Add(time.Minute),
				outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonRetrying, "attempt 3 after ImagePull: no image", time.Minute),
			},
		},
		"a failed removal is repeated without end": {
			given(applied(textA), ended(removeID(given().cluster, 40), "ImagePull", "no image", noon.Add(-time.Hour)), deleted),
			decision{start: remove(textA, 41), outcome: removing},
		},
		"a removal that a person asks for does not wait, and begins to count again": {
			given(applied(textA), removed(2, "ImagePull", "no image"), deleted, asked), decision{start: again, outcome: removing},
		},
		"a removal that skipped a machine is repeated at once if a person asks for it": {
			given(applied(textA), removed(2, "", ""), skipped("127.0.0.2"), deleted, asked), decision{start: again, outcome: removing},
		},
		"a removal that a person has asked for waits once it has failed": {
			given(applied(textA), sinceAsked(2), deleted, asked), decision{
				retryAt: noon.Add(time.Minute),
				outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonRetrying, "attempt 3 after ImagePull: no image", time.Minute),
			},
		},
		"a paused Cluster is not removed, whatever a person asks for": {
			given(applied(textA), removed(2, "ImagePull", "no image"), deleted, asked, annotated(status.PausedAnnotation, "true")),
			decision{outcome: paused()},
		},
		"a removal that skipped a machine is not believed": {
			given(applied(textA), removed(1, "", ""), skipped("127.0.0.2"), deleted), decision{start: remove(textA, 2), outcome: removing},
		},
		"a removal that skipped a machine is believed if that is accepted": {
			given(applied(textA), removed(1, "", ""), skipped("127.0.0.2"), annotated(accept, "true"), deleted), decision{release: true},
		},
		"a failed removal that reached no machine ends if that is accepted": {
			given(applied(textA), removed(1, "SSHTunnel", "no"), skipped("127.0.0.1", "127.0.0.2"), annotated(accept, "true"), deleted),
			decision{release: true},
		},
		"a failed removal does not end that may have left a machine of a change that failed": {
			given(applied(textB), func(s *situation) { s.seen.stored.given = of(textA) }, removed(1, "SSHTunnel", "no"), skipped("127.0.0.1"),
				annotated(accept, "true"), deleted),
			decision{start: remove(textB, 2), outcome: removing},
		},
		"a failed removal that reached a machine does not end": {
			given(applied(textA), removed(1, "SSHTunnel", "no"), skipped("127.0.0.1"), annotated(accept, "true"), deleted),
			decision{start: remove(textA, 2), outcome: removing},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, plan(test.given.cluster, test.given.seen, noon), comparing()); diff != "" {
				t.Errorf("the plan differs (-want +got):\n%s", diff)
			}
		})
	}
}
