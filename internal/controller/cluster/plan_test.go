// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// noon is the time of the plans.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// Two configurations; the second one loses a machine of the first.
const (
	textA = "nodes:\n- {address: 127.0.0.1, role: [etcd]}\n- {address: 127.0.0.2, role: [worker]}\n"
	textB = "nodes:\n- {address: 127.0.0.1, role: [etcd]}\n"
)

// Two configurations whose first document is A.
const (
	textTwo     = textA + "---\nother: {a: 1}\n"
	textTwoNext = textA + "---\nother: {a: 2}\n"
)

// textNewer is B with another version.
const textNewer = textB + "kubernetes_version: v1.30.1\n"

// situation is what a planner is asked about.
type situation struct {
	cluster *clusterprovisionerv1alpha1.Cluster
	seen    observation
}

// change changes a situation.
type change func(*situation)

// given returns a Cluster with configuration A that nobody has worked on, changed as asked.
func given(changes ...change) *situation {
	s := &situation{cluster: build.Cluster("one").UID("u").ConfigPath("/cluster.yml").Obj()}
	s.cluster.Spec.Retry = clusterprovisionerv1alpha1.Retry{
		Attempts: 3, Initial: metav1.Duration{Duration: time.Minute}, Max: metav1.Duration{Duration: 4 * time.Minute},
	}
	configured(textA)(s)
	for _, c := range changes {
		c(s)
	}
	return s
}

// configured makes the text the present configuration.
func configured(text string) change {
	return func(s *situation) { s.seen.raw, s.seen.config = []byte(text), mustRead(text) }
}

// refusedConfig makes the present configuration unusable.
func refusedConfig(reason, message string) change {
	return func(s *situation) {
		s.seen.raw, s.seen.config, s.seen.problem = nil, provision.Config{}, &refusal{reason, message}
	}
}

// applied makes the text the configuration that the tool has applied.
func applied(text string) change {
	return func(s *situation) {
		digest := mustRead(text).Digest
		s.cluster.Status.AppliedConfigHash = digest
		s.seen.stored = &store{given: of(text), applied: of(text)}
		ended(upID(s.cluster, digest, 1), "", "", noon.Add(-time.Hour))(s)
		s.cluster.Status.LastOperation.ConfigHash = digest
	}
}

// failedChange makes the text the configuration that the tool was last given, in a run that failed.
func failedChange(text string) change {
	return func(s *situation) {
		digest := mustRead(text).Digest
		s.seen.stored.given = of(text)
		ended(upID(s.cluster, digest, 1), clusterprovisionerv1alpha1.ReasonUnknown, "no", noon.Add(-time.Hour))(s)
		s.cluster.Status.LastOperation.ConfigHash = digest
	}
}

// nothingStored has the Secret with the configuration be gone, of a tool without a state.
func nothingStored(s *situation) { s.seen.stored = nil }

// recordedEarlier makes the status have the digest of the first document alone, as earlier versions recorded it.
func recordedEarlier(s *situation) {
	former := mustRead(string(s.seen.stored.applied.text)).Former
	s.cluster.Status.AppliedConfigHash = former
	ended(upID(s.cluster, former, 1), "", "", noon.Add(-time.Hour))(s)
	s.cluster.Status.LastOperation.ConfigHash = former
}

// ended makes the run with the ID the last one, which the status says.
func ended(id, reason, message string, at time.Time) change {
	return func(s *situation) {
		action := clusterprovisionerv1alpha1.ActionUp
		if strings.HasPrefix(id, "remove-") {
			action = clusterprovisionerv1alpha1.ActionRemove
		}
		s.cluster.Status.LastOperation = &clusterprovisionerv1alpha1.Operation{
			ID: id, Action: action, Attempt: attemptOf(id), Reason: reason, Message: message, EndTime: new(metav1.NewTime(at)),
		}
		phase := provision.Succeeded
		if reason != "" {
			phase = provision.Failed
		}
		s.seen.run = &provision.Run{ID: id, Action: provision.Action(action), Phase: phase}
		if s.seen.stored == nil {
			s.seen.stored = &store{given: of(string(s.seen.raw))}
		}
	}
}

