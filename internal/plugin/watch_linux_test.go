// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestWatchOnATerminal: what is watched is drawn in place, fits, and leaves a terminal that has its cursor.
func TestWatchOnATerminal(t *testing.T) {
	t.Parallel()
	const ctrlC = "\x03"
	s := newStage(t)
	namespace := s.Namespace(t)
	podSet(t, s, namespace, "web")
	for _, tt := range []struct {
		width, height int
		env, args     []string
	}{
		{100, 24, nil, []string{"status", "podset/web"}},
		{100, 24, []string{"NO_COLOR=1"}, []string{"status", "podset/web"}},
		{100, 24, nil, []string{"status", "podsets"}},
		{40, 24, nil, []string{"status", "podset/web"}},
		{30, 6, nil, []string{"status", "podsets"}},
	} {
		args := slices.Concat(tt.args, []string{"--kubeconfig", s.kubeconfig, "-n", namespace, "--watch"})
		on := onTerminal(t, tt.width, tt.height, tt.env, args...)
		name := strings.Join(slices.Concat(tt.env, tt.args), " ")
		drawn := func(yes bool) {
			t.Helper()
			defer func() {
				if t.Failed() {
					t.Logf("%s", on)
				}
			}()
			testkit.Eventually(t, name+" is drawn", func() bool {
				text := on.String()
				return strings.Contains(text, "podset/web") && strings.Contains(text, "PoolNotFound") != yes && (strings.Contains(text, "Ready\n") || strings.Contains(text, "1/1")) == yes
			})
		}
		drawn(false)
		set := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		testkit.EditStatus(t, s.Harness, set, func(of *appsv1alpha1.PodSet) {
			of.Status.Conditions = ready(metav1.ConditionTrue, status.ReasonReady, "All is well.")[:1]
		})
		drawn(true)
		on.press(t, ctrlC)
		if err := <-on.ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		on.mu.Lock()
		raw := on.raw.String()
		if on.wrapped || on.scrolled || on.clears != 1 {
			t.Errorf("%s: wrapped %t, scrolled %t, cleared %d times: %q", name, on.wrapped, on.scrolled, on.clears, raw)
		}
		if !strings.Contains(raw, hideCursor) || on.cursorHidden {
			t.Errorf("%s: the cursor was hidden %t, and is at the end %t", name, strings.Contains(raw, hideCursor), on.cursorHidden)
		}
		if hasColours := strings.Contains(raw, colourGreen); hasColours != (tt.env == nil) {
			t.Errorf("%s: colours %t", name, hasColours)
		}
		on.mu.Unlock()
		testkit.EditStatus(t, s.Harness, set, func(of *appsv1alpha1.PodSet) {
			of.Status.Conditions = ready(metav1.ConditionFalse, appsv1alpha1.ReasonPoolNotFound, "Pool nothing does not exist.")
		})
	}
}
