// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rkeconfig

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// bomb returns a document of a few hundred bytes that has nine to the power of levels values when it is expanded.
func bomb(levels int) string {
	var text strings.Builder
	text.WriteString("a0: &a0 x\n")
	for level := 1; level <= levels; level++ {
		fmt.Fprintf(&text, "a%d: &a%d [%s]\n", level, level, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", level-1), 9), ", "))
	}
	return text.String()
}

// TestAttackAConfigurationExpandsToGigabytes is about aliases, by which a few hundred bytes took all memory.
//
//nolint:paralleltest // because it measures the memory of the process
func TestAttackAConfigurationExpandsToGigabytes(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Parse([]byte(bomb(7) + "nodes:\n- {address: 10.0.0.1, role: [worker]}\n"))
	runtime.ReadMemStats(&after)
	if want := `line 2: alias "*a0": aliases are not supported, write the value out`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %q", err, want)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("it took %d bytes of memory", took)
	}
}

func TestAConfigurationThatIsTooLarge(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte(strings.Repeat("#", maxConfig+1)))
	if want := "it has 1048577 bytes, more than the limit of 1048576"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %q", err, want)
	}
}

// FuzzParse looks for a configuration that ends the process, or takes far more memory than it has bytes.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"nodes:\n- {address: 10.0.0.1, user: ubuntu, role: [controlplane, worker, etcd]}\n", bomb(3), "nodes: &n [*n]", "---\n---\n", "{[", "? &a : *a",
		"<<: *b", strings.Repeat("[", 200), "nodes:\n- labels: {a: b}\n  taints: [{key: k, value: v, effect: NoSchedule}]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		config, err := Parse(raw)
		if err == nil && len(config.Nodes) == 0 {
			t.Errorf("%q was accepted without nodes", raw)
		}
	})
}