// movedTo makes the tool's last configuration that of another file.
func movedTo(path string) change {
	return func(s *situation) { s.seen.stored.given.path = path }
}

// running makes a run the present one.
func running(action provision.Action) change {
	return func(s *situation) { s.seen.run = &provision.Run{ID: "x-1", Action: action, Phase: provision.Running} }
}

// unrecorded makes the present run one that has ended, while the status does not say so.
func unrecorded(phase provision.Phase, left provision.Artifacts) change {
	return func(s *situation) {
		s.seen.run = &provision.Run{ID: "x-1", Action: provision.Up, Phase: phase}
		s.seen.left = &left
	}
}

func deleted(s *situation) { s.cluster.DeletionTimestamp = new(metav1.NewTime(noon)) }

func manual(s *situation) { s.cluster.Spec.Approval = clusterprovisionerv1alpha1.ApprovalManual }

func orphan(s *situation) { s.cluster.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan }

func annotated(key, value string) change {
	return func(s *situation) { annotate(key, value)(s.cluster) }
}

func skipped(addresses ...string) change {
	return func(s *situation) { s.cluster.Status.SkippedNodes = addresses }
}

// of is a configuration in the file of the Cluster.
func of(text string) document { return document{[]byte(text), "/cluster.yml"} }

func mustRead(text string) provision.Config {
	config, err := provision.ReadConfig([]byte(text))
	if err != nil {
		panic(err)
	}
	return config
}

// comparing compares plans as values; outcomes are equal if they say the same.
func comparing() cmp.Options {
	return cmp.Options{
		cmp.AllowUnexported(decision{}, launch{}, document{}, store{}, refusal{}),
		cmp.Comparer(func(a, b flow.Outcome) bool {
			first, _ := a.Result()
			second, _ := b.Result()
			return a.Reason() == b.Reason() && a.Message() == b.Message() && a.IsStalled() == b.IsStalled() &&
				(first.RequeueAfter > 0) == (second.RequeueAfter > 0)
		}),
	}
}

// The changes that lead to a configuration.
func firstPlan() *clusterprovisionerv1alpha1.Plan {
	return &clusterprovisionerv1alpha1.Plan{
		ID: "plan-" + short("", mustRead(textA).Digest), Summary: "node 127.0.0.1: added (etcd)\nnode 127.0.0.2: added (worker)",
	}
}

func losingPlan() *clusterprovisionerv1alpha1.Plan {
	return &clusterprovisionerv1alpha1.Plan{
		ID:      "plan-" + short(mustRead(textA).Digest, mustRead(textB).Digest),
		Summary: "node 127.0.0.2: removed (worker)", Destructive: true,
	}
}

// up is the run that applies the text.
func up(text, retry string, attempt int32) *launch {
	digest := mustRead(text).Digest
	return &launch{
		id: fmt.Sprintf("up-%s-%d", short(digest, retry), attempt), action: provision.Up, attempt: attempt, digest: digest, document: of(text),
	}
}

// remove is the run that removes the cluster that the text describes.
func remove(text string, attempt int32) *launch {
	return &launch{id: fmt.Sprintf("remove-%s-%d", short("u"), attempt), action: provision.Remove, attempt: attempt, document: of(text)}
}

