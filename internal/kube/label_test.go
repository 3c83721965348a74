// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestLabelValue(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ name, want string }{
		"a short name is its own label value":     {"web", "web"},
		"63 characters are no more than fit":      {strings.Repeat("a", 63), strings.Repeat("a", 63)},
		"64 characters are cut and made unique":   {strings.Repeat("a", 64), strings.Repeat("a", 52) + "-ffe054fe7a"},
		"names that differ at the end stay apart": {strings.Repeat("a", 63) + "b", strings.Repeat("a", 52) + "-97aa7c540d"},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if got := LabelValue(tt.name); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzEveryNameMakesAValidLabelValue(f *testing.F) {
	for _, name := range []string{
		"web", "web.v1", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 51) + "." + strings.Repeat("b", 60),
		strings.Repeat("a.", 126) + "z", strings.Repeat("a", 253),
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			t.Skip("no name that the API server accepts")
		}
		value := LabelValue(name)
		if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
			t.Errorf("%q becomes %q: %v", name, value, problems)
		}
		if other := LabelValue(name + "x"); other == value {
			t.Errorf("%q and the same with an x share the value %q", name, value)
		}
	})
}
