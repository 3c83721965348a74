// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

// behind is a client whose cache shows a tool that is gone.
type behind struct {
	client.Client

	tool *appsv1alpha1.PodBuggerTool
}

// Get implements client.Reader.
func (b *behind) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if tool, ok := into.(*appsv1alpha1.PodBuggerTool); ok && key == client.ObjectKeyFromObject(b.tool) {
		b.tool.DeepCopyInto(tool)
		return nil
	}
	return b.Client.Get(ctx, key, into, options...)
}

// List implements client.Reader.
func (b *behind) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if err := b.Client.List(ctx, into, options...); err != nil {
		return err
	}
	if tools, ok := into.(*appsv1alpha1.PodBuggerToolList); ok {
		tools.Items = append(tools.Items, *b.tool.DeepCopy())
	}
	return nil
}

// A manager was restarted, and its watch of tools was behind: it put the container of a deleted tool into a pod, where it stays for as long as the
// pod does.
func TestAToolThatIsGoneIsNotInstalled(t *testing.T) {
	s := newStage(t)
	gone := s.tool()
	if err := s.Live.Delete(t.Context(), gone.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	pod := s.pod("web")
	s.r = New(&behind{Client: s.Client, tool: gone}, s.Direct, s.pods, s.Events, s.Clock.Now)
	for range 2 {
		if _, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(gone)); err != nil {
			t.Fatal(err)
		}
	}
	if s.Get(t, pod); len(pod.Spec.EphemeralContainers) != 0 {
		t.Errorf("the pod has %+v", pod.Spec.EphemeralContainers)
	}

	// Nor does another tool bring it along.
	there := aTool(func(tool *appsv1alpha1.PodBuggerTool) { tool.Name = "there" })
	there.Namespace, there.UID = s.namespace, ""
	s.Create(t, there)
	s.Settle(t, s.r, there)
	if s.Get(t, pod); len(pod.Spec.EphemeralContainers) != 1 {
		t.Errorf("the pod has %+v, want the container of the tool that is there", pod.Spec.EphemeralContainers)
	}
}
