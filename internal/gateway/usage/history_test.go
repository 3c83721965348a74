// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"encoding/pem"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/scanner"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
)

// standIn speaks the API of Prometheus: it answers a query for the CPU with 0.5, one for the memory with 1 GiB, at each step.
type standIn struct {
	*httptest.Server

	mu      sync.Mutex
	queries []string
	headers []http.Header
}

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	s := &standIn{}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *standIn) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	number := func(name string) float64 {
		value, err := strconv.ParseFloat(request.FormValue(name), 64)
		if err != nil {
			return math.NaN() // at no time
		}
		return value
	}
	query := request.FormValue("query")
	s.mu.Lock()
	s.queries, s.headers = append(s.queries, query), append(s.headers, request.Header)
	s.mu.Unlock()
	value := "0.5"
	if strings.Contains(query, "memory") {
		value = "1073741824"
	}
	var values []string
	for at, end, step := number("start"), number("end"), number("step"); at <= end && step > 0; at += step {
		values = append(values, fmt.Sprintf("[%.3f,%q]", at, value))
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[%s]}]}}`, strings.Join(values, ","))
}

// asked returns the queries since the last call.
func (s *standIn) asked() ([]string, []http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queries, headers := s.queries, s.headers
	s.queries, s.headers = nil, nil
	return queries, headers
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// history asks a server that has a certificate of its own.
func history(t *testing.T, server *httptest.Server, log *strings.Builder) *History {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	h, err := NewHistory(HistoryOptions{
		URL: server.URL, CAFile: file(t, string(ca)), TokenFile: file(t, "secret\n"),
		Log: funcr.New(func(_, args string) { log.WriteString(args + "\n") }, funcr.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistory(t *testing.T) {
	t.Parallel()
	server := newStandIn(t)
	h := history(t, server.Server, &strings.Builder{})
	in := SpanSince(noon, at(-7), 1)
	in, _ = in.Before(nil)
	want := []Point{
		{Time: at(-2), CPUCores: 0.5, MemoryBytes: 1 << 30, Objects: 1},
		{Time: at(-1), CPUCores: 0.5, MemoryBytes: 1 << 30, Objects: 1},
		{Time: noon, CPUCores: 0.5, MemoryBytes: 1 << 30, Objects: 1},
	}
	for name, c := range map[string]struct {
		read func() ([]Point, error)
		want []string
	}{
		"a machine": {func() ([]Point, error) { return h.OfMachine(t.Context(), "testing", "vm", in) }, []string{
			`max(avg_over_time(windlass_vm_cpu_usage_cores{namespace="testing",name="vm"}[300s]))`,
			`max(avg_over_time(windlass_vm_memory_working_set_bytes{namespace="testing",name="vm"}[300s]))`,
		}},
		"a node": {func() ([]Point, error) { return h.OfNode(t.Context(), "a", in) }, []string{
			`max(rate(container_cpu_usage_seconds_total{id="/",node="a"}[300s]) or rate(container_cpu_usage_seconds_total{id="/",instance="a"}[300s]))`,
			`max(avg_over_time(container_memory_working_set_bytes{id="/",node="a"}[300s]) or avg_over_time(container_memory_working_set_bytes{id="/",instance="a"}[300s]))`,
		}},
	} {
		got, err := c.read()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		queries, headers := server.asked()
		if diff := cmp.Diff(c.want, queries); diff != "" {
			t.Errorf("queries of %s (-want +got):\n%s", name, diff)
		}
		if got := headers[0].Get("Authorization"); got != "Bearer secret" {
			t.Errorf("%s: Authorization is %q", name, got)
		}
	}
}

// TestACallerWhoseTimeIsOverIsNoFailureOfPrometheus has a caller who has waited for others until their own time was over.
func TestACallerWhoseTimeIsOverIsNoFailureOfPrometheus(t *testing.T) {
	t.Parallel()
	server, log := newStandIn(t), &strings.Builder{}
	h := history(t, server.Server, log)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	if points, err := h.OfMachine(ctx, "testing", "vm", SpanSince(noon, at(-7), 1)); err == nil || log.Len() > 0 {
		t.Errorf("there are %d points (%v), and the log says %q", len(points), err, log)
	}
}

// shape returns the tokens of a query, and what its strings say.
func shape(query string) (tokens, texts []string) {
	var s scanner.Scanner
	s.Init(strings.NewReader(query))
	s.Error = func(_ *scanner.Scanner, message string) { tokens = append(tokens, "error: "+message) }
	for token := s.Scan(); token != scanner.EOF; token = s.Scan() {
		if token != scanner.String {
			tokens = append(tokens, s.TokenText())
			continue
		}
		text, err := strconv.Unquote(s.TokenText())
		if err != nil {
			text = err.Error()
		}
		tokens, texts = append(tokens, "string"), append(texts, text)
	}
	return tokens, texts
}

// TestAttackANameChangesTheQuery asks for names that end the string of PromQL they are in. Kubernetes has no such names, but the query
// does not depend on that.
func TestAttackANameChangesTheQuery(t *testing.T) {
	t.Parallel()
	server := newStandIn(t)
	h := history(t, server.Server, &strings.Builder{})
	in := SpanSince(noon, at(-1000), 1)
	ask := func(name string) []string {
		for _, err := range []error{
			func() error { _, err := h.OfMachine(t.Context(), name, name, in); return err }(),
			func() error { _, err := h.OfNode(t.Context(), name, in); return err }(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		queries, _ := server.asked()
		return queries
	}
	good := ask("good")
	for _, name := range []string{`"}) or vector(1) #`, `\`, `\"`, "a\n\"b", "`", `'`, `x",namespace=~".*`, "\u2028\x00", `{{}}`, `$name`} {
		for i, query := range ask(name) {
			want, texts := shape(good[i])
			for j, text := range texts {
				texts[j] = strings.Replace(text, "good", name, 1)
			}
			got, gotTexts := shape(query)
			if diff := cmp.Diff(want, got) + cmp.Diff(texts, gotTexts); diff != "" {
				t.Errorf("the query for %q (-want +got):\n%s", name, diff)
			}
		}
	}
}

