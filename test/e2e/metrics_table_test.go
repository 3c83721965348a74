// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

// row is a metric in a table of docs/guide/monitoring.md.
type row struct {
	kind   string
	labels []string
}

// metricsTable reads the tables of docs/guide/monitoring.md.
func metricsTable(t *testing.T) map[string]row {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "guide", "monitoring.md"))
	if err != nil {
		t.Fatal(err)
	}
	out, quoted := map[string]row{}, regexp.MustCompile("`([^`]+)`")
	for _, found := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (gauge|counter|histogram) \\| ([^|]*)\\|").FindAllStringSubmatch(string(page), -1) {
		of := row{kind: found[2]}
		for _, label := range quoted.FindAllStringSubmatch(found[3], -1) {
			of.labels = append(of.labels, label[1])
		}
		out[found[1]] = of
	}
	return out
}

// TestMetricsOfTheCodeAreInTheTable holds that the table has every metric of Windlass, and none that the code does not have.
func TestMetricsOfTheCodeAreInTheTable(t *testing.T) {
	t.Parallel()
	table, code := metricsTable(t), metricNames(t)
	for name := range code {
		if _, known := table[name]; !known {
			t.Errorf("%s is not in the table of docs/guide/monitoring.md", name)
		}
	}
	for name := range table {
		if strings.HasPrefix(name, "windlass_") && !code[name] {
			t.Errorf("%s is in the table of docs/guide/monitoring.md, and not in the code", name)
		}
	}
}

// compareWithTable holds what a manager serves against the table: types, labels, and that what libraries serve is really there.
func compareWithTable(t *testing.T, families map[string]*dto.MetricFamily) {
	t.Helper()
	table := metricsTable(t)
	for name, of := range table {
		family := families[name]
		switch {
		case family == nil && strings.HasPrefix(name, "windlass_"): // a counter without a first event has no series
			continue
		case family == nil:
			t.Errorf("%s is documented, and not served", name)
			continue
		}
		if kind := strings.ToLower(family.GetType().String()); kind != of.kind {
			t.Errorf("%s is served as a %s and documented as a %s", name, kind, of.kind)
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if !slices.Contains(of.labels, label.GetName()) {
					t.Errorf("%s is served with the label %s, which is not documented", name, label.GetName())
				}
			}
			if len(metric.GetLabel()) != len(of.labels) {
				t.Errorf("%s is served with %d labels, and documented with %v", name, len(metric.GetLabel()), of.labels)
			}
		}
	}
	for name := range families {
		if _, known := table[name]; !known && strings.HasPrefix(name, "windlass_") {
			t.Errorf("%s is served, and not documented", name)
		}
	}
}

// unserved returns what a manager serves in any case, once it leads and has a pool, and does not serve yet.
func unserved(families map[string]*dto.MetricFamily) []string {
	return slices.DeleteFunc([]string{
		"windlass_build_info", "windlass_resource_conditions", "windlass_resource_deletion_age_seconds", "windlass_api_writes_total",
		"windlass_nodepool_nodes", "windlass_podset_replicas", "windlass_vm_creation_duration_seconds",
		"windlass_vm_host_up", "windlass_cluster_runs", "windlass_cluster_run_slots", "windlass_cluster_run_duration_seconds",
	}, func(name string) bool { return families[name] != nil })
}
