// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// Units of Grafana.
const (
	count   = "short"
	perSec  = "cps"
	seconds = "s"
	bytes   = "bytes"
	cores   = "none"
)

// page is a dashboard.
type page struct {
	uid, title, description string
	// variable is one that viewers choose besides the data source and the job; its values are those of a label of a metric.
	variable variable
	rows     []row
}

type variable struct{ name, label, query string }

// row is a titled row of panels.
type row struct {
	title  string
	panels []panel
}

// panel is a figure, or a graph over time.
type panel struct {
	title, description, unit string
	// figure shows the last value and not a graph.
	figure  bool
	queries []query
	// width of 24 columns.
	width uint32
}

// query is an expression of PromQL and the name of its series.
type query struct{ expr, legend string }

// build returns the dashboard, in the schema that Grafana reads from files.
//
//nolint:staticcheck // because files in the newer schema need a newer Grafana than many clusters run
func (p page) build() (dashboard.Dashboard, error) {
	builder := dashboard.NewDashboardBuilder(p.title).
		Uid(p.uid).Description(p.description).Tags([]string{"windlass"}).
		Refresh("1m").Time("now-6h", "now").Timezone(common.TimeZoneBrowser).Readonly().
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus")).
		WithVariable(choice("job", "Job", "label_values(windlass_build_info, job)"))
	if p.variable.name != "" {
		builder.WithVariable(choice(p.variable.name, p.variable.label, p.variable.query).Multi(true).IncludeAll(true).AllValue(".*"))
	}
	for _, row := range p.rows {
		builder.WithRow(dashboard.NewRowBuilder(row.title))
		for _, panel := range row.panels {
			builder.WithPanel(panel.builder())
		}
	}
	return builder.Build()
}

// choice is a variable whose values Prometheus knows.
func choice(name, label, query string) *dashboard.QueryVariableBuilder {
	return dashboard.NewQueryVariableBuilder(name).Label(label).Datasource(source()).
		Query(dashboard.StringOrMap{String: &query}).Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc)
}

// source is the data source that the viewer has chosen.
func source() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}
}

func (p panel) builder() cog.Builder[dashboard.Panel] {
	const height = 8
	if p.figure {
		figure := stat.NewPanelBuilder().Title(p.title).Description(p.description).Unit(p.unit).Datasource(source()).
			Span(p.width).Height(height / 2).ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
		for i, q := range p.queries {
			figure.WithTarget(q.builder(i).Instant())
		}
		return figure
	}
	graph := timeseries.NewPanelBuilder().Title(p.title).Description(p.description).Unit(p.unit).Datasource(source()).
		Span(p.width).Height(height).Min(0).FillOpacity(10).LineWidth(1).ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).ShowLegend(true)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	for i, q := range p.queries {
		graph.WithTarget(q.builder(i).Range())
	}
	return graph
}

func (q query) builder(number int) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().Expr(q.expr).LegendFormat(q.legend).Datasource(source()).RefId(fmt.Sprintf("%c", 'A'+number))
}

// figure is a panel with one number.
func figure(title, unit, expr string) panel {
	return panel{title: title, unit: unit, figure: true, width: 4, queries: []query{{expr: expr}}}
}

// graph is a panel with lines.
func graph(title, unit string, queries ...query) panel {
	return panel{title: title, unit: unit, width: 12, queries: queries}
}

// about adds what a viewer should know.
func (p panel) about(text string) panel {
	p.description = text
	return p
}

// quantiles are the middle and the slow end of a histogram by a label, empty for none.
func quantiles(histogram, matchers, label string) []query {
	by, legend := "le", ""
	if label != "" {
		by, legend = "le, "+label, "{{"+label+"}} "
	}
	var out []query
	for _, of := range []struct{ quantile, name string }{{"0.5", "p50"}, {"0.95", "p95"}} {
		out = append(out, query{
			fmt.Sprintf("histogram_quantile(%s, sum by (%s) (rate(%s_bucket{%s}[$__rate_interval])))", of.quantile, by, histogram, matchers), legend + of.name,
		})
	}
	return out
}
