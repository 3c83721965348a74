// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package incluster

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// ofPods are the tests of test/e2e that a manager of any flags passes, and that start none but to have one.
var ofPods = []string{
	"TestNodePoolOfTheArticle", "TestManyPoolsOnANode", "TestNodeIsOpenedLastAndDrainedFirst",
	"TestPodSetOfTheArticle", "TestAutoscalerOnAPodSet", "TestPodSetInAPool",
}

// endToEnd runs tests of test/e2e on the simulated nodes, with the manager that runs as a Pod.
func (s *stage) endToEnd(t *testing.T) {
	t.Helper()
	// Their pods are for simulated nodes: the image of the articles is not on the real one.
	s.do(t, "cordon", node)
	defer s.do(t, "uncordon", node)
	command := exec.CommandContext(t.Context(), "go", "test", "./test/e2e", "-count=1", "-v", "-run", "^("+strings.Join(ofPods, "|")+")$", "-installed", s.Admin)
	command.Dir, command.Env = s.Root, os.Environ()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("they fail: %v\n%s", err, out)
	}
	for _, name := range ofPods {
		if !strings.Contains(string(out), "\n--- PASS: "+name+" ") {
			t.Errorf("%s did not run:\n%s", name, out)
		}
	}
}
