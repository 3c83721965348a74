// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"
)

// chartDir is the chart.
var chartDir = filepath.Join(root, "charts", "windlass")

// namespace is where config/ puts Windlass.
const namespace = "windlass-system"

// asConfig are the values that make the chart's image the one of config/.
const asConfig = `{image: {repository: windlass, tag: dev}}`

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// values merges values, the later ones first.
func values(t *testing.T, texts ...string) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, text := range texts {
		var more map[string]any
		if err := yaml.Unmarshal([]byte(text), &more); err != nil {
			t.Fatal(err)
		}
		out = chartutil.CoalesceTables(more, out)
	}
	return out
}

// render renders the chart as "helm template" does.
func render(t *testing.T, texts ...string) (string, error) {
	t.Helper()
	rendered, err := rendered(t, texts...)
	if err != nil {
		return "", err
	}
	return rendered.Manifest, nil
}

// rendered returns the release that "helm template" prints: its objects, and its hooks.
func rendered(t *testing.T, texts ...string) (*release.Release, error) {
	t.Helper()
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.DryRun, install.ClientOnly, install.Replace = true, true, true
	install.ReleaseName, install.Namespace = "windlass", namespace
	install.KubeVersion = &chartutil.KubeVersion{Version: "v1.37.1", Major: "1", Minor: "37"}
	return install.Run(loadChart(t), values(t, texts...))
}

// objects are objects by their kind and name.
type objects map[string]map[string]any

// decode reads the objects of a manifest.
func decode(t *testing.T, manifest string) objects {
	t.Helper()
	out := objects{}
	for documents := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096); ; {
		object := &unstructured.Unstructured{}
		switch err := documents.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatal(err)
		case len(object.Object) == 0:
			continue
		}
		id := object.GetKind() + " " + object.GetName()
		if out[id] != nil {
			t.Errorf("%s is there twice", id)
		}
		out[id] = object.Object
	}
}

// common drops from objects what only one of the two ways can have: the labels by which Helm's users know a release, the policy of
// keeping, and the Namespace, which "helm install --create-namespace" makes.
func common(t *testing.T, of objects) objects {
	t.Helper()
	for id, content := range of {
		object := unstructured.Unstructured{Object: content}
		labels, annotations := object.GetLabels(), object.GetAnnotations()
		for _, label := range []string{"helm.sh/chart", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version"} {
			delete(labels, label)
		}
		delete(annotations, "helm.sh/resource-policy")
		if object.SetLabels(labels); len(labels) == 0 {
			unstructured.RemoveNestedField(content, "metadata", "labels")
		}
		object.SetAnnotations(annotations)
		if object.GetKind() == "Namespace" {
			delete(of, id)
		}
	}
	return of
}

func built(t *testing.T, from resmap.ResMap, err error) objects {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, err := from.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(text))
}

// allValues switch everything on that config/components can.
const allValues = `{docker: {certsSecret: docker-certs}, vmHosts: {secret: windlass-vm-hosts}, gateway: {enabled: true}, tools: {runner: job},
	metrics: {enabled: true}, tracing: {endpoint: "http://opentelemetry-collector.observability:4317"}, networkPolicy: {enabled: true}}`

// TestTheChartIsConfig compares object by object what the chart and config/ render.
func TestTheChartIsConfig(t *testing.T) {
	t.Parallel()
	all := []string{"docker-certs", "vm-hosts", "gateway", "tools", "monitoring", "tracing", "network-policy"}
	tests := map[string]struct {
		values     string
		components []string
	}{
		"the defaults":         {"{}", nil},
		"certificates":         {`{docker: {certsSecret: docker-certs}}`, []string{"docker-certs"}},
		"hosts":                {`{vmHosts: {secret: windlass-vm-hosts}}`, []string{"vm-hosts"}},
		"the HTTP API":         {`{gateway: {enabled: true}}`, []string{"gateway"}},
		"tools as Jobs":        {`{tools: {runner: job}}`, []string{"tools"}},
		"metrics":              {`{metrics: {enabled: true}}`, []string{"monitoring"}},
		"traces":               {`{tracing: {endpoint: "http://opentelemetry-collector.observability:4317"}}`, []string{"tracing"}},
		"network policies":     {`{networkPolicy: {enabled: true}}`, []string{"network-policy"}},
		"everything":           {allValues, all},
		"two controllers less": {`{controllers: {podset: {enabled: false}, cluster: {enabled: false}}}`, []string{"without-podset", "without-cluster"}},
	}
	for _, name := range controllers() {
		tests["without "+name] = struct {
			values     string
			components []string
		}{`{controllers: {` + name + `: {enabled: false}}}`, []string{"without-" + name}}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manifest, err := render(t, asConfig, test.values)
			if err != nil {
				t.Fatal(err)
			}
			from, err := overlay(test.components)
			want := common(t, built(t, from, err))
			got := common(t, decode(t, manifest))
			for _, id := range slices.Sorted(maps.Keys(want)) {
				if diff := cmp.Diff(want[id], got[id]); diff != "" {
					t.Errorf("%s differs (-config +chart):\n%s", id, diff)
				}
				delete(got, id)
			}
			if len(got) > 0 {
				t.Errorf("the chart has more: %v", slices.Sorted(maps.Keys(got)))
			}
		})
	}
}

