// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// documented returns the labels of the metrics that the tables of docs/guide/monitoring.md list, by name.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "monitoring.md"))
	if err != nil {
		t.Fatal(err)
	}
	out, quoted := map[string][]string{}, regexp.MustCompile("`([^`]+)`")
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (?:gauge|counter|histogram) \\| ([^|]*)\\|").FindAllStringSubmatch(string(page), -1) {
		labels := []string{}
		for _, label := range quoted.FindAllStringSubmatch(row[2], -1) {
			labels = append(labels, label[1])
		}
		if _, twice := out[row[1]]; twice {
			t.Errorf("%s is documented twice", row[1])
		}
		slices.Sort(labels)
		out[row[1]] = labels
	}
	return out
}

// TestMetricsAreDocumented holds the labels of what this process has registered against the tables of docs/guide/monitoring.md. What only
// a leader serves is compared by test/e2e, and so are the types.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	registered, ok := metrics.Registry.(prometheus.Collector)
	if !ok {
		t.Fatalf("%T does not describe its metrics", metrics.Registry)
	}
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		registered.Describe(described)
	}()
	parts := regexp.MustCompile(`fqName: "(windlass_\w+)".*constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)
	want, got := documented(t), map[string][]string{}
	for desc := range described {
		found := parts.FindStringSubmatch(desc.String())
		if found == nil {
			continue // one of a library
		}
		labels := []string{}
		for _, label := range strings.FieldsFunc(found[2]+","+found[3], func(r rune) bool { return r == ',' }) {
			name, _, _ := strings.Cut(label, "=")
			labels = append(labels, name)
		}
		slices.Sort(labels)
		got[found[1]] = labels
	}
	if len(got) < 10 {
		t.Errorf("only %v are registered", slices.Sorted(maps.Keys(got)))
	}
	for name, labels := range got {
		if diff := cmp.Diff(want[name], labels); diff != "" {
			t.Errorf("%s (-documented +registered):\n%s", name, diff)
		}
	}
}
