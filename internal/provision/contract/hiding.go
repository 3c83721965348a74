// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"crypto/ed25519"
	"encoding/pem"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/windlass-operator/windlass/internal/provision"
)

// hiding are promises of what tools and callers do not see.
func hiding() cases {
	return cases{
		"secrets are in no log":                           redacts,
		"a key reaches the tool through an agent only":    keepsKey,
		"the environment is what the tool may have":       keepsEnvironment,
		"the token of the manager is not where tools are": keepsToken,
	}
}

func redacts(t *testing.T, tr *trial) {
	tr.start(t, tr.part(partLeak, "up-1", func(r *provision.Request) { r.Secrets = []string{"the-known-secret"} }))
	run := tr.ended(t, "up-1")
	for _, secret := range []string{"MIIEpAIBAAKCAQEA", "hunter22", "the-known-secret"} {
		if strings.Contains(run.Log, secret) {
			t.Errorf("%s shows:\n%s", secret, run.Log)
		}
	}
}

func keepsKey(t *testing.T, tr *trial) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	wanted := tr.part(partSign, "up-1", func(r *provision.Request) { r.PrivateKey = pem.EncodeToMemory(block) })
	tr.start(t, wanted)
	if run := tr.ended(t, "up-1"); run.Phase != provision.Succeeded {
		t.Fatalf("the run is %+v with %+v: %s", run, run.Failure, run.Log)
	}
	if got := string(tr.left(t, wanted).State[stateName]); got != ssh.KeyAlgoED25519 {
		t.Errorf("the agent has %q", got)
	}
}

// spied returns what the tool finds out about where it runs.
func spied(t *testing.T, tr *trial) string {
	t.Helper()
	wanted := tr.part(partSpy, "up-1", func(r *provision.Request) { r.Tool.Env = []string{"GIVEN=by {name}"} })
	tr.start(t, wanted)
	if run := tr.ended(t, "up-1"); run.Phase != provision.Succeeded {
		t.Fatalf("the run is %+v with %+v: %s", run, run.Failure, run.Log)
	}
	return string(tr.left(t, wanted).State[stateName])
}

func keepsEnvironment(t *testing.T, tr *trial) {
	found := spied(t, tr)
	for _, want := range []string{"GIVEN=by " + tr.place.Name + "\n", "HOME=/", "TMPDIR=/"} {
		if !strings.Contains(found, want) {
			t.Errorf("the tool has no %s:\n%s", want, found)
		}
	}
	for _, hidden := range []string{tr.subject.Hidden, "KUBERNETES_SERVICE_HOST"} {
		if strings.Contains(found, hidden+"=") {
			t.Errorf("the tool has %s:\n%s", hidden, found)
		}
	}
}

func keepsToken(t *testing.T, tr *trial) {
	if found := spied(t, tr); strings.Contains(found, "can read ") {
		t.Errorf("the tool found more than it may:\n%s", found)
	}
}
