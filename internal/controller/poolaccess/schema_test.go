// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess_test

import (
	"testing"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// A pool whose selector Kubernetes does not understand used to be Ready although no namespace could use it.
func TestSelectorsOfNamespaces(t *testing.T) {
	t.Parallel()
	pool := func(spec string) string {
		return "apiVersion: nodes.lailin.xyz/v1\nkind: NodePool\nmetadata: {name: schema}\nspec: " + spec
	}
	allowed := func(requirement string) string {
		return pool(`{allowedNamespaces: {from: Selector, selector: {matchExpressions: [` + requirement + `]}}}`)
	}
	given := func(requirement string) string {
		return pool(`{defaultFor: {namespaceSelector: {matchExpressions: [` + requirement + `]}}}`)
	}
	const operators, values = "operator must be In, NotIn, Exists or DoesNotExist", "In and NotIn need values"
	testkit.CheckManifests(t, map[string]testkit.Manifest{
		"allowed: an operator that exists":         {YAML: allowed(`{key: team, operator: In, values: [ml]}`)},
		"allowed: an operator without values":      {YAML: allowed(`{key: team, operator: DoesNotExist}`)},
		"allowed: an operator with an empty list":  {YAML: allowed(`{key: team, operator: Exists, values: []}`)},
		"allowed: an operator that does not exist": {YAML: allowed(`{key: team, operator: Like, values: [ml]}`), Refused: operators},
		"allowed: NotIn without values":            {YAML: allowed(`{key: team, operator: NotIn}`), Refused: values},
		"allowed: Exists with values":              {YAML: allowed(`{key: team, operator: Exists, values: [ml]}`), Refused: values},
		"default: an operator that exists":         {YAML: given(`{key: team, operator: NotIn, values: [ml]}`)},
		"default: an operator that does not exist": {YAML: given(`{key: team, operator: like, values: [ml]}`), Refused: operators},
		"default: In with an empty list":           {YAML: given(`{key: team, operator: In, values: []}`), Refused: values},
	})
}
