// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// served returns the labels of the metrics that the tables of docs/guide/monitoring.md list, by the names of their series. Tests of the
// program hold the tables against what it serves.
func served(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "guide", "monitoring.md"))
	if err != nil {
		t.Fatal(err)
	}
	out, quoted := map[string][]string{}, regexp.MustCompile("`([^`]+)`")
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (gauge|counter|histogram) \\| ([^|]*)\\|").FindAllStringSubmatch(string(page), -1) {
		of := []string{"job", "instance", "namespace", "pod"} // which Prometheus adds
		for _, label := range quoted.FindAllStringSubmatch(row[3], -1) {
			of = append(of, label[1])
		}
		if row[2] != "histogram" {
			out[row[1]] = of
			continue
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			out[row[1]+suffix] = append(slices.Clone(of), "le")
		}
	}
	if len(out) < 30 {
		t.Fatalf("the tables list only %d series", len(out))
	}
	return out
}

// checkExpr holds that an expression is one, and that it asks for series and labels that there are.
func checkExpr(t *testing.T, where, text string) {
	t.Helper()
	expr, err := newParser().ParseExpr(text)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	known, selected := served(t), []string{}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		of, isServed := known[selector.Name]
		if !isServed {
			t.Errorf("%s asks for %q, which nothing serves", where, selector.Name)
		}
		for _, matcher := range selector.LabelMatchers {
			if matcher.Name != model.MetricNameLabel && !slices.Contains(of, matcher.Name) {
				t.Errorf("%s asks for the label %s of %s, which has %v", where, matcher.Name, selector.Name, of)
			}
		}
		selected = append(selected, of...)
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if of, ok := node.(*parser.AggregateExpr); ok {
			for _, label := range of.Grouping {
				if !slices.Contains(selected, label) {
					t.Errorf("%s groups by the label %s, which none of its series has", where, label)
				}
			}
		}
		return nil
	})
}

// filled replaces the variables of Grafana as it does for somebody who looks at all.
func filled(expr string) string {
	return strings.NewReplacer("$__rate_interval", "5m", "$job", "windlass-metrics", "$pool", ".*", "$host", ".*").Replace(expr)
}

func TestPanelsAskForWhatIsServed(t *testing.T) {
	t.Parallel()
	for _, page := range pages() {
		titles, queries := map[string]bool{}, 0
		for _, row := range page.rows {
			width := uint32(0)
			for _, panel := range row.panels {
				where := page.title + ": " + panel.title
				if titles[panel.title] {
					t.Errorf("%s is there twice", where)
				}
				titles[panel.title] = true
				if width += panel.width; panel.unit == "" || len(panel.queries) == 0 {
					t.Errorf("%s has no unit, or no query", where)
				}
				for _, query := range panel.queries {
					queries++
					checkExpr(t, where, filled(query.expr))
					for _, label := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(query.legend, -1) {
						if !regexp.MustCompile(`by \([^)]*\b` + label[1] + `\b`).MatchString(query.expr) {
							t.Errorf("%s names its series by %s, and does not group by it", where, label[1])
						}
					}
				}
			}
		}
		if queries < 7 {
			t.Errorf("%s has %d queries", page.title, queries)
		}
		if query := page.variable.query; query != "" {
			parts := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(query)
			if parts == nil {
				t.Errorf("%s asks %q for the values of its variable", page.title, query)
				continue
			}
			checkExpr(t, page.title+": "+page.variable.label, "count by ("+parts[2]+") ("+filled(parts[1])+")")
		}
	}
}

// TestDashboardsAreFresh compares the files with what the code makes, and with what the kustomization has.
func TestDashboardsAreFresh(t *testing.T) {
	t.Parallel()
	want, err := rendered()
	if err != nil {
		t.Fatal(err)
	}
	kustomization, err := os.ReadFile(filepath.Join(generated, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(generated, name))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(string(text), string(got)); diff != "" {
			t.Errorf("%s is stale: run make generate (-want +got):\n%s", name, diff)
		}
		if !strings.Contains(string(kustomization), "files: ["+name+"]") {
			t.Errorf("no ConfigMap of the kustomization has %s", name)
		}
	}
	files, err := filepath.Glob(filepath.Join(generated, "*.json"))
	if err != nil || len(files) != len(want) {
		t.Errorf("there are the files %v (%v), want %d", files, err, len(want))
	}
}
