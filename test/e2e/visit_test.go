// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
	"github.com/windlass-operator/windlass/test/guide"
)

// TestFirstVisit does what the tour says, twice in a row, and ends in ways that nobody plans. After "make clean", nothing is left.
func TestFirstVisit(t *testing.T) {
	need(t)
	v := newVisitor(t, true)
	before := v.files()

	terminal, screen := v.start(`make run 2>&1 | tee "$HOME/tee.log"`)
	if difference := guide.Match(v.shown("make run"), withoutPorts(screen)); difference != "" {
		t.Errorf("the first screen is not as in the tour: %s", difference)
	}
	if above, _, _ := strings.Cut(screen, "NAMESPACE"); strings.Count(above, "\n") > 10 {
		t.Errorf("more than ten lines come before the table:\n%s", above)
	}
	v.tour(screen)
	// What the console tells an administrator to grant to who may not see a kind.
	v.do(t, "get", "clusterroles", "windlass-nodepool-viewer", "windlass-podset-viewer", "windlass-virtualmachine-viewer", "windlass-podbuggertool-viewer")
	v.download(screen, "sample")
	for target, want := range map[string]string{
		"run":   "already runs it: press Ctrl-C there first",
		"clean": fmt.Sprintf("make clean: process %d runs make run here: stop it first with Ctrl-C", v.script()),
	} {
		if done := v.make(target); done.Code == 0 || !strings.Contains(done.Err, want) {
			t.Errorf("make %s while make run is at work: exit code %d: %s", target, done.Code, done.Err)
		}
	}
	// The reader of the pipe ends. The next line of the log finds that out.
	tee, err := v.find("tee ")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(tee, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	v.do(t, "scale", "podset", "sample", "--replicas=4")
	v.stopped(terminal)

	terminal, screen = v.start("make run")
	v.do(t, "scale", "podset", "sample", "--replicas=3")
	v.do(t, "wait", "podbuggertool", "shell", "--for=jsonpath={.status.matched}=3", "--timeout=5m")
	v.tour(screen)
	if err := syscall.Kill(v.script(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := terminal.End(0, visitPatience); err != nil {
		t.Fatal(err)
	}
	if left := v.processes(); len(left) == 0 {
		t.Error("a script that was killed has ended the operator, so this test no longer shows that make clean does")
	}
	if done := v.make("clean"); done.Code != 0 {
		t.Errorf("make clean: exit code %d: %s", done.Code, done.Err)
	}
	if left := v.processes(); len(left) > 0 {
		t.Errorf("after make clean, these processes run:\n%s", strings.Join(left, "\n"))
	}
	if diff := cmp.Diff(before, v.files()); diff != "" {
		t.Errorf("make clean leaves other files than there were (-want +got):\n%s", diff)
	}
}

// TestVisitWithDocker starts and stops VirtualMachines together with make run, and deletes them with make clean. Containers of others
// stay as they are.
func TestVisitWithDocker(t *testing.T) {
	need(t)
	engine := dockertest.Start(t)
	api, err := engine.Client()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	foreign, err := api.ContainerCreate(t.Context(), client.ContainerCreateOptions{
		Config: &container.Config{Image: dockertest.Image}, Name: "foreign",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.ContainerStart(t.Context(), foreign.ID, client.ContainerStartOptions{}); err != nil {
		t.Fatal(err)
	}
	v := newVisitor(t, false) // only root may use the engine of the test
	v.env = append(v.env, "DOCKER=1", "DOCKER_HOST=unix://"+engine.Socket())

	running := containers(t, api)
	terminal, _ := v.start("make run")
	want := map[string]string{"foreign": "running", "sample": "running", "test-vm": "running"}
	ids := expect(t, api, "make run", want)
	if err := syscall.Kill(-terminal.PID, syscall.SIGINT); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	v.stopped(terminal)
	expect(t, api, "Ctrl-C", map[string]string{"foreign": "running", "sample": "exited", "test-vm": "exited"})

	terminal, _ = v.start("make run")
	if again := expect(t, api, "the second make run", want); !cmp.Equal(ids, again) {
		t.Errorf("other containers run: %v, and before %v", again, ids)
	}
	if err := syscall.Kill(-terminal.PID, syscall.SIGHUP); err != nil { // the terminal is closed
		t.Fatal(err)
	}
	v.stopped(terminal)
	if done := v.make("clean"); done.Code != 0 {
		t.Errorf("make clean: exit code %d: %s", done.Code, done.Err)
	}
	if diff := cmp.Diff(running, containers(t, api)); diff != "" {
		t.Errorf("make clean leaves other containers than there were (-want +got):\n%s", diff)
	}
}

// TestVisitWithoutTheDockerThatWasAskedFor asks for containers where no engine answers. It used to start all the same, complain at the end,
// and refuse to be cleaned up.
func TestVisitWithoutTheDockerThatWasAskedFor(t *testing.T) {
	need(t)
	v := newVisitor(t, true)
	v.env = append(v.env, "DOCKER=1", "DOCKER_HOST=unix:///nonexistent/docker.sock")
	before := v.files()
	refused := v.make("run")
	if refused.Code == 0 || strings.Contains(refused.Out, "Starting Kubernetes") {
		t.Errorf("make run: exit code %d, want a refusal before the cluster starts: %s", refused.Code, refused.Out)
	}
	for _, want := range []string{"unix:///nonexistent/docker.sock", "DOCKER=1 needs a Docker Engine: start it"} {
		if !strings.Contains(refused.Err, want) {
			t.Errorf("make run says the following, want in it %q:\n%s", want, refused.Err)
		}
	}
	if done := v.make("clean"); done.Code != 0 {
		t.Errorf("make clean: exit code %d: %s", done.Code, done.Err)
	}
	if diff := cmp.Diff(before, v.files()); diff != "" {
		t.Errorf("make clean leaves other files than there were (-want +got):\n%s", diff)
	}
}

// expect compares the states of all containers by name, and returns their IDs.
func expect(t *testing.T, api *client.Client, after string, want map[string]string) (ids map[string]string) {
	t.Helper()
	got := map[string]string{}
	ids = map[string]string{}
	for id, c := range containers(t, api) {
		got[c[0]], ids[c[0]] = c[1], id
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("containers after %s (-want +got):\n%s", after, diff)
	}
	return ids
}

// containers returns the name and the state of all containers, by ID.
func containers(t *testing.T, api *client.Client) map[string][2]string {
	t.Helper()
	list, err := api.ContainerList(t.Context(), client.ContainerListOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][2]string{}
	for _, c := range list.Items {
		found[c.ID] = [2]string{strings.TrimPrefix(c.Names[0], "/"), string(c.State)}
	}
	return found
}

// withoutPorts drops the lines that tell of ports which are taken on this machine.
func withoutPorts(screen string) string {
	var kept strings.Builder
	for line := range strings.Lines(screen) {
		if !strings.HasPrefix(line, "Port ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
