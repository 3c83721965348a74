// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/test/rig"
)

// metricsRoles are what config/monitoring adds to the rights of config/rbac.
var metricsRoles = filepath.Join(root, "config", "rbac", "metrics", "roles.yaml")

// TestMetricsAreForThoseWhoMayReadThem serves the metrics as config/monitoring does: with the rights that it adds and no other.
func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	c := need(t)
	c.do(t, "apply", "--server-side", "-f", metricsRoles)
	t.Cleanup(func() { c.Run(context.WithoutCancel(t.Context()), c.Kubectl, "delete", "-f", metricsRoles) })
	const reader = "metrics-reader-of-the-test"
	c.do(t, "create", "clusterrolebinding", reader, "--clusterrole=windlass-metrics-reader", "--serviceaccount="+namespace+":"+rig.ServiceAccount)
	t.Cleanup(func() { c.Run(context.WithoutCancel(t.Context()), c.Kubectl, "delete", "clusterrolebinding", reader) })

	dir := t.TempDir()
	pair, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"tls.crt": pair, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pair)
	browser := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	t.Cleanup(browser.CloseIdleConnections)

	address := freeAddress(t)
	m := c.startManager(t, "--metrics-secure", "--metrics-cert-dir", dir, "--metrics-bind-address", address).ready()
	c.verbosityIsForThoseWhoMayChangeIt(t, m, browser, "https://"+address)
	for account, want := range map[string]int{
		"windlass-gateway": http.StatusForbidden, // somebody whom the API server knows
		rig.ServiceAccount: http.StatusOK,        // bound to windlass-metrics-reader above
		"":                 http.StatusUnauthorized,
	} {
		token := ""
		if account != "" {
			token = strings.TrimSpace(c.do(t, "create", "token", account, "-n", namespace))
		}
		eventually(t, fmt.Sprintf("the metrics answer %q with %d", account, want), func(ctx context.Context) error {
			got, _, err := getMetrics(ctx, browser, "https://"+address, token)
			if err == nil && got != want {
				err = fmt.Errorf("status %d", got)
			}
			return err
		})
	}
}

// TestConditionsAreMetrics compares the metrics of conditions with the conditions, all metrics with their table, and has traces sent.
func TestConditionsAreMetrics(t *testing.T) {
	c := need(t)
	address := freeAddress(t)
	traces, collects := receiveTraces(t)
	// An engine that nobody has configured, and that does not answer, is not among the hosts that are measured.
	c.startManager(t, "--vm-driver=simulated", "--metrics-bind-address", address, "--otlp-endpoint", collects).ready()
	c.apply(t, pool("measured", "1"))
	read := func(ctx context.Context) (map[string]*dto.MetricFamily, error) {
		status, body, err := getMetrics(ctx, http.DefaultClient, "http://"+address, "")
		if err != nil || status != http.StatusOK {
			return nil, errors.Join(err, fmt.Errorf("status %d", status))
		}
		parser := expfmt.NewTextParser(model.LegacyValidation)
		return parser.TextToMetricFamilies(strings.NewReader(body))
	}
	eventually(t, "the metrics count the conditions of the pools", func(ctx context.Context) error {
		var pools nodesv1.NodePoolList
		if err := c.Client.List(ctx, &pools); err != nil {
			return err
		}
		want := map[string]float64{}
		for _, pool := range pools.Items {
			for _, of := range pool.Status.Conditions {
				want[fmt.Sprintf("%s NodePool %s %s", of.Type, of.Reason, of.Status)]++
			}
		}
		families, err := read(ctx)
		if err != nil {
			return err
		}
		got := map[string]float64{}
		for _, metric := range families["windlass_resource_conditions"].GetMetric() {
			labels := metric.GetLabel() // in the order of their names: condition, kind, reason, status
			if labels[1].GetValue() == "NodePool" {
				got[fmt.Sprintf("%s %s %s %s", labels[0].GetValue(), labels[1].GetValue(), labels[2].GetValue(), labels[3].GetValue())] = metric.GetGauge().GetValue()
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
			return fmt.Errorf("conditions and metrics differ (-want +got):\n%s", diff)
		}
		return nil
	})

	var families map[string]*dto.MetricFamily
	eventually(t, "all metrics are served", func(ctx context.Context) (err error) {
		families, err = read(ctx)
		if lacking := unserved(families); err == nil && len(lacking) > 0 {
			err = fmt.Errorf("%v are not", lacking)
		}
		return err
	})
	lintMetrics(t, families)
	compareWithTable(t, families)

	const hold = "example.com/hold"
	change := func(edit func(client.Object)) func(context.Context) error {
		return func(ctx context.Context) error {
			held := &nodesv1.NodePool{}
			if err := c.Client.Get(ctx, client.ObjectKey{Name: "measured"}, held); err != nil {
				return err
			}
			edit(held)
			return c.Client.Update(ctx, held)
		}
	}
	eventually(t, "somebody holds the pool", change(func(o client.Object) { controllerutil.AddFinalizer(o, hold) }))
	c.do(t, "delete", "nodepool", "measured", "--wait=false")
	eventually(t, "the metrics tell of the deletion", func(ctx context.Context) error {
		families, err := read(ctx)
		if err != nil {
			return err
		}
		for _, metric := range families["windlass_resource_deleting"].GetMetric() {
			if metric.GetLabel()[0].GetValue() == "NodePool" && metric.GetGauge().GetValue() == 1 {
				return nil
			}
		}
		return fmt.Errorf("they say %v", families["windlass_resource_deleting"])
	})
	eventually(t, "nobody holds the pool", change(func(o client.Object) { controllerutil.RemoveFinalizer(o, hold) }))
	tracesArrive(t, traces)
}

// lintMetrics holds the names and helps of our metrics to Prometheus' own rules.
func lintMetrics(t *testing.T, families map[string]*dto.MetricFamily) {
	t.Helper()
	var ours []*dto.MetricFamily
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if strings.HasPrefix(name, "windlass_") {
			ours = append(ours, families[name])
		}
	}
	problems, err := promlint.NewWithMetricFamilies(ours).Lint()
	if err != nil || len(problems) > 0 || len(ours) == 0 {
		t.Errorf("of %d families, these are not as Prometheus wants them (%v): %+v", len(ours), err, problems)
	}
}

func getMetrics(ctx context.Context, by *http.Client, url, token string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := by.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	return response.StatusCode, string(raw), err
}
