// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
	"github.com/windlass-operator/windlass/internal/why"
)

func TestWhyOfANodeAndAPool(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t) // which no other test has
	node := build.Node(name).Label("example.com/rack", "r1").Ready(corev1.ConditionTrue).Cordoned().Obj()
	s.Create(t, node, build.Pool(name).Label("example.com/disk", "ssd").Obj())

	got := s.run(t, "why", "node/"+name)
	want := "Node NAME is cordoned: it accepts no new pods.\n" +
		"  + The node is ready\n" +
		"  + The node is not short of resources\n" +
		"  x The node is not cordoned\n" +
		"  ? The node carries what its pools want\n" +
		"\nNext: Uncordon the node.\n" +
		"\n  kubectl uncordon NAME\n"
	if diff := cmp.Diff(result{out: want}, result{code: got.code, out: strings.ReplaceAll(got.out, name, "NAME"), err: got.err}, cmp.AllowUnexported(result{})); diff != "" {
		t.Error(diff)
	}

	has(t, s.run(t, "why", "no", name, "--pool", name, "-v").out, "Code: NotSelected", "metadata.labels")
	has(t, s.run(t, "why", "node/"+name, "--label", "example.com/rack").out, "label example.com/rack = r1\n", "plugin.test")
	has(t, s.run(t, "why", "node/"+name, "-o", "json").out, `"code": "NodeCordoned"`)
	if got := s.run(t, "why", "nodepool/"+name, "--label", "a"); got.code != exitMisused {
		t.Errorf("--label of a pool: %+v", got)
	}
	if got := s.run(t, "why", "node/"+name, "--label", "a", "--taint", "b"); got.code != exitMisused || !strings.HasPrefix(got.err, "windlass: ask for one of --label,") {
		t.Errorf("--label and --taint: %+v", got)
	}
	for args, want := range map[string]string{
		"why": "an argument is missing: the call is kubectl windlass why KIND/NAME\n", "status a b c": `"c" is an argument too many: the call is kubectl windlass status`,
		"preview":          "give the file with the NodePool with -f",
		"status node/a -A": "-A is for lists",
	} {
		if got := s.run(t, strings.Fields(args)...); got.code != exitMisused || !strings.HasPrefix(got.err, "windlass: "+want) {
			t.Errorf("%s: %+v", args, got)
		}
	}
	if got := s.run(t, "status", "nodes", "-A", "-n", "nothing"); got.code != exitFine {
		t.Errorf("-A: %+v", got)
	}
	if got := s.run(t, "why", "nodepool/nothing-"+name); got.code != exitPrevented || got.err != `windlass: nodepool "nothing-`+name+"\" does not exist\n" {
		t.Errorf("a pool that does not exist: %+v", got)
	}
	has(t, s.run(t, "why", "np/"+name, "-o", "name").out, "nodepool."+nodesv1.GroupName+"/"+name)
	has(t, s.run(t, "why", "np/"+name).out, "Windlass has not reported", "kubectl -n windlass-system get pods")
	for _, command := range []string{"why", "status"} {
		has(t, s.run(t, command, "np/"+name, "--windlass-namespace", "ops").out, "\n  kubectl -n ops get pods\n")
	}
}

func TestWhyWithFewRights(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	got := s.run(t, append(s.limited(t, namespace, "get pods"), "why", "node/"+namespace)...)
	if got.code != exitPrevented || strings.Count(got.err, "\n") != 1 {
		t.Errorf("%+v", got)
	}
	has(t, got.err, "you may not get resource nodes")
}

// TestNextStepsOfAChain: of an object and the one that it waits for, each step for a person is shown, and one that heals by itself only where
// nothing below it explains more.
func TestNextStepsOfAChain(t *testing.T) {
	t.Parallel()
	failed := func(name string, heals bool) *why.Explanation {
		return &why.Explanation{Subject: why.Object{Kind: "Pod", Name: name}, Summary: name, Checks: []why.Check{
			{Title: "It runs", State: why.Failed, Message: name, Next: &why.Step{Text: "Correct " + name + ".", Heals: heals}},
		}}
	}
	fine := &why.Explanation{Subject: why.Object{Kind: "Pod", Name: "fine"}, Summary: "fine", Checks: []why.Check{{Title: "It runs", State: why.Passed}}}
	for name, test := range map[string]struct {
		of, because *why.Explanation
		want        []string
	}{
		"one":                     {failed("a", true), nil, []string{"a"}},
		"both wait for a person":  {failed("a", false), failed("b", false), []string{"a", "b"}},
		"the first heals":         {failed("a", true), failed("b", false), []string{"b"}},
		"the second is explained": {failed("a", true), fine, []string{"a"}},
	} {
		var out strings.Builder
		p := &plugin{Options: Options{Streams: Streams{Out: &out}, Getenv: func(string) string { return "" }}}
		test.of.Because = test.because
		p.printExplanation(test.of, &whyAsked{})
		var got []string
		for line := range strings.Lines(out.String()) {
			if of, ok := strings.CutPrefix(line, "Next: Correct "); ok {
				got = append(got, strings.TrimSuffix(of, ".\n"))
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, out.String())
		}
	}
}
