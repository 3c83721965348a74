// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPermit(t *testing.T) {
	t.Parallel()
	hosts := []Candidate{
		{Name: "a", Driver: "docker", Namespaces: []string{"red", "blue"}},
		{Name: "b", Driver: "docker", Namespaces: []string{"blue"}},
		{Name: "c", Driver: "docker"},
		{Name: "d", Driver: "libvirt", Namespaces: []string{"blue"}},
	}
	cases := map[string]struct {
		namespace, driver, wanted string
		want                      []string
		refusal                   string
	}{
		"a namespace that is named":               {namespace: "blue", driver: "docker", want: []string{"a", "b", "c", "d"}},
		"a namespace that is named by some hosts": {namespace: "red", driver: "docker", want: []string{"a", "c"}},
		"a namespace that none names":             {namespace: "green", driver: "docker", want: []string{"c"}},
		"a host that is for all":                  {namespace: "green", driver: "docker", wanted: "c", want: []string{"c"}},
		"a host that is for others": {
			namespace: "red", driver: "docker", wanted: "b", refusal: `not allowed: namespace "red" can use host "a", "c"`,
		},
		"no host with the driver": {
			namespace: "red", driver: "libvirt", refusal: `not allowed: namespace "red" can use no host with driver libvirt`,
		},
		"a host that does not exist is left to Choose": {namespace: "red", driver: "docker", wanted: "x", want: []string{"a", "c"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			permitted, err := Permit(hosts, tc.namespace, tc.driver, tc.wanted)
			var got []string
			for _, host := range permitted {
				got = append(got, host.Name)
			}
			refusal := ""
			if err != nil {
				refusal = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || refusal != tc.refusal {
				t.Errorf("the refusal is %q, want %q; hosts (-want +got):\n%s", refusal, tc.refusal, diff)
			}
		})
	}
}
