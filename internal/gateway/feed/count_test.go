// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// TestTalliesAreWhatCountingAllObjectsGives holds counts that follow every change against a count of everything.
func TestTalliesAreWhatCountingAllObjectsGives(t *testing.T) {
	t.Parallel()
	h := NewHub(view.Kinds(), time.Now)
	pods, _ := h.Kind(view.PodsPlural)
	phases, version := []string{"Running", "Pending", "Failed", "Succeeded"}, 0
	random := func() *unstructured.Unstructured {
		version++
		out := object("Pod", "ns-"+strconv.Itoa(rand.IntN(3)), strconv.Itoa(rand.IntN(10)), version)
		must(t, unstructured.SetNestedField(out.Object, phases[rand.IntN(len(phases))], "status", "phase"))
		return out
	}
	must(t, pods.Store.Replace(nil, "0"))
	for range 2000 {
		switch rand.IntN(20) {
		case 0:
			objects := map[string]any{}
			for range rand.IntN(15) {
				one := random()
				objects[view.Key(one.GetNamespace(), one.GetName())] = one
			}
			var all []any
			for _, one := range objects {
				all = append(all, one)
			}
			must(t, pods.Store.Replace(all, strconv.Itoa(version)))
		case 1, 2, 3, 4, 5, 6:
			must(t, pods.Store.Delete(random()))
		default:
			must(t, pods.Store.Update(random()))
		}
		for _, scope := range []view.Scope{{All: true}, view.InNamespaces("ns-1", "ns-2", "nothing"), {}} {
			whole, _, _ := pods.Store.List()
			recount := view.Tally{}
			for _, item := range whole {
				if scope.Admits(item.Namespace) {
					recount.Add(item.Health, 1)
				}
			}
			if diff := cmp.Diff(view.CountsOf("pods", recount), pods.Store.tallies.counts("pods", scope)); diff != "" {
				t.Fatalf("counts in %v (-want +got):\n%s", scope, diff)
			}
		}
	}
	must(t, pods.Store.Replace(nil, strconv.Itoa(version+1)))
	if left := pods.Store.tallies; len(left.all)+len(left.within) > 0 {
		t.Errorf("without objects there are %v", left)
	}
}

// TestCountsAreToldOnce tells a reader nothing while counts stay the same, whatever else changes.
func TestCountsAreToldOnce(t *testing.T) {
	t.Parallel()
	h := NewHub(view.Kinds(), time.Now)
	kind, _ := h.Kind(view.ServicesPlural)
	must(t, kind.Store.Replace([]any{object("Service", "mine", "a", 1)}, "1"))
	known, scopes := &counted{}, Scopes{view.ServicesPlural: view.InNamespaces("mine")}
	tell := func() string { return string(h.countsEvent([]*Kind{kind}, scopes, known)) }
	one := "event: summary\ndata: {\"type\":\"summary\",\"kinds\":[{\"kind\":\"services\",\"total\":1,\"ready\":1,\"pending\":0,\"failed\":0,\"reasons\":[]}],\"hidden\":[]}\n\n"
	got := []string{tell(), tell()}
	must(t, kind.Store.Update(object("Service", "mine", "a", 2)))
	got = append(got, tell())
	must(t, kind.Store.Update(object("Service", "others", "b", 3)))
	got = append(got, tell())
	if diff := cmp.Diff([]string{one, "", "", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
