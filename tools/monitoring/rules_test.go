// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
	"sigs.k8s.io/yaml"
)

// alerts reads the shipped rules as Prometheus does, and returns them by name.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "config", "monitoring", "prometheus", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := yaml.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(object.Spec, false, model.UTF8Validation, newParser(), promslog.NewNopLogger())
	for _, err := range errs {
		t.Error(err)
	}
	if groups == nil {
		t.FailNow()
	}
	out := map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			out[rule.Alert] = rule
		}
	}
	return out
}

// firing plays Prometheus: it evaluates the rule once a minute, and returns the summaries of the alerts that fire at the end. An alert
// fires once its expression has had a result, for the same labels, for the rule's time.
func firing(t *testing.T, engine *promql.Engine, rule *rulefmt.Rule, of memory, minutes int) []string {
	t.Helper()
	since := map[string]time.Time{}
	out := []string{}
	for minute := range minutes + 1 {
		now := time.Unix(0, 0).Add(time.Duration(minute) * every)
		still := map[string]time.Time{}
		for _, sample := range ask(t, engine, of, rule.Expr, now) {
			key := sample.Metric.String()
			still[key] = now
			if before, active := since[key]; active {
				still[key] = before
			}
			if minute == minutes && now.Sub(still[key]) >= time.Duration(rule.For) {
				out = append(out, summary(t, rule, sample, now))
			}
		}
		since = still
	}
	slices.Sort(out)
	return out
}

func summary(t *testing.T, rule *rulefmt.Rule, sample promql.Sample, now time.Time) string {
	t.Helper()
	text := "{{$labels := .Labels}}{{$value := .Value}}" + rule.Annotations["summary"]
	data := template.AlertTemplateData(sample.Metric.Map(), nil, "", sample)
	expanded, err := template.NewTemplateExpander(t.Context(), text, rule.Alert, data, model.TimeFromUnixNano(now.UnixNano()), nil, nil, nil).Expand()
	if err != nil {
		t.Fatalf("%s: %v", rule.Alert, err)
	}
	return expanded
}

// story is what series do, and what fires at its end.
type story struct {
	series  string
	minutes int
	want    []string
}

// TestAlertsFireWhenTheyMust plays for every alert a story in which it fires, and such in which it must be silent.
func TestAlertsFireWhenTheyMust(t *testing.T) {
	t.Parallel()
	rules, stories := alerts(t), stories()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(rules)), slices.Sorted(maps.Keys(stories))); diff != "" {
		t.Errorf("alerts and stories (-alerts +stories):\n%s", diff)
	}
	engine := newEngine(t)
	for name, of := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule, fires, silent := rules[name], false, false
			for title, story := range of {
				got := firing(t, engine, &rule, load(t, story.series), story.minutes)
				if diff := cmp.Diff(story.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", title, diff)
				}
				fires, silent = fires || len(story.want) > 0, silent || len(story.want) == 0
			}
			if !fires || !silent {
				t.Error("the stories have it fire, and have it silent, at least once each")
			}
		})
	}
}

// TestRulesAskForWhatIsServed holds the selectors of alerts against the table of docs/guide/monitoring.md, which other tests hold against
// the program.
func TestRulesAskForWhatIsServed(t *testing.T) {
	t.Parallel()
	for name, rule := range alerts(t) {
		checkExpr(t, name, rule.Expr)
		if strings.TrimSpace(rule.Annotations["description"]) == "" || rule.Labels["severity"] == "" {
			t.Errorf("%s has no description or no severity", name)
		}
	}
}
