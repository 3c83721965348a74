// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestShellIsOfferedObjects(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t)
	s.Create(t, build.Pool(name).Obj())
	config := kubeconfigFor(t, s.Config, name)
	offered := func(args ...string) string {
		t.Helper()
		got := run(t, options{}, CompletionArgs(append([]string{"--kubeconfig", config}, args...))...)
		if got.code != exitFine {
			t.Errorf("%v: %+v", args, got)
		}
		return got.out
	}
	has(t, offered(""), "status\t", "why\t", "preview\t")
	has(t, offered("why", ""), "nodepool/\n", "pod/\n")
	has(t, offered("why", "np/"), "np/"+name+"\n")
	has(t, offered("status", "-o", ""), "json\nyaml\nname\nwide\n")
	has(t, offered("status", "--context", ""), "test\n")
	has(t, offered("status", "-n", ""), name+"\n")
	if got := offered("why", "elephant/"); !strings.HasPrefix(got, ":") {
		t.Errorf("an unknown kind is offered %q", got)
	}
	// A cluster that cannot be reached offers nothing, and is no error on the command line of a person who is still typing.
	gone := run(t, options{}, CompletionArgs([]string{"--kubeconfig", missing(t), "why", "np/"})...)
	if gone.code != exitFine || !strings.HasPrefix(gone.out, ":") {
		t.Errorf("without a cluster: %+v", gone)
	}
}
