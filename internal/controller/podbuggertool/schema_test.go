// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestSchema(t *testing.T) {
	t.Parallel()
	manifest := func(spec string) string {
		return "apiVersion: apps.jicki.cn/v1alpha1\nkind: PodBuggerTool\nmetadata: {name: probe}\nspec: " + spec
	}
	tests := map[string]testkit.Manifest{
		"a label and an image": {
			YAML: manifest(`{label: app=teachstore-course, image: busybox}`),
			Check: func(t *testing.T, stored *unstructured.Unstructured) {
				t.Helper()
				want := map[string]any{
					"label": "app=teachstore-course", "image": "busybox", "command": []any{"sh"}, "maxPods": int64(50),
				}
				if diff := cmp.Diff(want, stored.Object["spec"]); diff != "" {
					t.Errorf("defaults (-want +got):\n%s", diff)
				}
			},
		},
		"a label with a prefix and no value": {YAML: manifest(`{label: example.com/app=, image: busybox}`)},
		"a selector":                         {YAML: manifest(`{selector: {matchLabels: {app: web}}, image: busybox}`)},
		"everything": {YAML: manifest(`{selector: {matchExpressions: [{key: app, operator: Exists}]}, image: "127.0.0.1:5000/a/b:1",
			command: [bash, -l], targetContainer: app, maxPods: 3, securityContext: {capabilities: {add: [SYS_PTRACE]}}}`)},
		"both a label and a selector": {
			YAML: manifest(`{label: a=b, selector: {matchLabels: {app: web}}, image: busybox}`), Refused: "give exactly one of label and selector",
		},
		"neither a label nor a selector": {YAML: manifest(`{image: busybox}`), Refused: "give exactly one of label and selector"},
		"an empty selector": {
			YAML: manifest(`{selector: {}, image: busybox}`), Refused: "an empty selector would select every pod of the namespace",
		},
		"a label without a value":       {YAML: manifest(`{label: app, image: busybox}`), Refused: "spec.label"},
		"a label with two values":       {YAML: manifest(`{label: "a=b,c=d", image: busybox}`), Refused: "spec.label"},
		"no image":                      {YAML: manifest(`{label: a=b}`), Refused: "spec.image: Required value"},
		"an empty image":                {YAML: manifest(`{label: a=b, image: ""}`), Refused: "spec.image"},
		"an image with a blank":         {YAML: manifest(`{label: a=b, image: "busy box"}`), Refused: "spec.image"},
		"no pod at all":                 {YAML: manifest(`{label: a=b, image: x, maxPods: 0}`), Refused: "spec.maxPods"},
		"more pods than anybody debugs": {YAML: manifest(`{label: a=b, image: x, maxPods: 501}`), Refused: "spec.maxPods"},
		"an empty command":              {YAML: manifest(`{label: a=b, image: x, command: []}`), Refused: "spec.command"},
		"a target that is no container": {YAML: manifest(`{label: a=b, image: x, targetContainer: A_B}`), Refused: "spec.targetContainer"},
		"an unknown field":              {YAML: manifest(`{label: a=b, image: x, args: [a]}`), Refused: `unknown field "spec.args"`},
	}
	testkit.CheckManifests(t, tests)
}
