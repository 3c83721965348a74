// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/test/console/stage"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// TestLists acts on several machines at once, groups them by host, chooses columns, filters, and rehearses a change of a pool.
// lists.mjs says what it looks at.
func TestLists(t *testing.T) {
	t.Parallel()
	chromium := stage.Browser(t)
	h := testkit.New(t)
	w := stage.Furnish(t, h, h.Namespace(t))
	rehearse(t, &w)
	search(t, &w)
	stage.Visit(t, "lists.mjs", chromium, stage.Serve(t, w.Harness), w.Namespace)
}

// search adds what is looked for: two machines with a label, two events, and more Services than a page holds at once.
func search(t *testing.T, w *stage.World) {
	t.Helper()
	for _, name := range []string{"runner-05", "runner-06"} {
		var vm cloudnativev1alpha1.VirtualMachine
		must(t, w.Live.Get(t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, &vm))
		vm.Labels = map[string]string{"rack": "b2"}
		must(t, w.Live.Update(t.Context(), &vm))
	}
	for _, reason := range []string{"StageOne", "StageTwo"} {
		w.Create(t, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: strings.ToLower(reason)}, Reason: reason, Message: "for a selector", Type: corev1.EventTypeNormal,
			InvolvedObject: corev1.ObjectReference{Kind: "VirtualMachine", Namespace: w.Namespace, Name: "runner-05"}, LastTimestamp: metav1.Now(),
		})
	}
	for i := range 150 {
		w.Create(t, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("many-%03d", i)},
			Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "many"}},
		})
	}
}
