// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/patch"
)

func TestCovers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		live, desired string
		want          bool
	}{
		"equal objects":                       {live: "{a: 1}", desired: "{a: 1}", want: true},
		"defaults that live has besides":      {live: "{a: 1, b: 2}", desired: "{a: 1}", want: true},
		"a changed value":                     {live: "{a: 2}", desired: "{a: 1}"},
		"a zero that was changed":             {live: "{replicas: 3}", desired: "{replicas: 0}"},
		"a missing value":                     {live: "{}", desired: "{a: 1}"},
		"a null that is no wish":              {live: "{}", desired: "{creationTimestamp: null}", want: true},
		"list entries by name in any order":   {live: "{c: [{name: b}, {name: a, x: 1}]}", desired: "{c: [{name: a}]}", want: true},
		"a list entry that is missing":        {live: "{c: [{name: b}]}", desired: "{c: [{name: a}]}"},
		"an entry that others have named":     {live: "{ports: [{containerPort: 80, name: http}]}", desired: "{ports: [{containerPort: 80}]}", want: true},
		"one name in two entries":             {live: "{m: [{name: v, p: 1}, {name: v, p: 2}]}", desired: "{m: [{name: v, p: 2}, {name: v, p: 1}]}", want: true},
		"a plain list of another length":      {live: "{args: [a, b]}", desired: "{args: [a]}"},
		"a plain list in another order":       {live: "{args: [b, a]}", desired: "{args: [a, b]}"},
		"an extra key of a map":               {live: "{labels: {a: b, c: d}}", desired: "{labels: {a: b}}", want: true},
		"an extra key of an atomic map":       {live: "{nodeSelector: {a: b, c: d}}", desired: "{nodeSelector: {a: b}}"},
		"an empty object":                     {live: "{a: {}}", desired: "{a: {}}", want: true},
		"an empty object that is missing":     {live: "{b: 1}", desired: "{a: {}}"},
		"an empty object that was filled":     {live: "{a: {b: 1}}", desired: "{a: {}}", want: true},
		"init containers in another order":    {live: "{initContainers: [{name: b}, {name: a}]}", desired: "{initContainers: [{name: a}, {name: b}]}"},
		"an init container in between":        {live: "{initContainers: [{name: a}, {name: c}, {name: b}]}", desired: "{initContainers: [{name: a}, {name: b}]}", want: true},
		"an init container that is missing":   {live: "{initContainers: [{name: a}]}", desired: "{initContainers: [{name: a}, {name: b}]}"},
		"variables in another order":          {live: "{env: [{name: b}, {name: a}]}", desired: "{env: [{name: a}, {name: b}]}"},
		"a variable of somebody else":         {live: "{env: [{name: c}, {name: a, value: x}]}", desired: "{env: [{name: a, value: x}]}", want: true},
		"an object where there was something": {live: "{a: [1]}", desired: "{a: {b: 1}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var live, desired any
			if err := yaml.Unmarshal([]byte(tc.live), &live); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(tc.desired), &desired); err != nil {
				t.Fatal(err)
			}
			got, err := patch.Covers(live, desired)
			if err != nil || got != tc.want {
				t.Errorf("covers is %t, %v, want %t", got, err, tc.want)
			}
		})
	}
}

func TestHashDependsOnContentOnly(t *testing.T) {
	t.Parallel()
	one, err := patch.Hash(map[string]int{"a": 1, "b": 2})
	if err != nil {
		t.Fatal(err)
	}
	same, _ := patch.Hash(map[string]int{"b": 2, "a": 1})
	other, _ := patch.Hash(map[string]int{"a": 1})
	if one != same || one == other {
		t.Errorf("hashes are %s, %s and %s", one, same, other)
	}
}
