// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// decoded returns a body without its content coding.
func decoded(t *testing.T, coding string, body []byte) []byte {
	t.Helper()
	if len(body) == 0 { // 304, or HEAD
		return body
	}
	var from io.Reader = bytes.NewReader(body)
	var err error
	switch coding {
	case "":
		return body
	case "gzip":
		from, err = gzip.NewReader(from)
	case "zstd":
		from, err = zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20)) // as browsers limit it
	default:
		t.Fatalf("an answer is in the coding %q", coding)
	}
	must(t, err)
	out, err := io.ReadAll(from)
	must(t, err)
	return out
}

// TestAnswersThatTheCallerHas are 304 without a body until their content changes.
func TestAnswersThatTheCallerHas(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	admin, guest := r.user(t, "", everything()), r.user(t, ns, rule("get,list", "", "services"))
	web := r.service(t, ns, "web")
	r.service(t, r.Namespace(t), "hidden")
	testkit.Eventually(t, "the cache has the service", func() bool {
		return r.do(t, http.MethodGet, "/v1/services/"+ns+"/web", guest, "").status == http.StatusOK
	})
	tags := map[string]string{}
	paths := []string{
		"/v1/services?ns=" + ns, "/v1/services/" + ns + "/web", "/v1/services/" + ns + "/web/yaml", "/v1/tables/services?ns=" + ns,
		"/v1/summary?ns=" + ns, "/v1/services/" + ns + "/web?managedFields=true",
	}
	for _, path := range paths {
		testkit.Eventually(t, path+" is not changed while nothing changes", func() bool {
			first := r.do(t, http.MethodGet, path, guest, "")
			tags[path] = first.header.Get("ETag")
			if first.status != http.StatusOK || tags[path] == "" || first.header.Get("Vary") != "Accept-Encoding, Authorization, Cookie" {
				t.Fatalf("%s: status %d with %v", path, first.status, first.header)
			}
			again := r.do(t, http.MethodGet, path, guest, "", "If-None-Match", `"other", W/`+tags[path])
			return again.status == http.StatusNotModified && len(again.body) == 0 && again.header.Get("ETag") == tags[path]
		})
	}
	web.Labels = map[string]string{"changed": "true"}
	must(t, r.Live.Update(t.Context(), web))
	for _, path := range paths[:4] { // the summary is still the same
		testkit.Eventually(t, path+" has changed", func() bool {
			return r.do(t, http.MethodGet, path, guest, "", "If-None-Match", tags[path]).status == http.StatusOK
		})
	}
	all, some := r.do(t, http.MethodGet, "/v1/services", admin, ""), r.do(t, http.MethodGet, "/v1/services", guest, "")
	if got := r.do(t, http.MethodGet, "/v1/services", guest, "", "If-None-Match", all.header.Get("ETag")); got.status != http.StatusOK {
		t.Errorf("the tag of a caller with another scope: status %d", got.status)
	}
	if all.header.Get("ETag") == some.header.Get("ETag") {
		t.Error("callers with different scopes get one tag")
	}
}

// TestAttackTagsTellOfWhatIsForbidden guesses tags of what the caller may not read.
func TestAttackTagsTellOfWhatIsForbidden(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	admin, stranger := r.user(t, "", everything()), r.user(t, r.Namespace(t), rule("get,list", "", "services"))
	r.service(t, ns, "web")
	for _, path := range []string{"/v1/services?ns=" + ns, "/v1/services/" + ns + "/web", "/v1/tables/services?ns=" + ns} {
		got := r.do(t, http.MethodGet, path, admin, "")
		for _, tag := range []string{"*", got.header.Get("ETag")} {
			refused := r.do(t, http.MethodGet, path, stranger, "", "If-None-Match", tag)
			if refused.status != http.StatusForbidden || refused.header.Get("ETag") != "" {
				t.Errorf("%s with the tag %s: status %d with %v", path, tag, refused.status, refused.header)
			}
		}
	}
}

// TestCompression compares answers in all codings with the answer as it is.
func TestCompression(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	admin := r.user(t, "", everything())
	for _, name := range []string{"a", "b", "c", "d"} {
		r.service(t, ns, name)
	}
	path := "/v1/services?ns=" + ns
	testkit.Eventually(t, "the cache has all", func() bool { return len(r.do(t, http.MethodGet, path, admin, "").names(t)) == 4 })
	for _, path := range []string{path, "/v1/tables/services?ns=" + ns} {
		testkit.Eventually(t, "one version is read in all codings", func() bool {
			plain := r.do(t, http.MethodGet, path, admin, "", "Accept-Encoding", "identity")
			seen := map[string]bool{plain.header.Get("ETag"): true}
			for accept, want := range map[string]string{"gzip": "gzip", "gzip, deflate, br, zstd": "zstd", "zstd;q=0, gzip;q=0.5": "gzip"} {
				got := r.do(t, http.MethodGet, path, admin, "", "Accept-Encoding", accept)
				if coding := got.header.Get("Content-Encoding"); coding != want {
					t.Fatalf("%s for %q is in %q, want %q", path, accept, coding, want)
				}
				if !bytes.Equal(plain.body, got.body) {
					return false // a bookmark came in between
				}
				seen[got.header.Get("ETag")] = true
			}
			return len(seen) == 3 // each coding has a tag of its own
		})
	}
	if got := r.do(t, http.MethodHead, path, admin, "", "Accept-Encoding", "gzip"); got.status != http.StatusOK || len(got.body) > 0 {
		t.Errorf("HEAD: status %d with %d bytes", got.status, len(got.body))
	}
}

// TestAttackLengthsOfAnswersTellSecrets looks for compressed answers that have text of an attacker beside a secret (BREACH).
func TestAttackLengthsOfAnswersTellSecrets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	admin := r.user(t, "", everything())
	guess := strings.Repeat("password=", 400)
	r.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "guess"}, Data: map[string]string{"text": guess}})
	service := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"` + ns + `","annotations":{"a":"` + guess + `"}},"spec":{"ports":[{"port":1}]}}`
	type request struct{ method, body string }
	requests := map[string]request{
		"/v1/configmaps?ns=" + ns: {method: http.MethodGet}, "/v1/configmaps/" + ns + "/guess": {method: http.MethodGet},
		"/v1/configmaps/" + ns + "/guess/yaml": {method: http.MethodGet}, "/v1/search?q=" + ns: {method: http.MethodGet},
		"/v1/services/" + ns + "/web?dryRun=All": {http.MethodPut, service}, "/v1/services?dryRun=All&ns=" + ns: {http.MethodPost, service},
		"/v1/services/" + ns + "/web?" + strings.Repeat("guess", 700): {method: http.MethodGet},
		"/v1/rights?ns=" + ns: {method: http.MethodGet}, "/v1/tables/configmaps?ns=" + ns: {method: http.MethodGet},
	}
	got := map[string]string{}
	for path, one := range requests {
		got[path] = r.do(t, one.method, path, admin, one.body, "Accept-Encoding", "gzip, zstd").header.Get("Content-Encoding")
	}
	want := maps.Clone(got)
	for path := range want {
		want[path] = ""
	}
	for _, plural := range []string{"configmaps", "virtualmachines"} {
		if !r.kind(t, plural).Uncompressed {
			t.Errorf("%s are compressed", plural)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("compressed are (-want +got):\n%s", diff)
	}
}
