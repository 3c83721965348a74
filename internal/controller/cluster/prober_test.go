// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// An interval of a nanosecond, from before the schema refused it, made the manager probe without a pause.
func TestAttackProbesWithoutAPause(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ spec, want time.Duration }{
		"none":           {0, 15 * time.Second},
		"a nanosecond":   {1, time.Second},
		"less than none": {-time.Hour, time.Second},
		"a minute":       {time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := clusterprovisionerv1alpha1.Health{Interval: metav1.Duration{Duration: test.spec}}
			if got := interval(spec); got != test.want {
				t.Errorf("the interval is %s, want %s", got, test.want)
			}
		})
	}
}

// TestAClusterIsNotProbedAnyMoreAndStaysHealthy is about a kubeconfig that somebody breaks and mends while the Cluster is paused: its probe had ended, was
// taken for one that goes on, and what it had found last was told for ever.
func TestAClusterIsNotProbedAnyMoreAndStaysHealthy(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	prober := NewProber()
	prober.after = func(time.Duration) <-chan time.Time { return time.After(10 * time.Millisecond) }
	stop := testkit.Background(t, prober.Start)
	defer stop()
	cluster := build.Cluster("one").UID("u").Obj()
	good, err := clientcmd.Write(kubeconfigOf(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	if err := prober.Watch(cluster, good); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "it is probed", func() bool { return asked.Load() > 0 })
	for name, broken := range map[string][]byte{"no kubeconfig": []byte("x"), "an invalid certificate authority": unusable(t)} {
		if err := prober.Watch(cluster, broken); err == nil {
			t.Errorf("%s is not told", name)
		}
	}
	if err := prober.Watch(cluster, good); err != nil {
		t.Fatal(err)
	}
	before := asked.Load()
	testkit.Eventually(t, "it is probed again", func() bool { return asked.Load() > before+4 }) // more than one probe can have been sent already
}

// TestAttackAVersionFitsIntoNoStatus is about whoever answers under the address of a kubeconfig: a version or an address that the schema refuses kept the whole
// status from being written.
func TestAttackAVersionFitsIntoNoStatus(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/version") {
			_, _ = w.Write([]byte(`{"gitVersion": "v1.37.1\u001b` + strings.Repeat("x", 1<<20) + `"}`))
		}
	}))
	defer server.Close()
	prober := NewProber()
	stop := testkit.Background(t, prober.Start)
	defer stop()
	raw, err := clientcmd.Write(kubeconfigOf(&rest.Config{Host: server.URL + "/" + strings.Repeat("x", 600)}))
	if err != nil {
		t.Fatal(err)
	}
	if err := prober.Watch(build.Cluster("one").UID("u").Obj(), raw); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the version is known", func() bool { return prober.healthOf("u").version != "" })
	if found := prober.healthOf("u"); len(found.version) > maxVersion || strings.Contains(found.version, "\x1b") || len(found.endpoint) > maxEndpoint {
		t.Errorf("the version is %q, and the address has %d bytes", found.version, len(found.endpoint))
	}
}

// unusable returns a kubeconfig that nothing can be asked with, although it can be read: its authority is no certificate.
func unusable(t *testing.T) []byte {
	t.Helper()
	raw, err := clientcmd.Write(kubeconfigOf(&rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x")}}))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
