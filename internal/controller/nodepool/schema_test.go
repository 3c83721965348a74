// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestSchema(t *testing.T) {
	t.Parallel()
	named := func(name, spec string) string {
		return fmt.Sprintf("apiVersion: nodes.lailin.xyz/v1\nkind: NodePool\nmetadata: {name: %q}\nspec: %s", name, spec)
	}
	spec := func(spec string) string { return named("pool", spec) }
	testkit.CheckManifests(t, map[string]testkit.Manifest{
		"the article's pool test": {YAML: spec(`{labels: {node-pool.lailin.xyz/test: ""}, handler: runc}`)},
		"the article's pool master": {YAML: named("master", `
  labels: {node-pool.lailin.xyz/master: "8", node-pool.lailin.xyz/test: "2"}
  taints: [{key: node-pool.lailin.xyz, value: master, effect: NoSchedule}]
  handler: runc`)},
		"the article's pool worker": {YAML: named("worker", `
  labels: {node-pool.lailin.xyz/xxx: "10"}
  taints: [{key: node-pool.lailin.xyz, value: worker, effect: NoSchedule}]
  handler: runc`)},
		"an empty spec, with policies defaulted": {YAML: spec(`{}`), Check: func(t *testing.T, stored *unstructured.Unstructured) {
			t.Helper()
			got, _, _ := unstructured.NestedMap(stored.Object, "spec")
			if diff := cmp.Diff(map[string]any{"overwrite": "Restore", "deletionPolicy": "Clean"}, got); diff != "" {
				t.Errorf("the spec differs (-want +got):\n%s", diff)
			}
		}},
		"everything at once": {YAML: spec(`
  annotations: {example.com/team: a team with spaces}
  nodeSelector: {matchLabels: {zone: a}}
  nodeCIDRs: [10.20.0.0/16, "2001:db8::/32"]
  priority: -5
  overwrite: Always
  dryRun: true
  deletionPolicy: Orphan
  allowedNamespaces: {from: Selector, selector: {matchLabels: {team: a}}}
  defaultFor: {namespaceSelector: {matchExpressions: [{key: team, operator: Exists}]}}`)},
		"an invalid segment": {
			YAML: spec(`{nodeCIDRs: [10.20.0.0]}`), Refused: "must be a network segment",
		},
		"a selector of namespaces that goes with All": {
			YAML: spec(`{allowedNamespaces: {from: All, selector: {}}}`), Refused: "selector goes with from: Selector",
		},
		"a default for everybody": {
			YAML: spec(`{defaultFor: {namespaceSelector: {}}}`), Refused: "would match every namespace",
		},
		"a node selector with an unknown operator": {
			YAML:    spec(`{nodeSelector: {matchExpressions: [{key: a, operator: Like}]}}`),
			Refused: "spec.nodeSelector.matchExpressions: Invalid value: operator must be In, NotIn, Exists or DoesNotExist",
		},
		"a node selector without the values that its operator needs": {
			YAML: spec(`{nodeSelector: {matchExpressions: [{key: a, operator: NotIn}]}}`), Refused: "In and NotIn need values",
		},
		"allowed namespaces with an unknown operator": {
			YAML:    spec(`{allowedNamespaces: {from: Selector, selector: {matchExpressions: [{key: a, operator: Like}]}}}`),
			Refused: "spec.allowedNamespaces.selector.matchExpressions: Invalid value: operator must be",
		},
		"a default with values that its operator does not have": {
			YAML:    spec(`{defaultFor: {namespaceSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}}`),
			Refused: "Exists and DoesNotExist have none",
		},
		"every operator": {
			YAML: spec(`{nodeSelector: {matchExpressions: [{key: a, operator: In, values: [b]}, {key: a, operator: NotIn, values: [b]}, {key: a, operator: Exists}, {key: a, operator: DoesNotExist}]}}`),
		},
		"an unknown overwrite policy": {
			YAML: spec(`{overwrite: Sometimes}`), Refused: `supported values: "Never", "Restore", "Always"`,
		},
		"an annotation of Windlass": {
			YAML: spec(`{annotations: {nodes.lailin.xyz/applied: x}}`), Refused: "not a pool's to set",
		},
		"a rollout and a drain, with defaults": {
			YAML: spec(`{rollout: {maxConcurrent: 10%, pauseSeconds: 60, maxUnavailable: 0}, drain: {}}`),
			Check: func(t *testing.T, stored *unstructured.Unstructured) {
				t.Helper()
				got, _, _ := unstructured.NestedMap(stored.Object, "spec", "drain")
				if diff := cmp.Diff(map[string]any{"policy": "None", "timeoutSeconds": int64(600)}, got); diff != "" {
					t.Errorf("the drain differs (-want +got):\n%s", diff)
				}
			},
		},
		"a drain that waits for ever": {YAML: spec(`{drain: {policy: Evict, timeoutSeconds: 0}}`)},
		"a rollout without a bound": {
			YAML: spec(`{rollout: {pauseSeconds: 1}}`), Refused: "maxConcurrent: Required value",
		},
		"a rollout of nobody": {
			YAML: spec(`{rollout: {maxConcurrent: 0}}`), Refused: "maxConcurrent is a number of 1 or more",
		},
		"a rollout of no percent": {
			YAML: spec(`{rollout: {maxConcurrent: 0%}}`), Refused: "maxConcurrent is a number of 1 or more",
		},
		"more unavailable than there are": {
			YAML: spec(`{rollout: {maxConcurrent: 1, maxUnavailable: 101%}}`), Refused: "maxUnavailable is a number of 0 or more",
		},
		"a pause that is negative": {
			YAML: spec(`{rollout: {maxConcurrent: 1, pauseSeconds: -1}}`), Refused: "spec.rollout.pauseSeconds",
		},
		"an unknown drain policy": {
			YAML: spec(`{drain: {policy: Delete}}`), Refused: `supported values: "None", "Evict"`,
		},
		"the taint that only kubelets set": {
			YAML: spec(`{taints: [{key: nodes.lailin.xyz/uninitialized, effect: NoSchedule}]}`), Refused: "only ever takes it off",
		},
		"one key with two effects":      {YAML: spec(`{taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]}`)},
		"a taint out of service":        {YAML: spec(`{taints: [{key: node.kubernetes.io/out-of-service, effect: NoExecute}]}`)},
		"a name of 63 characters":       {YAML: named(strings.Repeat("a", 63), `{}`)},
		"a label of the longest length": {YAML: spec(`{labels: {` + strings.Repeat("a", 63) + `: ` + strings.Repeat("b", 63) + `}}`)},

		"a name of 64 characters": {
			YAML: named(strings.Repeat("a", 64), `{}`), Refused: "at most 63 characters",
		},
		"an unknown effect": {
			YAML: spec(`{taints: [{key: a, effect: Never}]}`), Refused: `supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
		},
		"a taint without effect": {
			YAML: spec(`{taints: [{key: a}]}`), Refused: "effect: Required value",
		},
		"the same key and effect twice": {
			YAML: spec(`{taints: [{key: a, value: x, effect: NoSchedule}, {key: a, value: y, effect: NoSchedule}]}`), Refused: "Duplicate value",
		},
		"a taint with timeAdded": {
			YAML: spec(`{taints: [{key: a, effect: NoSchedule, timeAdded: "2026-01-01T00:00:00Z"}]}`), Refused: `unknown field "spec.taints[0].timeAdded"`,
		},
		"a taint that belongs to Kubernetes": {
			YAML: spec(`{taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}`), Refused: "belong to Kubernetes",
		},
		"an invalid taint key": {
			YAML: spec(`{taints: [{key: "a b", effect: NoSchedule}]}`), Refused: "spec.taints[0].key",
		},
		"a NoExecute taint on the control plane": {
			YAML: named("control-plane", `{taints: [{key: a, effect: NoExecute}]}`), Refused: "would evict the control plane",
		},
		"an invalid label key": {
			YAML: spec(`{labels: {"a b": x}}`), Refused: "every key must be a label key",
		},
		"an invalid label value": {
			YAML: spec(`{labels: {a: "x y"}}`), Refused: "spec.labels.a",
		},
		"a label value of 64 characters": {
			YAML: spec(`{labels: {a: ` + strings.Repeat("b", 64) + `}}`), Refused: "may not be more than 63",
		},
		"a role as label": {
			YAML: spec(`{labels: {node-role.kubernetes.io/other: ""}}`), Refused: "not a pool's to set",
		},
		"a membership as label": {
			YAML: spec(`{labels: {nodepool.node-restriction.kubernetes.io/other: ""}}`), Refused: "not a pool's to set",
		},
		"a membership by address as label": {
			YAML: spec(`{labels: {address.node-restriction.kubernetes.io/other: ""}}`), Refused: "not a pool's to set",
		},
		"a handler that is no DNS label": {
			YAML: spec(`{handler: Run_C}`), Refused: "spec.handler",
		},
		"an unknown field": {
			YAML: spec(`{label: {}}`), Refused: `unknown field "spec.label"`,
		},
	})
}
