// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiclient "github.com/windlass-operator/windlass/internal/gateway/client"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// counts follows counts of the namespace, or of all that the caller may see, besides a kind.
func (r *rig) counts(t *testing.T, token, namespace, kind string) *follower {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	f := &follower{t: t, events: make(chan apiclient.Event, 1024), cancel: cancel}
	go func() {
		defer close(f.events)
		for event, err := range (&apiclient.Client{Base: r.base, Token: token}).WatchSummary(ctx, namespace, "", kind) {
			if err != nil {
				return
			}
			if event.Name != apiclient.EventStale && event.Name != apiclient.EventFresh {
				f.events <- event
			}
		}
	}()
	return f
}

// of returns the counts of a kind in an event.
func of(event apiclient.Event, plural string) view.KindCounts {
	at := slices.IndexFunc(event.Counts, func(k view.KindCounts) bool { return k.Kind == plural })
	if at < 0 {
		return view.KindCounts{}
	}
	return event.Counts[at]
}

// crash makes a pod whose container crashes.
func (r *rig) crash(t *testing.T, namespace, name string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "somewhere", Containers: []corev1.Container{{Name: "main", Image: "a"}}}}
	pod.Namespace, pod.Name = namespace, name
	r.Create(t, pod)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}},
	}
	must(t, r.Live.Status().Update(t.Context(), pod))
	return pod
}

// TestCountsInAStream follow objects that come, break and go.
func TestCountsInAStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	token := r.user(t, ns, rule("list,watch", "", "pods", "services"))
	f := r.counts(t, token, "", "services")
	begin := f.until("the first counts", func(e apiclient.Event) bool { return e.Name == apiclient.EventSummary })
	if begin[len(begin)-2] != "snapshot" {
		t.Errorf("the counts do not follow the snapshot: %q", begin)
	}
	r.service(t, ns, "web")
	pod := r.crash(t, ns, "bad")
	broken := view.KindCounts{Kind: "pods", Total: 1, Failed: 1, Reasons: []view.ReasonTally{{Reason: "CrashLoopBackOff", State: view.HealthFailed, Count: 1}}}
	seen := f.until("the pod that crashes first, because it is worse", func(e apiclient.Event) bool {
		return of(e, "services").Total == 1 && len(e.Counts) > 0 && cmp.Equal(broken, e.Counts[0]) && slices.Contains(e.Hidden, "deployments")
	})
	if slices.ContainsFunc(seen, func(event string) bool { return event == "upsert pods bad" }) {
		t.Errorf("pods are watched, and not only counted: %q", seen)
	}
	must(t, r.Live.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	f.until("no pod", func(e apiclient.Event) bool { return e.Name == apiclient.EventSummary && of(e, "pods").Total == 0 })
}

// TestAttackCountsTellOfOthers follows counts while pods of others come, and while the right to count is taken away.
func TestAttackCountsTellOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns, other, home := r.Namespace(t), r.Namespace(t), r.Namespace(t)
	token := r.token(t, home, "user")
	r.grant(t, home, ns, rule("list,watch", "", "services"))
	right := r.grant(t, home, ns, rule("list", "", "pods"))
	admin := r.user(t, "", everything())
	f, all := r.counts(t, token, "", "services"), r.counts(t, admin, other, "services")
	r.crash(t, other, "hidden")
	all.until("the administrator counts the pod of others", func(e apiclient.Event) bool { return of(e, "pods").Failed > 0 })
	r.crash(t, ns, "mine")
	total := 0
	f.until("the own pod is counted", func(e apiclient.Event) bool {
		total = max(total, of(e, "pods").Total)
		return of(e, "pods").Failed == 1
	})
	must(t, r.Live.Delete(t.Context(), right))
	f.until("pods are hidden", func(e apiclient.Event) bool {
		total = max(total, of(e, "pods").Total)
		return slices.Contains(e.Hidden, "pods")
	})
	if total != 1 {
		t.Errorf("%d pods are counted, of which the caller can list one", total)
	}
}
