// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// root is the top folder of the repository, seen from this package.
const root = "../.."

func TestFloors(t *testing.T) {
	t.Parallel()
	h := house{
		packages: []string{"app", "cmd", "event", "flow", "node", "pool", "testkit"},
		imports: map[string][]string{
			"cmd": {"app"}, "app": {"node", "pool"}, "node": {"event", "flow"}, "pool": {"event"}, "flow": {"event"}, "testkit": {"event"},
		},
	}
	want := [][]string{{"cmd"}, {"app"}, {"node", "pool"}, {"flow"}, {"event"}}
	if diff := cmp.Diff(want, h.floors("cmd")); diff != "" {
		t.Errorf("floors (-want +got):\n%s", diff)
	}
	drawn := regexp.MustCompile(` +`).ReplaceAllString(h.draw("cmd"), " ")
	lines := []string{
		"cmd -> app", "", "app -> node pool", "", "node -> flow", "pool -> event", "", "flow -> event", "", "event", "",
		"only in tests:", "testkit -> event", "",
	}
	if diff := cmp.Diff(lines, strings.Split(drawn, "\n")); diff != "" {
		t.Errorf("drawing (-want +got):\n%s", diff)
	}
}

// TestArchitectureShowsTheArrows compares the drawing in ARCHITECTURE.md with the imports.
func TestArchitectureShowsTheArrows(t *testing.T) {
	t.Parallel()
	h, err := survey(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _, _ := drawing(string(page))
	if diff := cmp.Diff(strings.Split(shown, "\n"), strings.Split(h.draw(program), "\n")); diff != "" {
		t.Errorf("ARCHITECTURE.md does not show the imports as they are: run \"go run ./test/structure -arrows ARCHITECTURE.md\" "+
			"(-shown +drawn):\n%s", diff)
	}
	for _, name := range h.packages {
		if folder := strings.TrimSuffix(strings.Split(short(name), "/")[0], "/"); !strings.Contains(string(page), folder) {
			t.Errorf("ARCHITECTURE.md does not mention %s", name)
		}
	}
}

// rule is a rule of depguard.
type rule struct {
	Files []string `json:"files"`
	Deny  []struct {
		Pkg string `json:"pkg"`
	} `json:"deny"`
}

// TestRulesHoldTheHouse checks that a rule about imports in .golangci.yml covers every package below internal, that each
// controller has one of its own, and that no rule is about a package that does not exist. The linter checks that the imports obey
// the rules.
func TestRulesHoldTheHouse(t *testing.T) {
	t.Parallel()
	h, err := survey(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]bool{}
	for name, rule := range rules(t) {
		for _, glob := range rule.Files {
			glob, negative := strings.CutPrefix(glob, "!")
			folder, ours := strings.CutPrefix(glob, "${config-path}/")
			if !ours {
				continue
			}
			found := h.in(folder)
			if len(found) == 0 && !strings.HasPrefix(folder, "devcluster/") && !strings.HasPrefix(folder, "release/") {
				t.Errorf("rule %s is about %s, where there is no package", name, folder)
			}
			for _, one := range found {
				held[one] = held[one] || !negative && (folder == one+"/**" || !strings.HasPrefix(one, "internal/controller/"))
			}
		}
		for _, denied := range rule.Deny {
			folder, ours := strings.CutPrefix(denied.Pkg, "github.com/windlass-operator/windlass/")
			if folder = strings.TrimSuffix(folder, "$"); !ours || folder == "" {
				continue
			}
			found := h.in(strings.TrimSuffix(folder, "/") + "/**")
			if len(found) == 0 {
				t.Errorf("rule %s denies %s, which does not exist", name, denied.Pkg)
			}
			for _, one := range found {
				held[one] = held[one] || !strings.HasPrefix(one, "internal/controller/")
			}
		}
	}
	for _, one := range h.packages {
		if strings.HasPrefix(one, "internal/") && !held[one] {
			t.Errorf("no rule of depguard in .golangci.yml is about %s", one)
		}
	}
}

// in returns the packages that a glob is about: those below a folder with "/**", otherwise the one that files are in.
func (h house) in(glob string) []string {
	folder := glob
	if path.Ext(folder) == ".go" {
		folder = path.Dir(folder)
	}
	folder, below := strings.CutSuffix(folder, "/**")
	return slices.DeleteFunc(slices.Clone(h.packages), func(name string) bool {
		return name != folder && (!below || !strings.HasPrefix(name, folder+"/"))
	})
}

// rules returns the rules of depguard.
func rules(t *testing.T) map[string]rule {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]rule `json:"rules"`
				} `json:"depguard"`
			} `json:"settings"`
		} `json:"linters"`
	}
	if err := yaml.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Linters.Settings.Depguard.Rules) == 0 {
		t.Fatal(".golangci.yml has no rules of depguard where this test looks for them")
	}
	return config.Linters.Settings.Depguard.Rules
}
