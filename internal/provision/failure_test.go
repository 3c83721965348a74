// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import "testing"

func TestDockerIsBlamedOnlyWhereItIsToBlame(t *testing.T) {
	t.Parallel()
	const tunnel = "Failed to set up SSH tunneling for host [127.0.0.9]: "
	for name, test := range map[string]struct {
		log       string
		reason    string
		retryable bool
	}{
		"a machine that refuses connections":   {tunnel + "Can't retrieve Docker Info: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", ReasonSSHTunnel, true},
		"a machine without a route to it":      {tunnel + "Can't retrieve Docker Info: error during connect: Failed to dial ssh using address [127.0.0.9:22]", ReasonSSHTunnel, true},
		"a machine that refuses the key":       {tunnel + "Can't retrieve Docker Info: error during connect: ssh: unable to authenticate", ReasonSSHAuth, false},
		"a machine with another Docker":        {tunnel + "Unsupported Docker version found [1.0] on host [127.0.0.9]", ReasonUnsupportedDocker, false},
		"a user who may not use Docker":        {tunnel + "Can't retrieve Docker Info: Unable to access the Docker socket (/var/run/docker.sock).", ReasonUnsupportedDocker, false},
		"no Docker here, for a tool like kind": {"ERROR: failed to list clusters: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", ReasonUnsupportedDocker, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Classify(test.log); got.Reason != test.reason || got.Retryable != test.retryable {
				t.Errorf("it is %s, retryable: %t; want %s, %t", got.Reason, got.Retryable, test.reason, test.retryable)
			}
		})
	}
}
