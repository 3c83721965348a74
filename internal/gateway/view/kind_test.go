// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"
	"testing"
)

func FuzzResourcePath(f *testing.F) {
	f.Add("default", "web")
	f.Add("..", "../../secrets?x#y")
	table := Kinds()
	at := slices.IndexFunc(table, func(k Kind) bool { return k.Plural == ServicesPlural })
	f.Fuzz(func(t *testing.T, namespace, name string) {
		if namespace == "" || name == "" {
			t.Skip("every route has both")
		}
		path := table[at].Path(namespace, name, "")
		if strings.Count(path, "/") != 6 || strings.ContainsAny(path, "?#") {
			t.Errorf("%q and %q lead to %q", namespace, name, path)
		}
	})
}
