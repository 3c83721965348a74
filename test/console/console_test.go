// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/test/console/stage"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// TestFirstVisit opens the URL of "windlass ui" in a browser. visit.mjs says what it looks at.
func TestFirstVisit(t *testing.T) {
	t.Parallel()
	chromium := stage.Browser(t)
	h := testkit.New(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "first"}}
	must(t, client.IgnoreAlreadyExists(h.Live.Create(t.Context(), node)))
	stage.Visit(t, "visit.mjs", chromium, stage.Serve(t, h))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
