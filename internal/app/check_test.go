// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/config"
)

const notFound = `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","code":404}`

// saying answers everything with the body.
func saying(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// A server that accepts connections and answers nothing was said to lack the CRDs.
func TestCheckSaysThatTheServerIsSilent(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	conf := config.Default(controllerNames()...)
	conf.Kubeconfig, conf.Master = kubeconfig, silent.URL
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := check(ctx, &conf, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("got %v, want that the server cannot be reached", err)
	}
}

// A check created the namespace of the Lease, as a manager does.
func TestACheckCreatesNothing(t *testing.T) {
	t.Parallel()
	answers := forAccount(t)
	answers.HandleFunc("/apis/coordination.k8s.io/", saying(http.StatusNotFound, notFound))
	created := make(chan string, 2)
	answers.HandleFunc("POST /api/v1/namespaces", func(w http.ResponseWriter, r *http.Request) {
		created <- r.URL.Query().Get("dryRun")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, r.Body)
	})
	server := httptest.NewServer(answers)
	t.Cleanup(server.Close)
	conf := config.Default(controllerNames()...)
	conf.LeaseLockNamespace = config.DefaultNamespace
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(coordinationv1.SchemeGroupVersion.WithKind("Lease"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	found, err := checkAccount(t.Context(), speakingJSON(server.URL), mapper, &conf, controllers(), logr.Discard())
	if err != nil || !found.lacksNamespace || len(created) != 1 || <-created != "All" {
		t.Fatalf("%+v, %d creations: %v, want one dry run of a namespace that is missing", found, len(created), err)
	}
	if err := makeNamespace(t.Context(), speakingJSON(server.URL), found, &conf); err != nil || len(created) != 1 || <-created != "" {
		t.Errorf("%v, want that a manager creates the namespace", err)
	}
}

// A manager that had to wait for CRDs ended with a stack trace where another process had taken its address meanwhile.
func TestWaitingForCRDsNeedsAnAddress(t *testing.T) {
	t.Parallel()
	answers := http.NewServeMux()
	answers.HandleFunc("/", saying(http.StatusNotFound, notFound))
	answers.HandleFunc("/apis", saying(http.StatusOK,
		`{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}]}]}`))
	server := httptest.NewServer(answers)
	t.Cleanup(server.Close)
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	finder, err := discovery.NewDiscoveryClientForConfig(speakingJSON(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	wanted := crds{restConfig: speakingJSON(server.URL), finder: finder}
	wanted.needed = append(wanted.needed, nodesv1.SchemeGroupVersion.WithKind("NodePool"))
	_, err = wanted.await(t.Context(), taken.Addr().String(), logr.Discard())
	if err == nil || !strings.Contains(err.Error(), "cannot listen on "+taken.Addr().String()) {
		t.Errorf("got %v, want that the address is taken", err)
	}
}
