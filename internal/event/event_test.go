// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package event_test

import (
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
)

func TestEveryEventIsALineOfTheLog(t *testing.T) {
	t.Parallel()
	var lines []string
	log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	sink := events.NewFakeRecorder(2)
	event.NewRecorder(sink, log).Record(
		event.Event{
			Regarding: &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}},
			Reason:    "Scaled", Action: "Scale", Note: "Grown from 3 to 100%",
		},
		event.Event{
			Regarding: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
			Reason:    "KeysAbandoned", Action: "Clean", Note: "Left a taint", Warning: true,
		},
	)
	want := []string{
		`"level"=0 "msg"="Grown from 3 to 100%" "type"="Normal" "kind"="PodSet" "object"={"name"="web" "namespace"="default"} "reason"="Scaled"`,
		`"level"=0 "msg"="Left a taint" "type"="Warning" "kind"="Node" "object"={"name"="a"} "reason"="KeysAbandoned"`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("lines differ (-want +got):\n%s", diff)
	}
	if got := <-sink.Events + "; " + <-sink.Events; got != "Normal Scaled Grown from 3 to 100%; Warning KeysAbandoned Left a taint" {
		t.Errorf("the events are %q", got)
	}
}
