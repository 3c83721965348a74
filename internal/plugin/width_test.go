// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"strings"
	"testing"
)

// TestWideLetters: letters of East Asia take two columns, and accents none.
func TestWideLetters(t *testing.T) {
	t.Parallel()
	for of, want := range map[string]string{
		"节点池": "节点池", "节点池没": "节点…", "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301": "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", "abcde节": "abcde…", "🚀🚀🚀🚀": "🚀🚀…",
	} {
		if got := cut(of, 6); got != want {
			t.Errorf("%q is cut to %q, want %q", of, got, want)
		}
		if got := fit([]string{colourRed + of + colourOff}, 6, 9)[0]; uncoloured(got) != want {
			t.Errorf("%q is drawn as %q, want %q", of, got, want)
		}
	}
	made := &table{columns: []column{{title: "NAME"}, {title: "WHY"}}}
	made.add(plain("节点", "a")...)
	made.add(plain("b", "c")...)
	var out strings.Builder
	must(t, made.write(&out, style{}, 0, false))
	if want := "NAME   WHY\n节点   a\nb      c\n"; out.String() != want {
		t.Errorf("got\n%s, want\n%s", out.String(), want)
	}
}
