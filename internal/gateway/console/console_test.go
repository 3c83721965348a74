// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

const script = "console.log(1)\n"

// built is a console with one script, as web/ builds it.
func built(t *testing.T) *Console {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write([]byte(script))
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := open(fstest.MapFS{
		"dist/app/index.html":         {Data: []byte(`<script nonce="NONCE-OF-THE-ANSWER" src="/assets/a-1.js"></script>`)},
		"dist/app/assets/a-1.js.gz":   {Data: packed.Bytes()},
		"dist/app/assets/b-1.html.gz": {Data: packed.Bytes()},
		"dist/app/assets/c-1.js":      {Data: []byte(script)},
		"dist/unbuilt.html":           {Data: []byte("not built")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func get(c *Console, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "http://127.0.0.1:8090/", nil)
	r.URL.Path = path // as it is, also where it is no path that a client would send
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

// TestPageHasANewNonceEachTime reads the policy of the page: only scripts with the nonce of the answer run, nothing comes from another
// origin, and no string becomes markup.
func TestPageHasANewNonceEachTime(t *testing.T) {
	t.Parallel()
	c := built(t)
	seen := map[string]bool{}
	for _, path := range []string{"/", "/nodes", "/nodes/ip-10-0-0-1.example.com", "/podsets/a/b"} {
		w := get(c, path, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		policy := w.Header().Get("Content-Security-Policy")
		match := regexp.MustCompile(`^default-src 'none'; script-src 'nonce-([A-Z2-7]{26})' 'strict-dynamic'; style-src 'self' 'nonce-([A-Z2-7]{26})';`).FindStringSubmatch(policy)
		if w.Code != http.StatusOK || match == nil || match[1] != match[2] {
			t.Fatalf("%s: %d with the policy %q", path, w.Code, policy)
		}
		seen[match[1]] = true
		if body := w.Body.String(); !strings.Contains(body, `nonce="`+match[1]+`"`) || strings.Contains(body, placeholder) {
			t.Errorf("%s: the page does not have the nonce of its policy: %s", path, body)
		}
		for _, word := range []string{"unsafe", "http:", "https:", "*", "data:"} {
			if strings.Contains(policy, word) {
				t.Errorf("%s: the policy has %q: %s", path, word, policy)
			}
		}
		for _, directive := range []string{"connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"} {
			if !strings.Contains(policy, directive) {
				t.Errorf("%s: the policy lacks %q: %s", path, directive, policy)
			}
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: the page is kept: %q", path, got)
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d nonces for 4 answers", len(seen))
	}
}

// TestOnlyBuiltFilesAreServed asks for folders, for paths that lead out of them, for what is not compressed and for types that nobody
// has allowed.
func TestOnlyBuiltFilesAreServed(t *testing.T) {
	t.Parallel()
	c := built(t)
	for _, path := range []string{
		"/assets/", "/assets", "/assets/.", "/assets/..", "/assets/../index.html", "/assets/../../unbuilt.html", "/assets//a-1.js", "/assets/a-1.js/",
		"/assets/a-1.js.gz", "/assets/b-1.html", "/assets/c-1.js", "/assets/A-1.js", "/assets/%2e%2e/index.html", `/assets/..\index.html`, "/assets/a-1.js\x00",
		"/dist/app/index.html", "/index.html", "/favicon.ico", "/etc/passwd",
	} {
		w := get(c, path, "Accept", "*/*")
		if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "console.log") || strings.Contains(w.Body.String(), "<script") {
			t.Errorf("%q: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestFilesAreKeptAndNeverSniffed reads a file compressed and plain.
func TestFilesAreKeptAndNeverSniffed(t *testing.T) {
	t.Parallel()
	c := built(t)
	for encoding, wanted := range map[string]string{"gzip, deflate, br": "gzip", "": "", "gzip;q=0": "", "br": ""} {
		w := get(c, "/assets/a-1.js", "Accept-Encoding", encoding)
		if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != wanted {
			t.Fatalf("%q: %d, encoding %q", encoding, w.Code, w.Header().Get("Content-Encoding"))
		}
		if wanted == "" && w.Body.String() != script {
			t.Errorf("%q: %q", encoding, w.Body)
		}
		for name, value := range map[string]string{
			"Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding",
		} {
			if got := w.Header().Get(name); got != value {
				t.Errorf("%s is %q, not %q", name, got, value)
			}
		}
	}
}

// TestProgramsGetLinks asks for / as a program does, which gets no page.
func TestProgramsGetLinks(t *testing.T) {
	t.Parallel()
	if w := get(built(t), "/", "Accept", "*/*"); w.Code != http.StatusOK || w.Body.String() != links {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// A browser is told that this depends on what it accepts, so that it does not keep one answer for the other.
	if vary := get(built(t), "/").Header().Get("Vary"); vary != "Accept" {
		t.Errorf("the answer varies by %q", vary)
	}
	w := get(built(t), "/nothing", "Accept", "application/json")
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `"code":"NotFound"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestEmbeddedConsole opens what is in this very program, whether web/ was built or not.
func TestEmbeddedConsole(t *testing.T) {
	t.Parallel()
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	w := get(c, "/", "Accept", "text/html")
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), placeholder) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if !c.Built() {
		if !strings.Contains(w.Body.String(), "make build") {
			t.Errorf("the page does not say how to build the console: %s", w.Body)
		}
		return
	}
	for _, path := range regexp.MustCompile(`"(/assets/[^"]+)"`).FindAllStringSubmatch(w.Body.String(), -1) {
		if file := get(c, path[1]); file.Code != http.StatusOK {
			t.Errorf("the page names %s: %d", path[1], file.Code)
		}
	}
}
