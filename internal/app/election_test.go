// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/config"
)

// The lock's short timeout once ended every watch of the manager after five seconds.
func TestLockLeavesTheManagersConnectionAlone(t *testing.T) {
	t.Parallel()
	shared := &rest.Config{Host: "https://127.0.0.1:1", UserAgent: "windlass/v1"}
	before := rest.CopyConfig(shared)
	if _, err := newLock(shared, &config.Config{LeaseLockNamespace: "n", LeaseLockName: "l", HolderIdentity: "i"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.UserAgent, shared.UserAgent); diff != "" {
		t.Errorf("the user agent changed (-want +got):\n%s", diff)
	}
	if shared.Timeout != before.Timeout {
		t.Errorf("the timeout is now %s", shared.Timeout)
	}
}
