// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestSkipped(t *testing.T) {
	t.Parallel()
	const (
		tunnel = `Failed to set up SSH tunneling for host [127.0.0.9]: Can't retrieve Docker Info: error during connect: ` +
			`Get "http://%2Fvar%2Frun%2Fdocker.sock/v1.24/info": Failed to dial ssh using address [127.0.0.9:22]: ` +
			`dial tcp 127.0.0.9:22: connect: connection refused`
		removing = "Removing host [127.0.0.9] from node lists"
	)
	for name, test := range map[string]struct {
		log  string
		want []string
	}{
		"a terminal's log tells of one machine twice": {
			"INFO[0000] [dialer] Setup tunnel for host [127.0.0.9]\nWARN[0003] " + tunnel + "\nWARN[0003] " + removing + "\n",
			[]string{"127.0.0.9"},
		},
		"a log with levels quotes the words": {
			`time="2026-01-01T00:00:00Z" level=warning msg="Failed to set up SSH tunneling for host [127.0.0.9]: Can't retrieve Docker Info"` +
				"\n" + `time="2026-01-01T00:00:00Z" level=warning msg="` + removing + `"`, []string{"127.0.0.9"},
		},
		"a terminal with colours": {"\x1b[33mWARN\x1b[0m[0003] " + removing + "\r\n", []string{"127.0.0.9"}},
		"several machines, sorted": {
			"WARN[0003] Removing host [two] from node lists\nWARN[0003] Removing host [::1] from node lists\n" +
				"WARN[0003] Removing host [one.example] from node lists\n", []string{"::1", "one.example", "two"},
		},
		"a tunnel that fails and the run that ends with it": {
			"WARN[0003] " + tunnel + "\nFATA[0003] Cluster must have at least one etcd plane host", []string{"127.0.0.9"},
		},
		"a line that is cut behind the name":          {"Failed to set up SSH tunneling for host [127.0.0.9]", []string{"127.0.0.9"}},
		"a line that is cut within the name":          {"Failed to set up SSH tunneling for host [127.0", nil},
		"a machine that is reached":                   {"INFO[0000] [dialer] Setup tunnel for host [127.0.0.9]\n", nil},
		"a node that leaves because it is not wanted": {"INFO[0009] [hosts] Removing host [127.0.0.9] from the cluster\n", nil},
		"a machine without a name":                    {"Removing host [] from node lists\n", nil},
		"no log":                                      {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, Skipped(test.log), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the machines differ (-want +got):\n%s", diff)
			}
		})
	}
}
