// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/testkit"
)

var update = flag.Bool("update", false, "write the texts of the console anew")

// consoleKinds are those that the console explains, and "" for what kinds share.
func consoleKinds() []string {
	return []string{"", kindCluster, kindDeployment, kindKubeconfig, kindNode, kindPool, kindPod, kindTool, kindPodSet, kindMachine}
}

// TestStepsOfTheConsole compares the next steps that the console shows in its lists, and has in Chinese, with the table of codes.
func TestStepsOfTheConsole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(testkit.Root(), "web", "src", "i18n", "en-steps.ts")
	fresh := consoleSteps(t)
	if *update {
		if err := os.WriteFile(path, []byte(fresh), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(committed), "\n"), strings.Split(fresh, "\n")); diff != "" {
		t.Errorf("%s is stale: write it anew with \"go test ./internal/why -run TestStepsOfTheConsole -update\", and zh-steps.ts with it\n%s", path, diff)
	}
}

func consoleSteps(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("// Written from internal/why with \"go test ./internal/why -run TestStepsOfTheConsole -update\". Do not edit.\n")
	out.WriteString("\n/** What to do about each code: by kind, and under \"\" what kinds share. */\nexport const steps = {\n")
	given := map[string]map[Code]string{}
	all := lifted()
	for _, kind := range consoleKinds() {
		rows := all[kind]
		fmt.Fprintf(&out, "  %s: {\n", property(kind))
		for _, code := range slices.Sorted(maps.Keys(rows)) {
			fmt.Fprintf(&out, "    %s: %s,\n", property(string(code)), quote(t, rows[code].next))
			if after := rows[code].given; after != nil {
				if given[kind] == nil {
					given[kind] = map[Code]string{}
				}
				given[kind][code] = after.next
			}
		}
		out.WriteString("  },\n")
	}
	out.WriteString("} as const;\n\n/** The same where Windlass has given up, if that makes a difference. */\nexport const givenUp = {\n")
	for _, kind := range slices.Sorted(maps.Keys(given)) {
		fmt.Fprintf(&out, "  %s: {\n", property(kind))
		for _, code := range slices.Sorted(maps.Keys(given[kind])) {
			fmt.Fprintf(&out, "    %s: %s,\n", property(string(code)), quote(t, given[kind][code]))
		}
		out.WriteString("  },\n")
	}
	out.WriteString("} as const;\n\n/** What to do about a pause that has an end, and about a cause that is in no table. */\n")
	fmt.Fprintf(&out, "export const others = [%s, %s] as const;\n", quote(t, pauseEnds), quote(t, unknownStep))
	fmt.Fprintf(&out, "\n/** Why a check after a failed one was not made. */\nexport const later = %s;\n", quote(t, laterText))
	out.WriteString("\n/** The codes of the reasons for which containers wait. */\nexport const waiting: Readonly<Record<string, string>> = {\n")
	for _, reason := range slices.Sorted(maps.Keys(waitingCodes())) {
		fmt.Fprintf(&out, "  %s: %s,\n", reason, quote(t, string(waitingCodes()[reason])))
	}
	out.WriteString("};\n")
	return out.String()
}

// lifted returns the table with codes that mean the same for several kinds only once, under "".
func lifted() map[string]map[Code]row {
	all := table()
	texts, kinds := map[Code][]string{}, map[Code]int{}
	for _, kind := range consoleKinds() {
		for code, of := range all[kind] {
			kinds[code]++
			if of.given == nil && !slices.Contains(texts[code], of.next) {
				texts[code] = append(texts[code], of.next)
			}
		}
	}
	for code, count := range kinds {
		if count < 2 || len(texts[code]) != 1 {
			continue
		}
		for _, kind := range consoleKinds() {
			if of, has := all[kind][code]; has {
				delete(all[kind], code)
				all[""][code] = of
			}
		}
	}
	return all
}

// property returns the name of a property as one writes it.
func property(name string) string {
	if name == "" {
		return `""`
	}
	return name
}

// quote returns the text as JavaScript writes it.
func quote(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}
