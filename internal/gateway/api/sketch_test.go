// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

func FuzzReadSketch(f *testing.F) {
	f.Add("application/json", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}}`)
	f.Add("application/yaml; charset=utf-8", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")
	f.Add("text/plain", "a")
	services, _ := feed.NewHub(view.Kinds(), time.Now).Kind(view.ServicesPlural)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		media, err := mediaOf(contentType)
		if err != nil {
			return
		}
		sketch, err := readSketch(services, media, []byte(body))
		if (err == nil) != (sketch != nil) {
			t.Fatalf("error %v with %v", err, sketch)
		}
		if err == nil && (sketch.Kind != "Service" || media != mediaJSON && media != mediaYAML) {
			t.Errorf("%q is read as %+v of %q", body, sketch, media)
		}
		if err != nil && asProblem(err).Status >= http.StatusInternalServerError {
			t.Errorf("%q is our fault: %v", body, err)
		}
	})
}
