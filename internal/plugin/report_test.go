// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// unpacked returns the files of a bundle.
func unpacked(t *testing.T, bundled string) map[string]string {
	t.Helper()
	compressed, err := gzip.NewReader(strings.NewReader(bundled))
	must(t, err)
	archive, out := tar.NewReader(compressed), map[string]string{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		must(t, err)
		content, err := io.ReadAll(archive)
		must(t, err)
		out[strings.TrimPrefix(header.Name, "windlass-report/")] = string(content)
	}
}

// canary begins every secret that the test plants.
const canary = "c4n4ryT0ken"

// plant creates an object of each kind with a secret in every free text.
func plant(t *testing.T, s *stage, namespace string) {
	t.Helper()
	annotations := map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"x":"` + canary + `annotation"}`}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "web", Annotations: annotations}
	set := template()
	set.Annotations = map[string]string{"a": canary + "template"}
	set.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: canary + "env"}}
	set.Spec.Containers[0].Command, set.Spec.Containers[0].Args = []string{canary + "command"}, []string{"--token", canary + "arg"}
	podSet := &appsv1alpha1.PodSet{ObjectMeta: meta, Spec: appsv1alpha1.PodSetSpec{Size: 1, Template: set}}
	vm := &cloudnativev1alpha1.VirtualMachine{ObjectMeta: meta, Spec: cloudnativev1alpha1.VirtualMachineSpec{
		Resource: build.Resources("cpu", "1", "memory", "1Gi"), Image: cloudnativev1alpha1.Image{Name: "example.com/a:1"},
		Command: []string{canary + "vmcommand"}, Args: []string{canary + "vmarg"},
		Env: []cloudnativev1alpha1.EnvVar{{Name: "A", Value: canary + "vmenv"}},
	}}
	clusterMeta := metav1.ObjectMeta{Name: namespace, Annotations: annotations}
	cluster := &clusterprovisionerv1alpha1.Cluster{ObjectMeta: clusterMeta, Spec: clusterprovisionerv1alpha1.ClusterSpec{
		Config: &clusterprovisionerv1alpha1.ConfigSource{Inline: "ssh_key: " + canary + "config"},
	}}
	tool := &appsv1alpha1.PodBuggerTool{ObjectMeta: meta, Spec: appsv1alpha1.PodBuggerToolSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, Image: "example.com/a:1", Command: []string{canary + "tool"},
	}}
	node := build.Node(namespace).Annotation("note", canary+"node").Obj()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "secret"}, StringData: map[string]string{"a": canary + "secret"}}
	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "event"}, EventTime: metav1.NowMicro(), ReportingController: "test", ReportingInstance: "test",
		Action: "Test", Reason: "Happened", Type: "Normal", Note: "told password=" + canary + "event to somebody",
		Regarding: corev1.ObjectReference{APIVersion: appsv1alpha1.SchemeGroupVersion.String(), Kind: "PodSet", Namespace: namespace, Name: "web"},
	}
	s.Create(t, podSet, vm, cluster, tool, node, secret, event, build.Pool(namespace).Annotation("note", canary+"pool").Obj())
	testkit.EditStatus(t, s.Harness, podSet, func(of *appsv1alpha1.PodSet) {
		of.Status.ObservedGeneration, of.Status.Nodes = 1, []string{}
		of.Status.Conditions = ready(metav1.ConditionFalse, appsv1alpha1.ReasonPoolNotFound, "It said: authorization: Bearer "+canary+"status, token: "+canary+"other")
	})
}

func TestAttackReportCarriesSecrets(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	plant(t, s, namespace)
	server, err := url.Parse(s.Config.Host)
	must(t, err)
	transport, err := rest.TransportFor(s.Config)
	must(t, err)
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, r.In.URL.Path)
		},
	})
	defer proxy.Close()
	got := run(t, options{}, "--kubeconfig", kubeconfigFor(t, &rest.Config{Host: proxy.URL}, ""), "report", "-f", "-")
	if got.code != exitFine {
		t.Fatalf("%+v", got.err)
	}
	files := unpacked(t, got.out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for line := range strings.Lines(files[name]) {
			if strings.Contains(line, canary) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	has(t, files["objects/podsets.yaml"], "name: web", "reason: PoolNotFound", "example.com/a:1", "- kubectl.kubernetes.io/last-applied-configuration", hiddenText)
	has(t, files["objects/virtualmachines.yaml"], "memory: 1Gi")
	has(t, files["objects/nodepools.yaml"], namespace)
	has(t, files["objects/nodes.yaml"], namespace)
	has(t, files["events.txt"], "podset/web "+namespace+": Normal Happened: told password=[redacted]")
	has(t, files["versions.yaml"], "v1.2.3", "gitVersion")
	has(t, files["status.txt"], "podset/web -n "+namespace+"  PoolNotFound")
	has(t, files["unseen.txt"], "no pod in namespace windlass-system")
	mu.Lock()
	defer mu.Unlock()
	if at := slices.IndexFunc(asked, func(path string) bool { return strings.Contains(path, "/secrets") }); at >= 0 {
		t.Errorf("the report read %s", asked[at])
	}
}

func TestReportOfAUserWithFewRights(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	podSet(t, s, namespace, "web")
	file := filepath.Join(t.TempDir(), "report.tar.gz")
	limited := append(s.limited(t, namespace, "list podsets.apps.jicki.cn"), "report", "-f")
	got := s.run(t, append(limited, file)...)
	if got.code != exitFine || got.out != "Wrote "+file+": read it before you pass it on.\n" {
		t.Fatalf("%+v", got)
	}
	if again := s.run(t, append(limited, file)...); again.code != exitPrevented || !strings.Contains(again.err, "file exists") {
		t.Errorf("over a file that exists: %+v", again)
	}
	files := unpacked(t, s.run(t, append(limited, "-")...).out)
	has(t, files["unseen.txt"], "you may not list nodepools", "the manager's pods: you may not list resource pods")
	has(t, files["objects/podsets.yaml"], "name: web")
}

// TestAReportThatFailedIsInTheWayOfTheNext: it left an empty file, which no call overwrites.
func TestAReportThatFailedIsInTheWayOfTheNext(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	file := filepath.Join(t.TempDir(), "report.tar.gz")
	closed := kubeconfigFor(t, &rest.Config{Host: "http://127.0.0.1:" + testkit.SilentPort(t)}, "")
	got := run(t, options{}, "--kubeconfig", closed, "report", "-f", file)
	if got.code != exitPrevented || got.out != "" || !strings.Contains(got.err, "cannot reach the API server") {
		t.Errorf("nobody answers: %+v", got)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there (%v)", err)
	}
	if got := s.run(t, "report", "-f", file); got.code != exitFine {
		t.Errorf("the next report: %+v", got)
	}
}

// TestAnInterruptedReportIsIncomplete: what was not read any more was named as what the caller may not read, and the report was said to be written.
func TestAnInterruptedReportIsIncomplete(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	ctx, interrupt := context.WithCancel(t.Context())
	var lists atomic.Int32
	far := s.between(t, func(_ http.ResponseWriter, request *http.Request) bool {
		interrupts := strings.HasSuffix(request.URL.Path, "/nodepools") && lists.Add(1) == 2 // after the overview
		if interrupts {
			interrupt()
			<-request.Context().Done()
		}
		return interrupts
	})
	file := filepath.Join(t.TempDir(), "report.tar.gz")
	var out, errs bytes.Buffer
	of := Options{Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, Now: time.Now, Getenv: func(string) string { return "" }}
	code := Execute(ctx, of, []string{"--kubeconfig", far.kubeconfig, "report", "-f", file})
	if code != exitPrevented || out.String() != "" || errs.String() != "windlass: interrupted\n" {
		t.Errorf("it ends with %d, %q and %q", code, out.String(), errs.String())
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there (%v)", err)
	}
}

// TestEveryTextOfASpecIsHiddenUnlessItIsInTheList is about fields that are added later.
func TestEveryTextOfASpecIsHiddenUnlessItIsInTheList(t *testing.T) {
	t.Parallel()
	got := keptSpec("", map[string]any{
		"novelty": "a", "list": []any{"a", map[string]any{"name": "kept", "value": "a"}}, "size": 3.0, "resource": map[string]any{"cpu": "1"},
	}, false)
	want := `map[list:[[redacted] map[name:kept value:[redacted]]] novelty:[redacted] resource:map[cpu:1] size:3]`
	if text := fmt.Sprint(got); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}
