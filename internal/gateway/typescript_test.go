// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// workshop is the folder with the program in TypeScript and the tools that read the description of the API.
func workshop() string { return filepath.Join(testkit.Root(), "test", "typescript") }

// TestDescriptionServesClientsInTypeScript lints the description of the API, generates types from it, and runs a program against
// the API that does what the guide does, without any or a cast.
func TestDescriptionServesClientsInTypeScript(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	install(t)
	const description = "../../docs/api/openapi.json"
	for _, arguments := range [][]string{
		{"spectral", "lint", "--ruleset", ".spectral.yaml", "--fail-severity", "hint", description},
		{"redocly", "lint", "--config", "redocly.yaml", "--max-problems", "1000", description},
		{"openapi-typescript", description, "--output", "api.d.ts", "--default-non-nullable", "false"},
		{"tsc", "--project", "."},
	} {
		tool(t, filepath.Join("node_modules", ".bin", arguments[0]), arguments[1:]...)
	}
	program, err := os.ReadFile(filepath.Join(workshop(), "guide.ts"))
	must(t, err)
	if found := regexp.MustCompile(`\bas (?:[^c]|c[^o])|: any\b|<any>|@ts-|[\w)\]]!\.`).Find(withoutComments(program)); found != nil {
		t.Errorf("the program has an any or a cast: %s", found)
	}
	ns := r.Namespace(t)
	tool(t, "node", filepath.Join("dist", "guide.js"), r.base, r.user(t, "", everything()), ns)
}

func withoutComments(program []byte) []byte {
	return regexp.MustCompile(`(?m)//.*$`).ReplaceAll(program, nil)
}

// install fetches the pinned packages, unless they are there.
func install(t *testing.T) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s, which generates types from the description of the API", program)
		}
	}
	locked, err := os.ReadFile(filepath.Join(workshop(), "package-lock.json"))
	must(t, err)
	stamp := filepath.Join(workshop(), "node_modules", ".locked")
	if installed, err := os.ReadFile(stamp); err == nil && bytes.Equal(installed, locked) {
		return
	}
	command := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
	command.Dir = workshop()
	out, err := command.CombinedOutput()
	switch {
	case err == nil:
		must(t, os.WriteFile(stamp, locked, 0o600))
	case bytes.Contains(out, []byte("EUSAGE")) || bytes.Contains(out, []byte("EINTEGRITY")):
		t.Fatalf("package-lock.json does not fit: %s", out)
	default:
		t.Skipf("needs packages from npm, which cannot be fetched: %s", out)
	}
}

// tool runs a program in the workshop, which must not fail.
func tool(t *testing.T, name string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Dir = workshop()
	// Redocly would tell its makers of the run, and ask them for a newer version.
	command.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, out)
	}
}
