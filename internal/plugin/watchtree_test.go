// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestTreeEndsWithAnObjectThatGoesBeforeItIsWatched: a watch from now on does not tell of what was deleted after it was read.
func TestTreeEndsWithAnObjectThatGoesBeforeItIsWatched(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	podSet(t, s, namespace, "web")
	var once sync.Once
	far := s.behind(t, func(request *http.Request) {
		if request.URL.Query().Get("watch") == "" || !strings.HasSuffix(request.URL.Path, "/podsets") {
			return
		}
		once.Do(func() {
			set := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
			if err := s.Live.Delete(t.Context(), set); err != nil {
				t.Error(err)
			}
		})
	})
	tree := far.watching(t, 100, "status", "podset/web", "-n", namespace, "--watch")
	testkit.Eventually(t, "the tree ends", func() bool { return strings.Contains(tree.String(), "podset/web  Gone") })
}
