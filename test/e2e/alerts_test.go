// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// rules is what a PrometheusRule has, as far as it is compared.
type rules struct {
	Spec struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `json:"alert"`
				Expr        string            `json:"expr"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	} `json:"spec"`
}

// TestAlertsHaveRunbooks holds that each alert leads to its section, that each section is about an alert, and that an alert asks for
// metrics that the code serves.
func TestAlertsHaveRunbooks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "guide", "alerts.md"))
	if err != nil {
		t.Fatal(err)
	}
	var sections []string
	for _, match := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(string(page), -1) {
		sections = append(sections, match[1])
	}
	raw, err := os.ReadFile(filepath.Join(root, "config", "monitoring", "prometheus", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var of rules
	if err := yaml.Unmarshal(raw, &of); err != nil {
		t.Fatal(err)
	}
	served := metricNames(t)
	var alerts []string
	for _, group := range of.Spec.Groups {
		for _, rule := range group.Rules {
			alerts = append(alerts, rule.Alert)
			if want := "/docs/guide/alerts.md#" + strings.ToLower(rule.Alert); !strings.HasSuffix(rule.Annotations["runbook_url"], want) {
				t.Errorf("the runbook of %s is %q, want …%s", rule.Alert, rule.Annotations["runbook_url"], want)
			}
			for _, name := range regexp.MustCompile(`windlass_\w+`).FindAllString(rule.Expr, -1) {
				// Of a histogram, the series have other names than the metric.
				if base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, ""); !served[name] && !served[base] {
					t.Errorf("%s asks for %s, which nothing serves", rule.Alert, name)
				}
			}
		}
	}
	if diff := cmp.Diff(alerts, sections); diff != "" || len(alerts) == 0 {
		t.Errorf("alerts and sections of docs/guide/alerts.md (-alerts +sections):\n%s", diff)
	}
}

// metricNames returns the names of metrics in the code.
func metricNames(t *testing.T) map[string]bool {
	t.Helper()
	names, quoted := map[string]bool{}, regexp.MustCompile(`"(windlass_\w+)"`)
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, match := range quoted.FindAllStringSubmatch(string(raw), -1) {
			names[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