// TestToolsFindNoNameWhereTheNodeHasADNSCache: the cache has a link-local address, and all Pods of Windlass have to reach it.
func TestToolsFindNoNameWhereTheNodeHasADNSCache(t *testing.T) {
	t.Parallel()
	from, err := overlay([]string{"network-policy", "tools"})
	policies := built(t, from, err)
	egress := func(name string) any {
		rules, found, err := unstructured.NestedFieldNoCopy(policies["NetworkPolicy "+name], "spec", "egress")
		if err != nil || !found {
			t.Fatalf("NetworkPolicy %s has no egress (%v)", name, err)
		}
		return rules
	}
	for _, name := range []string{"windlass-gateway", "windlass-tools"} {
		if diff := cmp.Diff(egress("windlass"), egress(name)); diff != "" {
			t.Errorf("what %s reaches (-the manager +it):\n%s", name, diff)
		}
	}
}

// TestNamesAreNotFoundWithCilium: it does not count pods among blocks of addresses, and DNS is a pod.
func TestNamesAreNotFoundWithCilium(t *testing.T) {
	t.Parallel()
	from, err := overlay([]string{"network-policy", "tools"})
	policies := built(t, from, err)
	for _, name := range []string{"windlass", "windlass-gateway", "windlass-tools"} {
		rules, _, err := unstructured.NestedSlice(policies["NetworkPolicy "+name], "spec", "egress")
		if err != nil || !slices.ContainsFunc(rules, reachesAllPods) {
			t.Errorf("%s does not reach pods: %v (%v)", name, rules, err)
		}
	}
}

// reachesAllPods reports whether a rule for what goes out names all namespaces, and no ports.
func reachesAllPods(rule any) bool {
	fields, _ := rule.(map[string]any)
	to, _, _ := unstructured.NestedSlice(fields, "to")
	return fields["ports"] == nil && slices.ContainsFunc(to, func(peer any) bool {
		return cmp.Equal(peer, map[string]any{"namespaceSelector": map[string]any{}})
	})
}

// TestMonitoringObjects compares what Prometheus' operator and Grafana's sidecar take.
func TestMonitoringObjects(t *testing.T) {
	t.Parallel()
	for folder, test := range map[string]struct {
		values string
		want   int
	}{
		"prometheus": {`{metrics: {enabled: true, serviceMonitor: {enabled: true}, prometheusRule: {enabled: true}}}`, 2},
		"grafana":    {`{metrics: {enabled: true, dashboards: {enabled: true}}}`, 4},
	} {
		with, err := render(t, test.values)
		if err != nil {
			t.Fatal(err)
		}
		from, err := build(filepath.Join(root, "config", "monitoring", folder))
		want := common(t, built(t, from, err))
		got := common(t, decode(t, with))
		for id := range got {
			if want[id] == nil {
				delete(got, id)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) != test.want {
			t.Errorf("config/monitoring/%s and the chart differ, or there are not %d objects (-config +chart):\n%s", folder, test.want, diff)
		}
	}
}

// TestTemplatesAreFresh compares the generated templates with what config/ makes now.
func TestTemplatesAreFresh(t *testing.T) {
	t.Parallel()
	want, err := templates()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err = filepath.WalkDir(generated, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		name, relErr := filepath.Rel(generated, path)
		got[name] = string(raw)
		return errors.Join(err, relErr)
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the templates are stale: run make generate (%v) (-want +got):\n%s", err, diff)
	}
}

func TestTheChartIsLinted(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]string{"the defaults": "{}", "everything": allValues} {
		result := action.NewLint().Run([]string{chartDir}, values(t, given))
		for _, message := range result.Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("%s: %v", name, message)
			}
		}
		if result.TotalChartsLinted != 1 {
			t.Errorf("%s: %d charts were linted", name, result.TotalChartsLinted)
		}
	}
}
