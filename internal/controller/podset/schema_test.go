// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestSchema(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec string
		// refused is a part of the message; empty where the spec is accepted.
		refused string
	}{
		"the article's PodSet":          {spec: `{size: 3}`},
		"no pods":                       {spec: `{size: 0}`},
		"no size":                       {spec: `{}`, refused: "spec.size: Required value"},
		"a negative size":               {spec: `{size: -1}`, refused: "spec.size in body should be greater than or equal to 0"},
		"a size that is no number":      {spec: `{size: three}`, refused: "spec.size in body must be of type integer"},
		"an unknown field":              {spec: `{size: 1, replicas: 2}`, refused: `unknown field "spec.replicas"`},
		"a number as minAvailable":      {spec: `{size: 3, minAvailable: 2}`},
		"a percentage as minAvailable":  {spec: `{size: 3, minAvailable: 50%}`},
		"all as minAvailable":           {spec: `{size: 3, minAvailable: 100%}`},
		"a negative minAvailable":       {spec: `{size: 3, minAvailable: -1}`, refused: "minAvailable is a number of 0 or more, or a percentage"},
		"more than all as minAvailable": {spec: `{size: 3, minAvailable: 101%}`, refused: "minAvailable is a number of 0 or more, or a percentage"},
		"a template without containers": {spec: `{size: 1, template: {spec: {containers: []}}}`, refused: "template.spec.containers needs at least one container"},
		"a word as minAvailable":        {spec: `{size: 3, minAvailable: half}`, refused: "minAvailable is a number of 0 or more, or a percentage"},
		"a node pool":                   {spec: `{size: 3, nodePool: batch}`},
		"a node pool and a template":    {spec: `{size: 3, nodePool: batch, template: {spec: {containers: [{name: a, image: b}]}}}`},
		"a node pool and a runtime class": {
			spec:    `{size: 3, nodePool: batch, template: {spec: {runtimeClassName: x, containers: [{name: a, image: b}]}}}`,
			refused: "nodePool sets the pods' runtimeClassName: give either nodePool or template.spec.runtimeClassName",
		},
		"a runtime class alone":       {spec: `{size: 3, template: {spec: {runtimeClassName: x, containers: [{name: a, image: b}]}}}`},
		"a node pool with a bad name": {spec: `{size: 3, nodePool: Batch_1}`, refused: "spec.nodePool"},
		"the label app in the template": {
			spec:    `{size: 3, template: {metadata: {labels: {app: mine}}, spec: {containers: [{name: a, image: b}]}}}`,
			refused: "the pod labels app and podSet_cr are set by Windlass",
		},
		"the label podSet_cr in the template": {
			spec:    `{size: 3, template: {metadata: {labels: {podSet_cr: mine}}, spec: {containers: [{name: a, image: b}]}}}`,
			refused: "the pod labels app and podSet_cr are set by Windlass",
		},
		"another label in the template": {
			spec: `{size: 3, template: {metadata: {labels: {tier: front}}, spec: {containers: [{name: a, image: b}]}}}`,
		},
		"two containers of one name": {
			spec:    `{size: 3, template: {spec: {containers: [{name: a, image: b}, {name: a, image: c}]}}}`,
			refused: "Duplicate value",
		},
		"negative seconds":      {spec: `{size: 3, minReadySeconds: -1}`, refused: "spec.minReadySeconds"},
		"no deadline at all":    {spec: `{size: 3, progressDeadlineSeconds: 2147483647}`},
		"a deadline of nothing": {spec: `{size: 3, progressDeadlineSeconds: 0}`, refused: "spec.progressDeadlineSeconds"},
		"everything else that a Deployment has": {
			spec: `{size: 3, minReadySeconds: 5, progressDeadlineSeconds: 60, revisionHistoryLimit: 0, paused: true, strategy: {type: Recreate}}`,
		},
	}
	h := testkit.New(t)
	namespace := h.Namespace(t)
	strict := client.WithFieldValidation(h.Live, metav1.FieldValidationStrict)
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			podSet := manifest(t, namespace, tt.spec)
			err := strict.Create(t.Context(), podSet)
			switch {
			case tt.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.refused != "" && err == nil:
				t.Errorf("accepted, want a refusal with %q", tt.refused)
			case tt.refused != "" && !strings.Contains(err.Error(), tt.refused):
				t.Errorf("refused with %q, want %q in it", err, tt.refused)
			}
		})
	}
}

func TestSchemaAddsNothingToTheSpec(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	podSet := manifest(t, h.Namespace(t), `{size: 3}`)
	h.Create(t, podSet)
	if diff := cmp.Diff(map[string]any{"size": int64(3)}, podSet.Object["spec"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Who knows kstatus took a PodSet without a status for one that is finished.
func TestANewPodSetIsNotReady(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	podSet := manifest(t, h.Namespace(t), `{size: 3}`)
	h.Create(t, podSet)
	h.Get(t, podSet)
	conditions, _, err := unstructured.NestedSlice(podSet.Object, "status", "conditions")
	want := []any{map[string]any{
		"type": "Ready", "status": "Unknown", "reason": "NotObserved", "message": "Windlass has not reported on this object yet",
		"lastTransitionTime": "1970-01-01T00:00:00Z",
	}}
	if diff := cmp.Diff(want, conditions); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestTheSampleIsAccepted(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	raw, err := os.ReadFile(filepath.Join(testkit.Root(), "config", "samples", "podset.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	namespace := h.Namespace(t)
	strict := client.WithFieldValidation(h.Live, metav1.FieldValidationStrict)
	for document := range strings.SplitSeq(string(raw), "\n---\n") {
		podSet := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &podSet.Object); err != nil {
			t.Fatal(err)
		}
		podSet.SetNamespace(namespace)
		if err := strict.Create(t.Context(), podSet); err != nil {
			t.Errorf("%s: %v", podSet.GetName(), err)
		}
	}
}

// manifest returns a PodSet as a user writes it.
func manifest(t *testing.T, namespace, spec string) *unstructured.Unstructured {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(spec), &object); err != nil {
		t.Fatal(err)
	}
	podSet := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps.jicki.cn/v1alpha1",
		"kind":       "PodSet",
		"spec":       object,
	}}
	podSet.SetNamespace(namespace)
	podSet.SetGenerateName("web-")
	return podSet
}
