// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// proxy returns the address of a proxy, which counts the connections that it makes.
func proxy(t *testing.T, made *atomic.Int32) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		to, err := (&net.Dialer{}).DialContext(request.Context(), "tcp", request.Host)
		if err != nil || request.Method != http.MethodConnect {
			http.Error(w, "no", http.StatusBadGateway)
			return
		}
		from, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		made.Add(1)
		_, _ = io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
		_, _ = io.Copy(from, to)
		_ = from.Close()
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestATokenOfAClusterBehindAProxyLeadsNowhere is about proxy-url of the kubeconfig that the tool wrote: that of the token had none.
func TestATokenOfAClusterBehindAProxyLeadsNowhere(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	var connections atomic.Int32
	behind := proxy(t, &connections)
	away := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + "-kubeconfig"}}
	testkit.Edit(t, s.Harness, away, func(secret *corev1.Secret) {
		config, err := clientcmd.Load(secret.Data["value"])
		if err != nil {
			t.Fatal(err)
		}
		config.Clusters["c"].ProxyURL = behind
		if secret.Data["value"], err = clientcmd.Write(*config); err != nil {
			t.Fatal(err)
		}
	})
	config := s.create(token)
	s.holds(config, config.Name+"-kubeconfig")
	issued, err := clientcmd.Load(s.secret(config).Data["value"])
	if err != nil {
		t.Fatal(err)
	}
	if got := issued.Clusters[config.Name].ProxyURL; got != behind || connections.Load() == 0 {
		t.Errorf("the token's kubeconfig leads through %q, want %q, which has made %d connections", got, behind, connections.Load())
	}
}
