// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// scraped is how far apart the scrapes of a picture are.
const scraped = 15 * time.Second

// TestPicture draws the dashboards into $WINDLASS_PICTURES/dashboards.html from the scrapes *.prom of $WINDLASS_SCRAPES, which are in the
// order of their names and 15 seconds apart. It is for people who want to look: Grafana draws nicer, from the same queries.
func TestPicture(t *testing.T) {
	t.Parallel()
	from, into := os.Getenv("WINDLASS_SCRAPES"), os.Getenv("WINDLASS_PICTURES")
	if from == "" || into == "" {
		t.Skip("needs scrapes in $WINDLASS_SCRAPES, and a folder in $WINDLASS_PICTURES")
	}
	series, end := scrapes(t, from)
	engine := newEngine(t)
	var page strings.Builder
	page.WriteString(`<!doctype html><meta charset="utf-8"><style>body{font:13px sans-serif;background:#f4f5f5;margin:16px}
main{display:grid;grid-template-columns:repeat(24,1fr);gap:8px}h1,h2{grid-column:1/-1;margin:8px 0 0}section{background:#fff;border:1px solid #ddd;padding:8px;min-width:0}
h3{margin:0 0 4px;font-size:13px}b{font-size:28px}svg{width:100%;height:150px}small{display:inline-block;margin-right:10px;color:#555}</style><main>`)
	for _, of := range pages() {
		fmt.Fprintf(&page, "<h1>%s</h1>", html.EscapeString(of.title))
		for _, row := range of.rows {
			fmt.Fprintf(&page, "<h2>%s</h2>", html.EscapeString(row.title))
			for _, panel := range row.panels {
				fmt.Fprintf(&page, `<section style="grid-column:span %d"><h3>%s</h3>%s</section>`, panel.width, html.EscapeString(panel.title), panel.draw(t, engine, series, end))
			}
		}
	}
	if err := os.WriteFile(filepath.Join(into, "dashboards.html"), []byte(page.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// scrapes reads scrapes as Prometheus would: as one job on one instance.
func scrapes(t *testing.T, folder string) (of memory, end time.Time) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.prom"))
	if err != nil || len(files) < 2 {
		t.Fatalf("there are the scrapes %v in %s (%v): it takes two", files, folder, err)
	}
	samples, names := map[string][]chunks.Sample{}, map[string]labels.Labels{}
	for i, file := range files {
		end = time.Unix(0, 0).Add(time.Duration(i) * scraped)
		content, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(content)
		_ = content.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			vector, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.TimeFromUnixNano(end.UnixNano())}, family)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range vector {
				builder := labels.NewBuilder(labels.EmptyLabels())
				for name, value := range s.Metric {
					builder.Set(string(name), string(value))
				}
				name := builder.Set("job", "windlass-metrics").Set("instance", "10.0.0.7:8443").Labels()
				names[name.String()] = name
				samples[name.String()] = append(samples[name.String()], sample{at: end.UnixMilli(), value: float64(s.Value)})
			}
		}
	}
	for key, name := range names {
		of = append(of, storage.NewListSeries(name, samples[key]))
	}
	return of, end
}

// draw returns a panel as HTML.
func (p panel) draw(t *testing.T, engine *promql.Engine, of memory, end time.Time) string {
	t.Helper()
	var lines promql.Matrix
	var legends []string
	for _, q := range p.queries {
		query, err := engine.NewRangeQuery(t.Context(), of, nil, filled(q.expr), time.Unix(0, 0), end, scraped)
		if err != nil {
			t.Fatal(err)
		}
		matrix, err := query.Exec(t.Context()).Matrix()
		if err != nil {
			t.Fatalf("%s: %v", q.expr, err)
		}
		for _, line := range matrix {
			lines = append(lines, promql.Series{Metric: line.Metric, Floats: slices.Clone(line.Floats)})
			legends = append(legends, regexp.MustCompile(`\{\{(\w+)\}\}`).ReplaceAllStringFunc(q.legend, func(name string) string {
				return line.Metric.Get(strings.Trim(name, "{}"))
			}))
		}
		query.Close()
	}
	if len(lines) == 0 {
		return "<i>no data</i>"
	}
	if p.figure {
		return fmt.Sprintf("<b>%.4g</b>", lines[0].Floats[len(lines[0].Floats)-1].F)
	}
	return plot(lines, legends, end)
}

// plot draws lines over time.
func plot(lines promql.Matrix, legends []string, end time.Time) string {
	const width, height = 600.0, 140.0
	top := 0.0
	for _, line := range lines {
		for _, point := range line.Floats {
			if !math.IsNaN(point.F) && !math.IsInf(point.F, 0) {
				top = max(top, point.F)
			}
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg viewBox="0 0 %.0f %.0f" preserveAspectRatio="none"><text x="2" y="12" font-size="11">%.3g</text>`, width, height, top)
	var names strings.Builder
	for i, line := range lines {
		color := fmt.Sprintf("hsl(%d,65%%,42%%)", i*67%360)
		var points []string
		for _, point := range line.Floats {
			if math.IsNaN(point.F) {
				continue
			}
			x := float64(point.T) / float64(max(end.UnixMilli(), 1)) * width
			points = append(points, fmt.Sprintf("%.1f,%.1f", x, height-2-point.F/cmp.Or(top, 1)*(height-16)))
		}
		fmt.Fprintf(&out, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`, color, strings.Join(points, " "))
		if i < 12 {
			fmt.Fprintf(&names, `<small style="color:%s">%s</small>`, color, html.EscapeString(legends[i]))
		}
	}
	return out.String() + "</svg>" + names.String()
}
