// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestCreateAdoptsNoEqualObjectThatHasJustAppeared(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	namespace := h.Namespace(t)
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "child"}, Data: map[string]string{"key": "value"}}
	h.Create(t, foreign)
	before := foreign.DeepCopy()

	err := patch.Create(t.Context(), h.Direct, child(namespace, "value", ""))
	if !apierrors.IsConflict(err) {
		t.Fatalf("creating over an object of the same name ended with %v, want a conflict", err)
	}
	h.Get(t, foreign)
	if diff := cmp.Diff(before, foreign); diff != "" {
		t.Errorf("the foreign object has changed (-want +got):\n%s", diff)
	}
}

func TestApplyTakesAwayWhatCreateHasSet(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	namespace := h.Namespace(t)
	if err := patch.Create(t.Context(), h.Direct, child(namespace, "value", "more")); err != nil {
		t.Fatal(err)
	}
	if err := patch.Apply(t.Context(), h.Direct, child(namespace, "other", "")); err != nil {
		t.Fatal(err)
	}
	var got corev1.ConfigMap
	if err := h.Live.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "child"}, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"key": "other"}, got.Data); diff != "" {
		t.Errorf("data differs (-want +got):\n%s", diff)
	}
}

func TestWriteReachesTheSeenObjectOnly(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	namespace := h.Namespace(t)
	if err := patch.Write(t.Context(), h.Direct, child(namespace, "value", ""), "uid-before"); !apierrors.IsConflict(err) {
		t.Errorf("writing to an object that is gone ended with %v, want a conflict", err)
	}
	if err := patch.Write(t.Context(), h.Direct, child(namespace, "value", ""), ""); err != nil {
		t.Fatal(err)
	}
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "child"}}
	h.Get(t, made)
	for seen, refused := range map[types.UID]func(error) bool{"": apierrors.IsConflict, "uid-before": apierrors.IsInvalid} {
		if err := patch.Write(t.Context(), h.Direct, child(namespace, "other", ""), seen); !refused(err) {
			t.Errorf("writing to another object than %q ended with %v, want it refused", seen, err)
		}
	}
	if err := patch.Write(t.Context(), h.Direct, child(namespace, "last", ""), made.UID); err != nil {
		t.Fatal(err)
	}
	h.Get(t, made)
	if diff := cmp.Diff(map[string]string{"key": "last"}, made.Data); diff != "" {
		t.Errorf("data differs (-want +got):\n%s", diff)
	}
}

func child(namespace, value, more string) *corev1ac.ConfigMapApplyConfiguration {
	data := map[string]string{"key": value}
	if more != "" {
		data["more"] = more
	}
	return corev1ac.ConfigMap("child", namespace).WithData(data)
}