func TestPlanUp(t *testing.T) {
	t.Parallel()
	const sshAuth = clusterprovisionerv1alpha1.ReasonSSHAuth
	failedUp := upID(given().cluster, mustRead(textA).Digest, 1)
	returning := planID(mustRead(textB).Digest, mustRead(textA).Digest) // from B, which has failed, to A
	// From B to another version of it, after A has failed.
	newer := planID(mustRead(textB).Digest, mustRead(textNewer).Digest)
	takingBack := &clusterprovisionerv1alpha1.Plan{
		ID: newer + "-" + short(mustRead(textA).Digest), Destructive: true,
		Summary: "version: the tool's default -> v1.30.1\nundone from the change that failed:\nnode 127.0.0.2: removed (worker)",
	}
	waiting := decision{change: takingBack, outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonWaitingForApproval,
		"the annotation clusterprovisioner.rke.io/approve="+takingBack.ID, 0)}
	applying := flow.Wait(clusterprovisionerv1alpha1.ReasonApplying, "the tool to apply the configuration", lookAgain)
	for name, test := range map[string]struct {
		given *situation
		want  decision
	}{
		"a new Cluster starts the first attempt": {
			given(), decision{start: up(textA, "", 1), change: firstPlan(), outcome: applying},
		},
		"an applied configuration starts nothing": {
			given(applied(textA)), decision{},
		},
		"a change starts a run of its own": {
			given(applied(textA), configured(textB)), decision{start: up(textB, "", 1), change: losingPlan(), outcome: applying},
		},
		"a refused configuration starts nothing and stalls": {
			given(applied(textA), refusedConfig("ConfigUnreadable", "no YAML")),
			decision{outcome: flow.Stall("ConfigUnreadable", errors.New("no YAML"))},
		},
		"a manual change waits for its approval": {
			given(applied(textA), configured(textB), manual), decision{
				change: losingPlan(),
				outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonWaitingForApproval,
					"the annotation clusterprovisioner.rke.io/approve="+losingPlan().ID, 0),
			},
		},
		"the approval of another plan does not count": {
			given(applied(textA), configured(textB), manual, annotated(clusterprovisionerv1alpha1.ApproveAnnotation, firstPlan().ID)), decision{
				change: losingPlan(),
				outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonWaitingForApproval,
					"the annotation clusterprovisioner.rke.io/approve="+losingPlan().ID, 0),
			},
		},
		"an approved change starts": {
			given(applied(textA), configured(textB), manual, annotated(clusterprovisionerv1alpha1.ApproveAnnotation, losingPlan().ID)),
			decision{start: up(textB, "", 1), change: losingPlan(), outcome: applying},
		},
		"a paused Cluster starts nothing": {
			given(annotated(status.PausedAnnotation, "true")), decision{change: firstPlan(), outcome: paused()},
		},
		"a failed run is repeated after a pause": {
			given(ended(failedUp, "ImagePull", "no image", noon.Add(-20*time.Second))), decision{
				change: firstPlan(), retryAt: noon.Add(40 * time.Second),
				outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonRetrying, "attempt 2 after ImagePull: no image", 40*time.Second),
			},
		},
		"a failed run is repeated when the pause is over": {
			given(ended(failedUp, "ImagePull", "no image", noon.Add(-time.Minute))),
			decision{start: up(textA, "", 2), change: firstPlan(), outcome: applying},
		},
		"a failed run that ended in an hour, by a clock that was ahead, is repeated": {
			given(ended(failedUp, "ImagePull", "no image", noon.Add(time.Hour))),
			decision{start: up(textA, "", 2), change: firstPlan(), outcome: applying},
		},
		"what cannot heal by itself stalls": {
			given(ended(failedUp, sshAuth, "refused", noon.Add(-time.Hour))),
			decision{change: firstPlan(), outcome: flow.Stall(sshAuth, errors.New("refused"))},
		},
		"the last attempt stalls": {
			given(ended(strings.TrimSuffix(failedUp, "1")+"3", "ImagePull", "no image", noon.Add(-time.Hour))),
			decision{change: firstPlan(), outcome: flow.Stall("ImagePull", errors.New("gave up after 3 attempts: no image"))},
		},
		"a last attempt that has succeeded with what nobody knows any more is repeated": {
			given(ended(strings.TrimSuffix(failedUp, "1")+"3", "", "", noon.Add(-time.Second))),
			decision{start: up(textA, "", 4), change: firstPlan(), outcome: applying},
		},
		"a new retry annotation starts the attempts again": {
			given(ended(failedUp, sshAuth, "refused", noon.Add(-time.Hour)), annotated(clusterprovisionerv1alpha1.RetryAnnotation, "now")),
			decision{start: up(textA, "now", 1), change: firstPlan(), outcome: applying},
		},
		"a repeat of what was applied needs no approval": {
			given(applied(textA), annotated(clusterprovisionerv1alpha1.RetryAnnotation, "now"), manual), decision{
				start: up(textA, "now", 1), change: &clusterprovisionerv1alpha1.Plan{ID: "plan-" + short(mustRead(textA).Digest, mustRead(textA).Digest)}, outcome: applying,
			},
		},
		"a repeat that takes back what a failed change has begun needs an approval": {
			given(applied(textA), failedChange(textB), annotated(clusterprovisionerv1alpha1.RetryAnnotation, "now"), manual), decision{
				change: &clusterprovisionerv1alpha1.Plan{ID: returning, Summary: "node 127.0.0.2: added (worker)"},
				outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonWaitingForApproval,
					"the annotation clusterprovisioner.rke.io/approve="+returning, 0),
			},
		},
		"an approval has it taken back": {
			given(applied(textA), failedChange(textB), annotated(clusterprovisionerv1alpha1.RetryAnnotation, "now"), manual,
				annotated(clusterprovisionerv1alpha1.ApproveAnnotation, returning)), decision{
				start: up(textA, "now", 1), change: &clusterprovisionerv1alpha1.Plan{ID: returning, Summary: "node 127.0.0.2: added (worker)"}, outcome: applying,
			},
		},
		"a third configuration takes back what a failed change has begun": {
			given(applied(textB), failedChange(textA), configured(textNewer), manual), waiting,
		},
		"the approval of the change alone takes nothing back": {
			given(applied(textB), failedChange(textA), configured(textNewer), manual, annotated(clusterprovisionerv1alpha1.ApproveAnnotation, newer)), waiting,
		},
		"an approval has a third configuration applied": {
			given(applied(textB), failedChange(textA), configured(textNewer), manual, annotated(clusterprovisionerv1alpha1.ApproveAnnotation, takingBack.ID)),
			decision{start: up(textNewer, "", 1), change: takingBack, outcome: applying},
		},
		"it is repeated with the same approval": {
			given(applied(textB), failedChange(textNewer), configured(textNewer), manual,
				annotated(clusterprovisionerv1alpha1.ApproveAnnotation, takingBack.ID)), decision{
				start: up(textNewer, "", 2), change: &clusterprovisionerv1alpha1.Plan{ID: newer, Summary: "version: the tool's default -> v1.30.1"}, outcome: applying,
			},
		},
		"what is applied is no change although an earlier version recorded its first document only": {
			given(annotated(clusterprovisionerv1alpha1.RetryAnnotation, "now"), applied(textTwo), configured(textTwo), recordedEarlier), decision{},
		},
		"a second document that has changed is one": {
			given(applied(textTwo), configured(textTwoNext), recordedEarlier, manual), decision{
				change: &clusterprovisionerv1alpha1.Plan{ID: planID(mustRead(textTwo).Digest, mustRead(textTwoNext).Digest), Summary: "document 2: other: changed"},
				outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonWaitingForApproval, "the annotation clusterprovisioner.rke.io/approve="+
					planID(mustRead(textTwo).Digest, mustRead(textTwoNext).Digest), 0),
			},
		},
		"a change from what is not known any more waits for its approval as one that may lose something": {
			given(applied(textA), nothingStored, configured(textB), manual), decision{
				change: &clusterprovisionerv1alpha1.Plan{
					ID: losingPlan().ID, Summary: "what is applied is not known", Destructive: true,
				},
				outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonWaitingForApproval,
					"the annotation clusterprovisioner.rke.io/approve="+losingPlan().ID, 0),
			},
		},
		"a repeat of what is applied changes nothing, also where it is not stored any more": {
			given(applied(textA), nothingStored, annotated(clusterprovisionerv1alpha1.RetryAnnotation, "now"), manual), decision{
				start: up(textA, "now", 1), change: &clusterprovisionerv1alpha1.Plan{ID: planID(mustRead(textA).Digest, mustRead(textA).Digest)}, outcome: applying,
			},
		},
		"a retry annotation that was served starts nothing": {
			given(annotated(clusterprovisionerv1alpha1.RetryAnnotation, "now"), applied(textA)), decision{},
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

func TestPlanOfARun(t *testing.T) {
	t.Parallel()
	recording := flow.Wait(clusterprovisionerv1alpha1.ReasonApplying, "the end of the run to be recorded", soon)
	state := func(text string) map[string][]byte { return map[string][]byte{"a.rkestate": []byte(text)} }
	hadState := func(s *situation) {
		s.seen.stored = &store{given: of(textB), applied: of(textA), state: state("old")}
	}
	for name, test := range map[string]struct {
		given *situation
		want  decision
	}{
		"a run that is under way is waited for": {
			given(running(provision.Up)),
			decision{outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonApplying, "the tool to apply the configuration", lookAgain)},
		},
		"a deleted Cluster does not wait until it has come up": {
			given(running(provision.Up), deleted),
			decision{cancel: true, outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonRemoving, "the running tool to stop", lookAgain)},
		},
		"a removal that is under way is waited for": {
			given(running(provision.Remove), deleted),
			decision{outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonRemoving, "the tool to remove the cluster", lookAgain)},
		},
		"a removal that is under way stops when the machines are to stay": {
			given(running(provision.Remove), deleted, orphan),
			decision{cancel: true, outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonRemoving, "the running tool to stop", lookAgain)},
		},
		"a run that succeeded has applied what it was given": {
			given(hadState, unrecorded(provision.Succeeded, provision.Artifacts{State: state("new")})),
			decision{save: &store{given: of(textB), applied: of(textB), state: state("new")}, outcome: recording},
		},
		"a run that failed has applied nothing, and its state is kept": {
			given(hadState, unrecorded(provision.Failed, provision.Artifacts{State: state("new")})),
			decision{save: &store{given: of(textB), applied: of(textA), state: state("new")}, outcome: recording},
		},
		"an empty directory replaces no state": {
			given(hadState, unrecorded(provision.Interrupted, provision.Artifacts{State: map[string][]byte{}})),
			decision{save: &store{given: of(textB), applied: of(textA), state: state("old")}, outcome: recording},
		},
		"the state beside the file that is applied stays until another one is": {
			given(hadState, movedTo("/moved.yml"), unrecorded(provision.Failed, provision.Artifacts{State: map[string][]byte{"b.rkestate": []byte("b")}})),
			decision{
				save: &store{given: document{[]byte(textB), "/moved.yml"}, applied: of(textA), state: map[string][]byte{
					"a.rkestate": []byte("old"), "b.rkestate": []byte("b"),
				}},
				outcome: recording,
			},
		},
		"a file that cannot be kept fails its run, and the state from before stays": {
			given(hadState, unrecorded(provision.Succeeded, provision.Artifacts{State: state("new"), Unread: []string{"huge"}})),
			decision{
				save: &store{given: of(textB), applied: of(textA), state: state("old")},
				lost: &provision.Failure{
					Reason:  clusterprovisionerv1alpha1.ReasonStateLost,
					Message: `cannot store what the tool left: file "huge" has more than 8388608 bytes, or more than 134217728 with the others, or cannot be read`,
				},
				outcome: recording,
			},
		},
		"what a removal left need not be stored": {
			given(hadState, unrecorded(provision.Succeeded, provision.Artifacts{State: map[string][]byte{"a b": {}}}), func(s *situation) {
				s.seen.run.Action = provision.Remove
			}),
			decision{
				save:    &store{given: of(textB), applied: of(textA), state: state("old")},
				outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonRemoving, "the end of the run to be recorded", soon),
			},
		},
		"a torn state file is replaced by its copy": {
			given(hadState, unrecorded(provision.Failed, provision.Artifacts{
				State: map[string][]byte{"b.rkestate": []byte("b")}, Torn: []string{"a.rkestate"},
			})),
			decision{
				save: &store{given: of(textB), applied: of(textA), state: map[string][]byte{
					"a.rkestate": []byte("old"), "b.rkestate": []byte("b"),
				}},
				outcome: recording,
			},
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

// TestPlanOfAKubeconfig is about the Secret with the kubeconfig, which follows what the tool wrote whatever else goes on.
func TestPlanOfAKubeconfig(t *testing.T) {
	t.Parallel()
	written := func(text string) change {
		return func(s *situation) { applied(textA)(s); s.seen.stored.kubeconfig = []byte(text) }
	}
	live := func(state kubeconfigSecretState) change {
		return func(s *situation) {
			s.seen.kubeconfig = state
			s.seen.kubeconfig.ref = corev1.SecretReference{Namespace: "ns", Name: "one-kubeconfig"}
		}
	}
	former := func(s *situation) { s.seen.former = &corev1.Secret{} }
	const valid = "{clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}], users: [{name: u, user: {token: t}}], " +
		"contexts: [{name: x, context: {cluster: c, user: u}}], current-context: x}"
	for name, test := range map[string]struct {
		given *situation
		want  decision
	}{
		"a Secret that is missing is written":  {given(written(valid)), decision{kubeconfig: []byte(valid)}},
		"a Secret that was edited is written":  {given(written(valid), live(kubeconfigSecretState{content: []byte("x")})), decision{kubeconfig: []byte(valid)}},
		"a Secret that is right stays":         {given(written(valid), live(kubeconfigSecretState{content: []byte(valid)})), decision{}},
		"a paused Cluster writes none":         {given(written(valid), annotated(status.PausedAnnotation, "true")), decision{}},
		"a deleted Cluster writes none":        {given(written(valid), deleted, orphan), decision{release: true}},
		"the former Secret goes with the new":  {given(written(valid), former), decision{kubeconfig: []byte(valid), dropFormer: true}},
		"the former Secret goes after the new": {given(written(valid), former, live(kubeconfigSecretState{content: []byte(valid)})), decision{dropFormer: true}},
		"a foreign Secret keeps the former":    {given(written(valid), former, live(kubeconfigSecretState{foreign: true})), decision{refused: conflict()}},
		"a Secret that may not be read keeps it, too": {
			given(written(valid), former, live(kubeconfigSecretState{forbidden: &refusal{clusterprovisionerv1alpha1.ReasonSecretForbidden, "no"}})),
			decision{refused: &refusal{clusterprovisionerv1alpha1.ReasonSecretForbidden, "no"}},
		},
		"a foreign Secret is told on every pass":    {given(written(valid), live(kubeconfigSecretState{foreign: true})), decision{refused: conflict()}},
		"a refused kubeconfig is told on every one": {given(written("{}")), decision{refused: &refusal{clusterprovisionerv1alpha1.ReasonKubeconfigInvalid, refusedText("{}")}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, plan(test.given.cluster, test.given.seen, noon), comparing()); diff != "" {
				t.Errorf("the plan differs (-want +got):\n%s", diff)
			}
		})
	}
}

// conflict is the refusal to write to a Secret of somebody else's.
func conflict() *refusal {
	return &refusal{
		clusterprovisionerv1alpha1.ReasonSecretConflict,
		"Secret ns/one-kubeconfig exists and does not belong to this Cluster. Delete it, or name another in spec.kubeconfigSecretRef",
	}
}

// refusedText says what is wrong with a kubeconfig.
func refusedText(kubeconfig string) string {
	_, err := kube.Target([]byte(kubeconfig))
	return err.Error()
}