// TestAttackAnswersOfPrometheus reads answers that a Prometheus does not give: they fail, are bounded, and are not followed elsewhere.
func TestAttackAnswersOfPrometheus(t *testing.T) {
	t.Parallel()
	elsewhere := newStandIn(t)
	for name, answer := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, strings.Repeat("x", 1<<16), http.StatusInternalServerError)
		},
		"not JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"no values": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"scalar","result":[0,"1"]}}`))
		},
		"two series": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"matrix","result":[{},{}]}}`))
		},
		"too large": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"status":"success",%*s"data":{"resultType":"matrix","result":[]}}`, maxHistory, " ")
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"a hanging up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewTLSServer(answer)
			t.Cleanup(server.Close)
			var log strings.Builder
			h := history(t, server, &log)
			for range 3 {
				if got, err := h.OfNode(t.Context(), "a", SpanSince(noon, at(-1000), 168)); err == nil {
					t.Errorf("points: %v", got)
				}
			}
			if got := log.String(); strings.Count(got, "\n") != 1 || len(got) > 2*maxCause || strings.Contains(got, "secret") {
				t.Errorf("the log has %q, want one short line", got)
			}
		})
	}
	t.Cleanup(func() {
		if queries, _ := elsewhere.asked(); len(queries) != 0 {
			t.Errorf("a redirect was followed with %q", queries)
		}
	})
}

// TestAttackFiguresOfPrometheus reads figures that are no figures.
func TestAttackFiguresOfPrometheus(t *testing.T) {
	t.Parallel()
	for figure, want := range map[string]int{"NaN": 0, "+Inf": 0, "-1": 0, "1e300": 1, "0": 1} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[%d,%q],[1,"1"]]}]}}`, noon.Unix(), figure)
		}))
		t.Cleanup(server.Close)
		got, err := history(t, server, &strings.Builder{}).OfNode(t.Context(), "a", SpanSince(noon, at(-1000), 1))
		if err != nil || len(got) != want {
			t.Errorf("%s becomes %v (%v)", figure, got, err)
		}
		if len(got) > 0 && got[0].MemoryBytes < 0 {
			t.Errorf("%s becomes %+v", figure, got[0])
		}
	}
}

func TestCAWithoutCertificates(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"no certificate": file(t, "text"), "no file": "/absent"} {
		if _, err := NewHistory(HistoryOptions{URL: "https://p", CAFile: path}); err == nil || !strings.Contains(err.Error(), "the CA of Prometheus") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		created, hours int
		points         []int
		step           time.Duration
		kept           []int
		from, to       int
		missing        bool
	}{
		"a week":                     {-100000, 168, nil, 56 * time.Minute, nil, -168 * 60, 0, true},
		"what is remembered":         {-100000, 1, []int{-70, -60, -59, 0}, time.Minute, []int{-60, -59, 0}, 0, 0, false},
		"what is not":                {-100000, 1, []int{-70 * 60, -30, -29}, time.Minute, []int{-30, -29}, -60, -31, true},
		"points of one step":         {-100000, 6, []int{-4, -3, -2, -1, 0}, 2 * time.Minute, []int{-3, -1, 0}, -360, -4, true},
		"one of three minutes":       {-3, 168, nil, time.Minute, nil, 0, 0, false},
		"one of an hour":             {-60, 168, []int{-55, -54}, time.Minute, []int{-55, -54}, 0, 0, false},
		"one of an hour, not at all": {-60, 168, nil, time.Minute, nil, -55, 0, true},
	} {
		var points []Point
		for _, minutes := range c.points {
			points = append(points, Point{Time: at(minutes)})
		}
		span := SpanSince(noon, at(c.created), c.hours)
		points = span.Thin(points)
		var kept []int
		for _, point := range points {
			kept = append(kept, int(point.Time.Sub(noon)/time.Minute))
		}
		before, missing := span.Before(points)
		if diff := cmp.Diff(c.kept, kept); diff != "" || span.Step != c.step || missing != c.missing {
			t.Errorf("%s: step %s, missing %v; kept (-want +got):\n%s", name, span.Step, missing, diff)
		}
		from, to := before.From.Sub(noon), before.To.Sub(noon)
		off := func(got time.Duration, want int) bool { return (got - time.Duration(want)*time.Minute).Abs() >= c.step }
		if missing && (off(from, c.from) || off(to, c.to) || before.To.Sub(before.From)/c.step > Points) {
			t.Errorf("%s: %s to %s is missing", name, from, to)
		}
	}
}
