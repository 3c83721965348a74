// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
)

// TestAttackAnAnswerFillsTheMemory is about the cluster that a kubeconfig leads to: whoever answers there could have the manager read without end.
func TestAttackAnAnswerFillsTheMemory(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 1<<20)
	// send writes that many bytes, and a last one.
	send := func(to io.Writer, length int) {
		for range length >> 20 {
			if _, err := io.WriteString(to, zeros); err != nil {
				return // the client reads no further
			}
		}
		_, _ = io.WriteString(to, "!")
	}
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		refused bool
	}{
		"an answer without end": {func(w http.ResponseWriter, _ *http.Request) { send(w, 1<<40) }, true},
		"an answer of a few bytes that expands to gigabytes": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			send(packed, 1<<40)
			_ = packed.Close()
		}, true},
		"a refusal without end": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			send(w, 1<<40)
		}, true},
		"an answer of a byte more than the limit": {func(w http.ResponseWriter, _ *http.Request) { send(w, maxAnswer) }, true},
		"an answer of a byte":                     {func(w http.ResponseWriter, _ *http.Request) { send(w, 0) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.answer)
			defer server.Close()
			target, err := Target([]byte(`{"clusters": [{"name": "c", "cluster": {"server": "` + server.URL +
				`"}}], "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}], "current-context": "x"}`))
			if err != nil {
				t.Fatal(err)
			}
			client, err := kubernetes.NewForConfig(target)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(t.Context())
			if len(raw) > maxAnswer || (err != nil) != test.refused {
				t.Errorf("%d bytes were read: %v", len(raw), err)
			}
		})
	}
}

// TestAnAnswerIsReadToItsLimit reads answers in pieces of different sizes around the limit.
func TestAnAnswerIsReadToItsLimit(t *testing.T) {
	t.Parallel()
	for limit := range int64(5) {
		for length := range 8 {
			for piece := 1; piece < 8; piece++ {
				given := bytes.Repeat([]byte("a"), length)
				body := &answer{io.NopCloser(bytes.NewReader(given)), limit}
				var got bytes.Buffer
				_, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{body}, make([]byte, piece))
				want := min(length, int(limit))
				if got.Len() != want || (err != nil) != (int64(length) > limit) {
					t.Errorf("of %d bytes within a limit of %d, %d were read in pieces of %d: %v", length, limit, got.Len(), piece, err)
				}
			}
		}
	}
}
