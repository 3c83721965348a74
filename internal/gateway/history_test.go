// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/gateway/usage"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// prometheus is a server that speaks its API: every query has one value, at the time it begins with.
type prometheus struct {
	*httptest.Server

	away atomic.Bool

	mu      sync.Mutex
	queries []string
}

func newPrometheus(t *testing.T) *prometheus {
	t.Helper()
	p := &prometheus{}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP implements http.Handler.
func (p *prometheus) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	p.mu.Lock()
	p.queries = append(p.queries, request.FormValue("query"))
	p.mu.Unlock()
	if p.away.Load() {
		http.Error(w, "upstream of "+p.URL, http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", mediaJSON)
	_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[%s,"2"]]}]}}`, request.FormValue("start"))
}

func (p *prometheus) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.queries)
}

// inTwoDays is a clock by which every object is two days old: objects have a past by their name only some minutes after their creation.
func inTwoDays() time.Time { return time.Now().Add(48 * time.Hour) }

func rigWithPrometheus(t *testing.T, p *prometheus) *rig {
	t.Helper()
	return newRig(t, func(o *Options) { o.Now, o.Prometheus = inTwoDays, &usage.HistoryOptions{URL: p.URL} })
}

// history reads the usage of an object.
func (r *rig) history(t *testing.T, path, token string) view.Usage {
	t.Helper()
	return read[view.Usage](t, r.do(t, http.MethodGet, "/v1/usage/"+path, token, ""))
}

// TestUsageOfLongAgo reads the usage of a node and a machine from a Prometheus, from memory, and from both.
func TestUsageOfLongAgo(t *testing.T) {
	t.Parallel()
	p := newPrometheus(t)
	r := rigWithPrometheus(t, p)
	ns := r.Namespace(t)
	r.Create(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	vm := &cloudnativev1alpha1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "vm"}, Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{}},
	}
	r.Create(t, vm)
	admin := r.user(t, "", everything())
	machine, node := "virtualmachines/"+ns+"/vm", "nodes/"+ns
	testkit.Eventually(t, "the gateway has both", func() bool {
		return r.do(t, http.MethodGet, "/v1/usage/"+machine, admin, "").status == http.StatusOK &&
			r.do(t, http.MethodGet, "/v1/usage/"+node, admin, "").status == http.StatusOK
	})
	if asked := p.asked(); len(asked) != 0 {
		t.Errorf("without hours, Prometheus is asked for %q", asked)
	}
	for _, path := range []string{machine, node} {
		got := r.history(t, path+"?hours=24", admin)
		if !got.Measured || got.Incomplete || got.IntervalSeconds != 480 || len(got.Series) != 1 || got.Series[0].CPUCores != 2 {
			t.Errorf("%s: %+v", path, got)
		}
	}
	for _, query := range []string{"?hours=0", "?hours=169", "?hours=many", "?hours=1&hours=2"} {
		if got := r.do(t, http.MethodGet, "/v1/usage/"+machine+query, admin, ""); got.status < 400 || got.status >= 500 {
			t.Errorf("%s: status %d: %s", query, got.status, got.body)
		}
	}
	if got := r.do(t, http.MethodGet, "/v1/usage/nodepools/a?hours=5", admin, ""); got.status != http.StatusUnprocessableEntity {
		t.Errorf("the past of a pool: status %d: %s", got.status, got.body)
	}

	p.away.Store(true)
	got := r.do(t, http.MethodGet, "/v1/usage/"+machine+"?hours=24", admin, "")
	if got.status != http.StatusBadGateway || !strings.Contains(string(got.body), "HistoryUnavailable") || strings.Contains(string(got.body), "127.0.0.1") {
		t.Errorf("without Prometheus: status %d: %s", got.status, got.body)
	}
	vm.Status.Server = &cloudnativev1alpha1.Server{State: "running", Usage: &cloudnativev1alpha1.Usage{
		CPU: 25, Memory: 50, CPUCores: 0.5, MemoryBytes: 1 << 30, SampledAt: new(metav1.NewTime(inTwoDays())),
	}}
	must(t, r.Live.Status().Update(t.Context(), vm))
	testkit.Eventually(t, "the machine has a point", func() bool {
		r.g.usage.Take(t.Context())
		return len(r.history(t, machine, admin).Series) > 0
	})
	if got := r.history(t, machine+"?hours=24", admin); !got.Incomplete || len(got.Series) != 1 || got.Series[0].CPUCores != 0.5 {
		t.Errorf("what is remembered: %+v", got)
	}
	p.away.Store(false)
	var cores []float64
	for _, point := range r.history(t, machine+"?hours=24", admin).Series {
		cores = append(cores, point.CPUCores)
	}
	if diff := cmp.Diff([]float64{2, 0.5}, cores); diff != "" {
		t.Errorf("both (-want +got):\n%s", diff)
	}
}

// TestUsageWithoutPrometheus reads further back than the gateway remembers, where nothing else does.
func TestUsageWithoutPrometheus(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Now = inTwoDays })
	ns := r.Namespace(t)
	r.Create(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	admin := r.user(t, "", everything())
	testkit.Eventually(t, "the gateway has the node", func() bool {
		return r.do(t, http.MethodGet, "/v1/usage/nodes/"+ns, admin, "").status == http.StatusOK
	})
	want := view.Usage{Incomplete: true, IntervalSeconds: 480, Series: []view.UsagePoint{}}
	if diff := cmp.Diff(want, r.history(t, "nodes/"+ns+"?hours=24", admin)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAttackHistoryOfOthers asks for the past of what the caller may not read, and of what does not exist: Prometheus, which would answer
// anybody, is not asked.
func TestAttackHistoryOfOthers(t *testing.T) {
	t.Parallel()
	p := newPrometheus(t)
	r := rigWithPrometheus(t, p)
	mine, theirs := r.Namespace(t), r.Namespace(t)
	r.Create(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: theirs}})
	r.Create(t, &cloudnativev1alpha1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: theirs, Name: "vm"}, Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{}},
	})
	machines := r.user(t, mine, rule("get", "cloudnative.tw", "virtualmachines"))
	for name, c := range map[string]struct {
		token, path string
		want        int
	}{
		"nobody":                             {"", "nodes/" + theirs, 401},
		"the machine of others":              {machines, "virtualmachines/" + theirs + "/vm", 403},
		"a machine that is gone":             {machines, "virtualmachines/" + mine + "/absent", 404},
		"a node, with the right to nodes":    {r.user(t, "", rule("*", "", "nodes")), "nodes/" + theirs, 403},
		"a node that is gone":                {r.user(t, "", readsNodeMetrics()), "nodes/absent", 404},
		"a name with the syntax of a query":  {r.user(t, "", everything()), "nodes/%22%7D%29%20or%20vector%281%29", 404},
		"a name that matches all, in PromQL": {machines, "virtualmachines/" + mine + "/.%2A", 404},
	} {
		if got := r.do(t, http.MethodGet, "/v1/usage/"+c.path+"?hours=24", c.token, ""); got.status != c.want {
			t.Errorf("%s: status %d, want %d: %s", name, got.status, c.want, got.body)
		}
	}
	if asked := p.asked(); len(asked) != 0 {
		t.Errorf("Prometheus was asked for %q", asked)
	}
}
