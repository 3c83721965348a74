// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/windlass-operator/windlass/test/rig"
)

// auditPolicy makes the API server note every write of Windlass, once it has been answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, list, watch]
- level: None # questions about rights and identity are sent as POST and change nothing
  resources: [{group: authentication.k8s.io}, {group: authorization.k8s.io}]
- level: Request
  userGroups: ["system:serviceaccounts:` + rig.Namespace + `"]
- level: None
`

// auditLog is the path of the API server's audit log.
type auditLog string

// written is what is read of a line.
type written struct {
	Verb      string `json:"verb"`
	UserAgent string `json:"userAgent"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	Status struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Request json.RawMessage `json:"requestObject"`
	At      time.Time       `json:"requestReceivedTimestamp"`
}

func (w *written) String() string {
	about := &w.ObjectRef
	return fmt.Sprintf("%s: %s %s/%s %s/%s answered with %d: %s",
		w.UserAgent, w.Verb, about.Resource, about.Subresource, about.Namespace, about.Name, w.Status.Code, w.Request)
}

// mark returns how many lines the log has.
func (a auditLog) mark(t *testing.T) int { t.Helper(); return len(a.lines(t)) }

func (a auditLog) lines(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(string(a))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	must(t, err)
	lines := strings.SplitAfter(string(raw), "\n")
	return lines[:len(lines)-1] // what comes after the last line end is still being written
}

// since returns the writes from a mark on, but for those that keep the leadership.
func (a auditLog) since(t *testing.T, mark int) []written {
	t.Helper()
	var out []written
	for _, line := range a.lines(t)[mark:] {
		var one written
		must(t, json.Unmarshal([]byte(line), &one))
		if one.ObjectRef.Resource != "leases" {
			out = append(out, one)
		}
	}
	return out
}

// quiet is how long nothing may be written, nor be worked on, for a state to be the last.
const quiet = 3 * time.Second

// settled waits until every controller of the manager has worked off its queue, and nothing is written any more.
func (s *stage) settled(t *testing.T, l *leader) {
	t.Helper()
	var since time.Time
	before, passes := -1, -1.0
	eventually(t, func(ctx context.Context) error {
		now, err := l.passes(ctx)
		if writes := len(s.audit.since(t, 0)); err != nil || writes != before || now != passes {
			before, passes, since = writes, now, time.Now()
		}
		if err != nil {
			return err
		}
		if rest := time.Since(since); rest < quiet {
			return fmt.Errorf("quiet for %s only", rest)
		}
		return nil
	})
}

// passes returns how many passes the manager has made, or an error while a controller has not begun, or has something to do.
func (l *leader) passes(ctx context.Context) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.metrics+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return 0, err
	}
	sum := func(family string) (all float64, by map[string]float64) {
		by = map[string]float64{}
		for _, metric := range families[family].GetMetric() {
			value := metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
			all += value
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" {
					by[label.GetValue()] += value
				}
			}
		}
		return all, by
	}
	busy, _ := sum("controller_runtime_active_workers")
	waiting, _ := sum("workqueue_depth")
	passes, each := sum("controller_runtime_reconcile_total")
	for _, name := range controllers {
		if each[name] == 0 {
			return 0, fmt.Errorf("controller %q has not begun: %v", name, each)
		}
	}
	if busy+waiting > 0 {
		return 0, fmt.Errorf("%v passes run and %v wait", busy, waiting)
	}
	return passes, nil
}
