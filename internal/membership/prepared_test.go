// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

func TestEachVersionOfAPoolIsPreparedOnce(t *testing.T) {
	t.Parallel()
	of := func(versions map[string]string) *nodesv1.NodePoolList {
		list := &nodesv1.NodePoolList{}
		for name, version := range versions {
			item := pool(name).Obj()
			item.ResourceVersion = version
			list.Items = append(list.Items, *item)
		}
		return list
	}
	var prepared Prepared
	first := prepared.Pools(of(map[string]string{"a": "1", "b": "1", "c": "1"}))
	second := prepared.Pools(of(map[string]string{"a": "1", "b": "2", "d": "1"}))
	if first["a"] != second["a"] {
		t.Error("a pool that has not changed was prepared again")
	}
	if second["b"] == first["b"] || second["b"].ResourceVersion != "2" {
		t.Error("a pool that has changed was not prepared again")
	}
	if len(second) != 3 || second["c"] != nil || second["d"] == nil {
		t.Errorf("the pools are %v, not those of the list", sortedKeys(second))
	}
	if len(first) != 3 || first["b"].ResourceVersion != "1" {
		t.Error("pools that were handed out have changed")
	}
	again := of(map[string]string{"a": "1"})
	again.Items[0].UID = "another"
	if prepared.Pools(again)["a"] == first["a"] {
		t.Error("a pool that was created again is taken for the one before it")
	}
	unversioned := of(map[string]string{"a": ""})
	if once := prepared.Pools(unversioned)["a"]; once == prepared.Pools(unversioned)["a"] {
		t.Error("a pool without a version is taken for another one")
	}
}
