// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"
)

func TestTheToolDoesAsTheVariantSays(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		variant string
		code    int
		files   []string
	}{
		"without a fault it does its work": {files: []string{toolState, toolKubeconfig, "one" + toolMachines}},
		"it fails before its work":         {variant: "500", code: exitFailure},
		"it fails after its work":          {variant: "late-504", code: exitFailure, files: []string{toolState, toolKubeconfig, "one" + toolMachines}},
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
			for file, text := range map[string]string{toolTarget: "target", toolConfig: "cluster_name: one\n"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			listener, err := net.Listen("unix", filepath.Join(dir, toolSocket)) //nolint:noctx // because it is a file
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = listener.Close() }()
			effects := newInjector(struck, func() {})
			effects.arm()
			go (&toolGate{listener: listener, effects: effects, name: "a"}).serve()
			if code := runTool([]string{actionUp, "--config", filepath.Join(dir, toolConfig)}); code != tc.code {
				t.Errorf("the tool ended with code %d, want %d", code, tc.code)
			}
			var made []string
			for _, file := range []string{toolState, toolKubeconfig, "one" + toolMachines} {
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
				"metadata": map[string]any{"name": "a"},
				"status":   map[string]any{"restartCount": starts, "phase": phase, "server": map[string]any{"exitCode": starts}},
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
	onEngine, onServer := effect{Verb: "start", Object: onHost("docker", "containers", "a")}, effect{Verb: "create", Object: "configmaps/default/a"}
	for _, v := range variants() {
		if v.host == v.appliesTo(onServer) || v.api == v.appliesTo(onEngine) {
			t.Errorf("variant %q applies to writes: %t, to calls of hosts: %t", v.name, v.appliesTo(onServer), v.appliesTo(onEngine))
		}
	}
}

func TestMachinesThatThereAreTwiceAreFound(t *testing.T) {
	t.Parallel()
	made := func(id, uid, replaces string, running bool) container.Summary {
		state := container.StateCreated
		if running {
			state = container.StateRunning
		}
		return container.Summary{ID: id, State: state, Labels: map[string]string{uidLabel: uid, replacesLabel: replaces}}
	}
	cases := map[string]struct {
		all   []container.Summary
		wrong bool
	}{
		"one for each object":                            {all: []container.Summary{made("1", "a", "", true), made("2", "b", "", true)}},
		"one that replaces another and does not run":     {all: []container.Summary{made("1", "a", "", true), made("2", "a", "1", false)}},
		"one that replaces another and runs beside it":   {all: []container.Summary{made("1", "a", "", true), made("2", "a", "1", true)}, wrong: true},
		"one that replaces what is gone, beside a third": {all: []container.Summary{made("2", "a", "1", false), made("3", "a", "1", true)}, wrong: true},
		"two": {all: []container.Summary{made("1", "a", "", true), made("2", "a", "", false)}, wrong: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := twins(tc.all); (got != "") != tc.wrong {
				t.Errorf("it says %q", got)
			}
		})
	}
}

func TestNamesOnHostsAreTheSameInEachRun(t *testing.T) {
	t.Parallel()
	const uid = "983ae683-e829-4f74-b1c2-5c6d3423fce9"
	got := map[string]string{}
	for _, name := range []string{"web", "default-web-983ae683.new", "default-web-983ae683", "windlass-" + uid + "-default"} {
		got[name] = withoutUIDs(name)
	}
	want := map[string]string{
		"web": "web", "default-web-983ae683.new": "default-web-<uid>.new", "default-web-983ae683": "default-web-<uid>",
		"windlass-" + uid + "-default": "windlass-<uid>-default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the names differ (-want +got):\n%s", diff)
	}
}

func TestWhatARenamedContainerLosesHasItsNewName(t *testing.T) {
	t.Parallel()
	const id = "810a316d012a"
	p := &engineProxy{made: map[string]string{id: "default-web-<uid>.new"}, ran: map[string]bool{}, losses: map[string]int{}}
	for _, call := range []struct{ verb, query string }{{"rename", "?name=web"}, {"start", ""}, {"delete", ""}} {
		w := write{r: httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/containers/"+id+"/"+call.verb+call.query, nil), kept: httptest.NewRecorder()}
		p.note(&engineCall{write: w, engine: p, name: p.made[id], verb: call.verb, id: id})
	}
	if diff := cmp.Diff(map[string]int{"web": 1}, p.losses); diff != "" {
		t.Errorf("the losses differ (-want +got):\n%s", diff)
	}
}

func TestLossesOfDeletedMachinesAreNotComparedAfterAnInterruption(t *testing.T) {
	t.Parallel()
	got := uninterrupted(state{
		lossPrefix + "web": 1, lossPrefix + "gone": 1,
		"virtualmachines.cloudnative.tw/default/web": map[string]any{},
	})
	want := state{lossPrefix + "web": 1, "virtualmachines.cloudnative.tw/default/web": map[string]any{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it compares (-want +got):\n%s", diff)
	}
}
