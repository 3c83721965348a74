// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Sessions of browsers are in the memory of one Pod. With the HTTP API in the manager, the Service sent their next connection to the other one, and they
// were asked for the token again.
func TestABrowserLosesItsSessionBetweenThePods(t *testing.T) {
	t.Parallel()
	specs := map[string]any{}
	for _, folder := range []string{"gateway", "gateway-in-manager"} {
		from, err := build(filepath.Join(root, "config", folder))
		spec, ok := built(t, from, err)["Service windlass-gateway"]["spec"].(map[string]any)
		if !ok || spec["sessionAffinity"] != "ClientIP" {
			t.Errorf("config/%s: the Service is %v, want one that keeps each client at one Pod", folder, spec)
		}
		delete(spec, "selector")
		specs[folder] = spec
	}
	if diff := cmp.Diff(specs["gateway"], specs["gateway-in-manager"]); diff != "" {
		t.Errorf("the Services differ (-gateway +gateway-in-manager):\n%s", diff)
	}
}
