// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestAClockCanBeWrong builds a program that prints the time.
func TestAClockCanBeWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := "package main\n\nimport \"time\"\n\nfunc main() { println(time.Now().Unix()) }\n"
	program := filepath.Join(dir, "main.go")
	if err := os.WriteFile(program, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := buildSkewed(t.Context(), dir, dir, program)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []time.Duration{0, time.Hour, -time.Hour} {
		before := time.Now()
		command := exec.CommandContext(t.Context(), path)
		command.Env = append(os.Environ(), fmt.Sprintf("%s=%d", skewVariable, int(wrong.Seconds())))
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		said, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if first, last := before.Add(wrong).Unix(), time.Now().Add(wrong).Unix(); said < first || said > last {
			t.Errorf("with a clock that is wrong by %s it was %d, want %d to %d", wrong, said, first, last)
		}
	}
}
