// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/provision"
)

func TestALogDoesNotDependOnHowTheToolWritesIt(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	text := "INFO[0000] begin\r\npassword: " + secret + "\n\nkey: -----BEGIN KEY-----\nabcdefgh\n-----END KEY-----\n" +
		strings.Repeat("a", maxLine) + "\n" + strings.Repeat("b", maxLine+1) + "\n" + strings.Repeat("c", 3*maxLine) + "\nno end of the line"
	var want string
	for _, size := range []int{len(text), 1, 7, 4096, maxLine, maxLine + 1} {
		path := filepath.Join(t.TempDir(), "log")
		log, err := newLogFile(path, provision.NewRedactor(secret))
		if err != nil {
			t.Fatal(err)
		}
		for chunk := range slices.Chunk([]byte(text), size) {
			if _, err := log.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if dropped, err := log.Close(); err != nil || dropped > 0 {
			t.Fatalf("%d bytes were dropped: %v", dropped, err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := string(raw)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("written %d bytes at a time, it has %d bytes in %d lines, else %d in %d",
				size, len(got), strings.Count(got, "\n"), len(want), strings.Count(want, "\n"))
		}
		if strings.Contains(got, secret) || strings.Contains(got, "abcdefgh") {
			t.Errorf("written %d bytes at a time, it shows a secret", size)
		}
		for line := range strings.Lines(got) {
			if len(line) > maxLine+1 {
				t.Errorf("written %d bytes at a time, it has a line of %d bytes", size, len(line))
			}
		}
	}
}
