// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestPreviewChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t) // which no other test has
	node := build.Node(name).Label("rack", name).Ready(corev1.ConditionTrue).Obj()
	pod := build.Pod("runs").Namespace(name).Node(name).With(func(of *corev1.Pod) { of.Spec = template().Spec; of.Spec.NodeName = name }).Obj()
	s.Create(t, node, pod)
	manifest := `{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: ` + name + `}, spec: {
		nodeSelector: {matchLabels: {rack: ` + name + `}}, labels: {disk: ssd}, taints: [{key: gpu, value: "1", effect: NoExecute}]}}`
	got := run(t, options{in: manifest}, "--kubeconfig", s.kubeconfig, "preview", "-f", "-")
	want := `Creating nodepool/NAME: 1 members, 1 nodes change (1 join, 0 leave).

node/NAME joins the pool
`
	if got.code != exitFine || !strings.HasPrefix(strings.ReplaceAll(got.out, name, "NAME"), want) {
		t.Errorf("%d %s\n%s", got.code, got.err, cmp.Diff(want, got.out))
	}
	has(t, got.out, "\n+ label disk = ssd\n", "\n+ taint gpu:NoExecute = ", "1 pods would be deleted", "- pod/runs -n "+name)
	if s.Get(t, build.Pool(name).Obj()) {
		t.Error("the preview created the pool")
	}
	again := run(t, options{in: "---\n# Source: pools/empty.yaml\n---\n" + manifest + "\n---\n"}, "--kubeconfig", s.kubeconfig, "preview", "-f", "-")
	if diff := cmp.Diff(got, again, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("with empty documents around the pool: %s", diff)
	}
	// The file of a pool that exists: the present one is compared with it.
	s.Create(t, build.Pool(name).Selects("rack", name).Label("disk", "ssd").Obj())
	file := filepath.Join(t.TempDir(), "pool.yaml")
	must(t, os.WriteFile(file, []byte(manifest), 0o600))
	has(t, s.run(t, "preview", "-f", file).out, "Changing nodepool/"+name)
	has(t, s.run(t, "preview", "-f", file, "-o", "json").out, `"membership": "Joins"`)
	pool := &nodesv1.NodePool{}
	must(t, s.Live.Get(t.Context(), client.ObjectKey{Name: name}, pool))
	if len(pool.Spec.Taints) > 0 {
		t.Error("the preview changed the pool")
	}

	for what, refused := range map[string]struct {
		in, err string
		code    int
	}{
		"another kind":    {in: "{apiVersion: v1, kind: Pod, metadata: {name: a}}", err: "must have one NodePool of nodes.lailin.xyz/v1", code: exitMisused},
		"two pools":       {in: manifest + "\n---\n" + manifest, err: "must have one NodePool of nodes.lailin.xyz/v1", code: exitMisused},
		"nothing":         {in: "---\n# a comment\n", err: "must have one NodePool of nodes.lailin.xyz/v1", code: exitMisused},
		"a list":          {in: "[]", err: "cannot read the manifest", code: exitPrevented},
		"no YAML":         {in: "{", err: "cannot read the manifest", code: exitPrevented},
		"a wrong field":   {in: strings.Replace(manifest, "labels:", "label:", 1), err: `unknown field "spec.label"`, code: exitPrevented},
		"far too large":   {in: strings.Repeat("#", maxManifest+1), err: "larger than 1 MiB", code: exitPrevented},
		"nested too deep": {in: strings.Repeat("[", 200), err: "cannot read the manifest", code: exitPrevented},
	} {
		got := run(t, options{in: refused.in}, "--kubeconfig", s.kubeconfig, "preview", "-f", "-")
		if got.code != refused.code || !strings.Contains(got.err, refused.err) {
			t.Errorf("%s: %+v", what, got)
		}
	}
	limited := append(s.limited(t, name, "get pods"), "preview", "-f", file)
	has(t, s.run(t, limited...).err, "a preview reads all NodePools and nodes: you may not list nodepools")
}

func TestWhyOfAPod(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	missing := "nothing-" + namespace
	s.Create(t, build.Pod("waits").Namespace(namespace).Label(nodesv1.PoolLabel, missing).With(func(of *corev1.Pod) { of.Spec = template().Spec }).Obj())
	got := s.run(t, "why", "pod/waits", "-n", namespace)
	if got.code != exitFine {
		t.Fatalf("%+v", got)
	}
	has(t, got.out, "Pool "+missing+" does not exist.\n", "  x The pool exists and stays\n", "\nNext: ")
	limited := append(s.limited(t, namespace, "get pods"), "why", "pod/waits")
	has(t, s.run(t, limited...).out, "  ? The pool exists and stays\n", "  x The scheduler has found a node\n")
	has(t, s.run(t, append(limited, "-v")...).out, "You may not list nodepools.")
}
