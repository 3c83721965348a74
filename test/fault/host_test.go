// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheToolDoesAsTheVariantSays(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		variant string
		code    int
		files   []string
	}{
		"without a fault it does its work": {files: []string{toolState, toolKubeconfig}},
		"it fails before its work":         {variant: "500", code: exitFailure},
		"it fails after its work":          {variant: "late-504", code: exitFailure, files: []string{toolState, toolKubeconfig}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var struck *fault
			for _, v := range variants() {
				if v.name == tc.variant {
					struck = &fault{Effect: effect{Verb: actionUp, Object: onHost("tool", "clusters", "a"), Nth: 1}, Variant: v}
				}
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, toolTarget), []byte("target"), 0o600); err != nil {
				t.Fatal(err)
			}
			listener, err := net.Listen("unix", filepath.Join(dir, toolSocket)) //nolint:noctx // because it is a file
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = listener.Close() }()
			effects := newInjector(struck, func() {})
			effects.arm()
			go (&toolGate{listener: listener, effects: effects, name: "a"}).serve()
			if code := runTool([]string{actionUp, "--config", filepath.Join(dir, "cluster.yml")}); code != tc.code {
				t.Errorf("the tool ended with code %d, want %d", code, tc.code)
			}
			var made []string
			for _, file := range []string{toolState, toolKubeconfig} {
				if _, err := os.Stat(filepath.Join(dir, file)); !errors.Is(err, os.ErrNotExist) {
					made = append(made, file)
				}
			}
			if diff := cmp.Diff(tc.files, made); diff != "" {
				t.Errorf("the files differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStartsOfMachinesAreNotComparedAfterTheyEnded(t *testing.T) {
	t.Parallel()
	machine := func(starts int64, phase string) state {
		return state{
			"virtualmachines.cloudnative.tw/default/a": map[string]any{
				"metadata": map[string]any{"name": "a"}, "status": map[string]any{"restartCount": starts, "phase": phase},
			},
			onHost("docker", "volumes", ""): 1,
		}
	}
	if diff := cmp.Diff(uninterrupted(machine(0, "Active")), uninterrupted(machine(3, "Active"))); diff != "" {
		t.Errorf("another number of starts is a difference:\n%s", diff)
	}
	if cmp.Equal(uninterrupted(machine(0, "Active")), uninterrupted(machine(0, "Failed"))) {
		t.Error("another phase is no difference")
	}
}

func TestVariantsOfHostsStrikeHostsOnly(t *testing.T) {
	t.Parallel()
	onEngine, onServer := effect{Verb: "create", Object: onHost("docker", "containers", "a")}, effect{Verb: "create", Object: "configmaps/default/a"}
	for _, v := range variants() {
		if v.host == v.appliesTo(onServer) || v.api == v.appliesTo(onEngine) {
			t.Errorf("variant %q applies to writes: %t, to calls of hosts: %t", v.name, v.appliesTo(onServer), v.appliesTo(onEngine))
		}
	}
}
