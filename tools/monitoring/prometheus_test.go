// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// every is how far apart samples are.
const every = time.Minute

func newParser() parser.Parser { return parser.NewParser(parser.Options{}) }

// newEngine returns Prometheus' engine with the options of the server.
func newEngine(t *testing.T) *promql.Engine {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Hour, LookbackDelta: 5 * time.Minute, EnableAtModifier: true, EnableNegativeOffset: true, Parser: newParser(),
	})
	t.Cleanup(func() { _ = engine.Close() })
	return engine
}

// memory keeps series for queries.
type memory []storage.Series

// load reads series in the notation of promtool's tests, one a line, with a sample a minute,
// such as windlass_vm_host_up{host="a"} 1 0x9.
func load(t *testing.T, text string) memory {
	t.Helper()
	var out memory
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, values, err := newParser().ParseSeriesDesc(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var samples []chunks.Sample
		for i, value := range values {
			if !value.Omitted {
				samples = append(samples, sample{at: (time.Duration(i) * every).Milliseconds(), value: value.Value})
			}
		}
		out = append(out, storage.NewListSeries(name, samples))
	}
	return out
}

// Querier implements storage.Queryable.
func (m memory) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		found := &found{}
		for _, series := range m {
			matches := true
			for _, matcher := range matchers {
				matches = matches && matcher.Matches(series.Labels().Get(matcher.Name))
			}
			if matches {
				found.series = append(found.series, series)
			}
		}
		return found
	}}, nil
}

// found is the result of a query.
type found struct {
	series []storage.Series
	next   int
}

func (f *found) Next() bool                      { f.next++; return f.next <= len(f.series) }
func (f *found) At() storage.Series              { return f.series[f.next-1] }
func (*found) Err() error                        { return nil }
func (*found) Warnings() annotations.Annotations { return nil }

// sample is a number at a time.
type sample struct {
	chunks.Sample

	at    int64
	value float64
}

func (s sample) ST() int64                { return 0 }
func (s sample) T() int64                 { return s.at }
func (s sample) F() float64               { return s.value }
func (s sample) Type() chunkenc.ValueType { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample      { return s }

// ask evaluates an expression at a time.
func ask(t *testing.T, engine *promql.Engine, of memory, expr string, at time.Time) promql.Vector {
	t.Helper()
	query, err := engine.NewInstantQuery(t.Context(), of, nil, expr, at)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	defer query.Close()
	vector, err := query.Exec(t.Context()).Vector()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return append(promql.Vector{}, vector...) // which Close takes back
}
