// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	paused := func(p *appsv1alpha1.PodSet) { p.Annotations = map[string]string{status.PausedAnnotation: "true"} }
	budgeted := func(p *appsv1alpha1.PodSet) { p.Spec.MinAvailable = new(intstr.FromInt32(1)) }
	type result struct {
		Writes                   []string
		Outcome, Conflict, Clear string
	}
	tests := map[string]struct {
		podSet     *appsv1alpha1.PodSet
		deployment *appsv1.Deployment
		budget     *policyv1.PodDisruptionBudget
		futile     func(action) bool
		want       result
	}{
		"nothing there: the Deployment is created": {
			podSet: aPodSet(),
			want:   result{Writes: []string{`create: Created Deployment "web" with 3 pods`}},
		},
		"everything there: nothing is written": {
			podSet:     aPodSet(),
			deployment: deploymentOf(t, aPodSet()),
		},
		"another size scales": {
			podSet:     aPodSet(sized(5)),
			deployment: deploymentOf(t, aPodSet()),
			want:       result{Writes: []string{"apply: Scaled from 3 to 5"}},
		},
		"another template updates": {
			podSet:     aPodSet(withTemplate),
			deployment: deploymentOf(t, aPodSet()),
			want:       result{Writes: []string{`apply: Updated Deployment "web"`}},
		},
		"another size and template do both": {
			podSet:     aPodSet(withTemplate, sized(5)),
			deployment: deploymentOf(t, aPodSet()),
			want: result{Writes: []string{
				`apply: Updated Deployment "web" and scaled it from 3 to 5`,
			}},
		},
		"a Deployment that somebody scaled is scaled back": {
			podSet:     aPodSet(),
			deployment: changed(t, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) }),
			want: result{Writes: []string{
				`apply: Reverted Deployment "web" to the PodSet: scaled from 7 to 3 pods`,
			}},
		},
		"a Deployment that somebody paused goes on": {
			podSet:     aPodSet(),
			deployment: changed(t, func(d *appsv1.Deployment) { d.Spec.Paused = true }),
			want:       result{Writes: []string{`apply: Reverted Deployment "web" to the PodSet`}},
		},
		"an annotation of somebody else is left alone": {
			podSet:     aPodSet(),
			deployment: changed(t, func(d *appsv1.Deployment) { d.Annotations["note"] = "mine" }),
		},
		"steps of a rolling update go first when pods are to be recreated": {
			podSet: aPodSet(func(p *appsv1alpha1.PodSet) {
				p.Spec.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
			}),
			deployment: deploymentOf(t, aPodSet()),
			want: result{
				Writes: []string{`apply: Updated Deployment "web"`},
				Clear:  `"strategy":{"type":"Recreate","rollingUpdate":null}`,
			},
		},
		"a Deployment without an owner is left alone": {
			podSet:     aPodSet(budgeted),
			deployment: changed(t, func(d *appsv1.Deployment) { d.OwnerReferences = nil }),
			want: result{
				Outcome:  `NameTaken: Deployment "web" exists and does not belong to this PodSet`,
				Conflict: `Deployment "web" exists and does not belong to this PodSet`,
			},
		},
		"a Deployment of an earlier PodSet of that name is waited for": {
			podSet:     aPodSet(),
			deployment: changed(t, func(d *appsv1.Deployment) { d.OwnerReferences[0].UID = "uid-earlier" }),
			want:       result{Outcome: `DeploymentTerminating: waiting for Deployment "web" to be deleted`},
		},
		"a Deployment on its way out is waited for": {
			podSet: aPodSet(),
			deployment: changed(t, func(d *appsv1.Deployment) {
				d.DeletionTimestamp = &metav1.Time{}
				*d.DeletionTimestamp = metav1.Unix(1, 0)
			}),
			want: result{Outcome: `DeploymentTerminating: waiting for Deployment "web" to be deleted`},
		},
		"a wish for a budget creates one": {
			podSet:     aPodSet(budgeted),
			deployment: deploymentOf(t, aPodSet()),
			want:       result{Writes: []string{"create"}},
		},
		"a budget that is not wanted any more is deleted": {
			podSet:     aPodSet(),
			deployment: deploymentOf(t, aPodSet()),
			budget:     aBudget("uid-web"),
			want:       result{Writes: []string{"remove"}},
		},
		"a budget of somebody else is left alone where none is wished for": {
			podSet:     aPodSet(),
			deployment: deploymentOf(t, aPodSet()),
			budget:     aBudget("uid-other"),
		},
		"a budget of somebody else is a conflict where one is wished for, and the Deployment still follows": {
			podSet:     aPodSet(budgeted, sized(4)),
			deployment: deploymentOf(t, aPodSet()),
			budget:     aBudget("uid-other"),
			want: result{
				Writes:   []string{"apply: Scaled from 3 to 4"},
				Outcome:  `NameTaken: PodDisruptionBudget "web" exists and does not belong to this PodSet`,
				Conflict: `PodDisruptionBudget "web" exists and does not belong to this PodSet`,
			},
		},
		"a paused PodSet writes nothing and says what it waits for": {
			podSet:     aPodSet(paused, sized(5)),
			deployment: deploymentOf(t, aPodSet()),
			want:       result{Outcome: "Paused: waiting for the annotation windlass.io/paused to be removed"},
		},
		"a paused PodSet that is as it should be waits for nothing": {
			podSet:     aPodSet(paused),
			deployment: deploymentOf(t, aPodSet()),
		},
		"a paused PodSet with nothing to write but what is turned back waits for nothing": {
			podSet:     aPodSet(paused),
			deployment: changed(t, func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 7 }),
			futile:     func(a action) bool { return a.repairs },
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			decided, err := plan(tt.podSet, observation{deployment: tt.deployment, budget: tt.budget, futile: tt.futile})
			if err != nil {
				t.Fatal(err)
			}
			got := result{Conflict: decided.conflict}
			for _, a := range decided.actions {
				text := map[verb]string{create: "create", apply: "apply", remove: "remove"}[a.verb]
				if a.event != nil {
					text += ": " + a.event.Note
				}
				got.Writes = append(got.Writes, text)
				got.Clear += a.clear
			}
			if !decided.outcome.IsDone() {
				got.Outcome = decided.outcome.Reason() + ": " + decided.outcome.Message()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// changed returns the Deployment of aPodSet after somebody has changed it.
func changed(t *testing.T, change func(*appsv1.Deployment)) *appsv1.Deployment {
	t.Helper()
	deployment := deploymentOf(t, aPodSet())
	change(deployment)
	return deployment
}

func aBudget(owner types.UID) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{
		Name: "web", Namespace: "shop",
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "example.com/v1", Kind: "Other", Name: "web", UID: owner, Controller: new(true),
		}},
	}}
}
