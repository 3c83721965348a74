// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// TestWatchWithoutTheRightToWatchReadsSeldom: a caller who may only list is shown changes too, and does not flood the API server.
func TestWatchWithoutTheRightToWatchReadsSeldom(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	podSet(t, s, namespace, "web")
	var lists, refused atomic.Int32
	far := s.behind(t, func(request *http.Request) {
		switch {
		case !strings.HasSuffix(request.URL.Path, "/podsets"):
		case request.URL.Query().Get("watch") == "":
			lists.Add(1)
		default:
			refused.Add(1)
		}
	})
	began := time.Now()
	pipe := far.watching(t, 0, append(s.limited(t, namespace, "list podsets.apps.jicki.cn"), "status", "podsets", "--watch")...)
	testkit.Eventually(t, "a watch is refused", func() bool { return refused.Load() > 1 })
	set := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	must(t, s.Live.Delete(t.Context(), set))
	testkit.Eventually(t, "it is told that the PodSet is gone", func() bool { return strings.Contains(pipe.String(), "podset/web -n "+namespace+"  Gone") })
	// The first list needs no pause, and the second one may be of the moment in which the caller looks.
	if got, most := lists.Load(), 2+int32(time.Since(began)/rereadAfter); got > most {
		t.Errorf("it has listed %d times, want at most %d", got, most)
	}
}

// TestWatchSaysThatObjectsAreGoneThatMayNotBeListed: a role that is replaced takes the right away for a moment, and the objects were said to be gone.
func TestWatchSaysThatObjectsAreGoneThatMayNotBeListed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	podSet(t, s, namespace, "web")
	var away atomic.Bool
	far := s.between(t, func(w http.ResponseWriter, request *http.Request) bool {
		watches, elsewhere := request.URL.Query().Get("watch") != "", strings.Contains(request.URL.Path, "/namespaces/default/")
		refused := strings.HasSuffix(request.URL.Path, "/podsets") && (watches || away.Load() && !elsewhere) // without a watch, it lists every two seconds
		if refused {
			fail(w, apierrors.NewForbidden(appsv1alpha1.SchemeGroupVersion.WithResource("podsets").GroupResource(), "", errors.New("not now")))
		}
		return refused
	})
	gone := "podset/web -n " + namespace + "  Gone\n"
	views := map[string]struct {
		out  *liveOutput
		lost string
	}{
		"in a namespace": {far.watching(t, 0, "status", "podsets", "-n", namespace, "--watch"), "you may not list podsets in namespace " + namespace + " (trying again)"},
		"everywhere":     {far.watching(t, 0, "status", "podsets", "--watch"), "you may list podsets in namespace default only (trying again)"},
	}
	for name, view := range views {
		testkit.Eventually(t, name+": the PodSet is shown", func() bool { return strings.Contains(view.out.String(), "podset/web -n "+namespace) })
	}
	away.Store(true)
	for name, view := range views {
		testkit.Eventually(t, name+": it says what it may not list", func() bool {
			return strings.Contains(view.out.String(), view.lost) || strings.Contains(view.out.String(), gone)
		})
		if strings.Contains(view.out.String(), gone) {
			t.Fatalf("%s: the PodSet is there:\n%s", name, view.out)
		}
	}
	away.Store(false)
	for name, view := range views {
		testkit.Eventually(t, name+": it goes on", func() bool { return strings.Contains(view.out.String(), "it answers again") })
	}
	must(t, s.Live.Delete(t.Context(), &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}))
	for name, view := range views {
		testkit.Eventually(t, name+": the PodSet is gone", func() bool { return strings.Contains(view.out.String(), gone) })
	}
}
