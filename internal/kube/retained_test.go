// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestRoomForRetainedMachines(t *testing.T) {
	t.Parallel()
	entries := func(n int, host, namespace string) map[string]string {
		out := map[string]string{}
		for i := range n {
			out[fmt.Sprintf("%s-%s-%d", host, namespace, i)] = fmt.Sprintf("docker/%s %s/vm-%d", host, namespace, i)
		}
		return out
	}
	for sentence, test := range map[string]struct {
		configured []string
		host       string
		lists      []map[string]string
		want       string
	}{
		"an empty list":                      {[]string{"a"}, "a", nil, ""},
		"one below the limit":                {[]string{"a"}, "a", []map[string]string{entries(99, "a", "team")}, ""},
		"a full namespace":                   {[]string{"a"}, "a", []map[string]string{entries(100, "a", "team")}, `namespace "team" has 100`},
		"another namespace is full":          {[]string{"a"}, "a", []map[string]string{entries(100, "a", "team-b")}, ""},
		"a namespace full of a host gone":    {[]string{"a"}, "a", []map[string]string{entries(100, "old", "team")}, ""},
		"one more machine of a host gone":    {[]string{"a"}, "old", []map[string]string{entries(100, "a", "team")}, ""},
		"nobody knows which hosts there are": {nil, "a", []map[string]string{entries(100, "old", "team")}, `namespace "team" has 100`},
		"a full list":                        {[]string{"a"}, "a", []map[string]string{entries(1500, "a", "team-b")}, "all namespaces together have 1500"},
		"a list full of a host that is gone": {[]string{"a"}, "a", []map[string]string{entries(1500, "old", "team-b")}, "On hosts that are not configured are 1500 of them"},
		"a list full of both, with a gone one": {
			[]string{"a"}, "old", []map[string]string{entries(1499, "a", "team-b"), entries(1, "old", "team-b")}, "On hosts that are not configured are 1 of them",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			list := map[string]string{}
			for _, part := range test.lists {
				maps.Copy(list, part)
			}
			err := (&RetainedList{Configured: test.configured}).roomFor("team", test.host, list)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ErrTooManyRetained) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want in it %q", err, test.want)
			}
		})
	}
}
