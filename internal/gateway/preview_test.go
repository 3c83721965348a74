// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// poolBody is a pool of the shop's name with a spec.
func poolBody(name, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"nodes.lailin.xyz/v1","kind":"NodePool","metadata":{"name":%q},"spec":%s}`, name, spec)
}

// TestPreview: what a change of a pool would do, for one that there is and one that there is not, and nothing is written.
func TestPreview(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := newShop(t, r)
	admin := r.user(t, "", everything())
	s.pod(t, s.ns, "victim", "1", onNode(s.ns))
	s.pod(t, s.ns, "tolerant", "1", onNode(s.ns), func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} })
	s.caches(t, s.ns, "tolerant")
	s.caches(t, s.ns, "victim")
	path := "/v1/nodepools/" + s.ns + "/preview"
	body := poolBody(s.ns, `{"labels":{"tier":"gold"},"taints":[{"key":"gpu","value":"1","effect":"NoExecute"}],"rollout":{"maxConcurrent":1}}`)
	empty := ""
	want := view.PoolPreview{
		Pool: s.ns, Members: 1, Changed: 1, Batch: []string{s.ns},
		Nodes: []view.NodePreview{{Name: s.ns, Membership: "Stays", Conflicts: []view.KeyConflict{}, Changes: []view.KeyChange{
			{Key: "label tier", After: new("gold"), Pool: s.ns}, {Key: "taint gpu:NoExecute", After: new("1"), Pool: s.ns},
		}}},
		Pods: []view.Named{{Namespace: s.ns, Name: "victim"}}, PodCount: 1,
	}
	if diff := cmp.Diff(want, read[view.PoolPreview](t, r.do(t, http.MethodPost, path, admin, body))); diff != "" {
		t.Errorf("a pool that there is (-want +got):\n%s", diff)
	}
	pool := &nodesv1.NodePool{}
	must(t, r.Live.Get(t.Context(), client.ObjectKey{Name: s.ns}, pool))
	if len(pool.Spec.Taints) > 0 {
		t.Error("the preview was written")
	}
	fresh := s.ns + "-fresh"
	want = view.PoolPreview{
		Pool: fresh, Creates: true, Members: 1, Joining: 1, Changed: 1, Pods: []view.Named{},
		Nodes: []view.NodePreview{{Name: s.ns, Membership: "Joins", Conflicts: []view.KeyConflict{}, Changes: []view.KeyChange{
			{Key: "label " + nodesv1.RoleLabel(fresh), After: &empty, Pool: fresh}, {Key: "label " + nodesv1.MemberLabel(fresh), After: &empty, Pool: fresh},
		}}},
	}
	body = poolBody(fresh, fmt.Sprintf(`{"nodeSelector":{"matchLabels":{%q:"true"}}}`, nodesv1.RoleLabel(s.ns)))
	if diff := cmp.Diff(want, read[view.PoolPreview](t, r.do(t, http.MethodPost, "/v1/nodepools/"+fresh+"/preview", admin, body))); diff != "" {
		t.Errorf("a pool that there is not (-want +got):\n%s", diff)
	}
	for body, status := range map[string]int{
		poolBody(s.ns, `{"overwrite":"Sometimes"}`): http.StatusUnprocessableEntity, poolBody(s.ns, `{"lables":{}}`): http.StatusUnprocessableEntity,
		`[]`: http.StatusBadRequest, `{`: http.StatusBadRequest,
	} {
		if got := r.do(t, http.MethodPost, path, admin, body); got.status != status {
			t.Errorf("%s is %d: %s", body, got.status, got.body)
		}
	}
}

// TestPreviewOfNothing has bodies that are no object, for a pool that there is not.
func TestPreviewOfNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	for body, media := range map[string]string{"null": "application/json", "~": "application/yaml"} {
		got := r.do(t, http.MethodPost, "/v1/nodepools/"+r.Namespace(t)+"/preview", admin, body, "Content-Type", media)
		if got.status != http.StatusBadRequest {
			t.Errorf("%s as %s is %d: %s", body, media, got.status, got.body)
		}
	}
}

// TestAttackPreviewTellsOfOthers: a preview needs the rights to what it shows, and counts no pods that its caller may not list.
func TestAttackPreviewTellsOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := newShop(t, r)
	s.pod(t, s.ns, "secret", "1", onNode(s.ns))
	s.caches(t, s.ns, "secret")
	path, body := "/v1/nodepools/"+s.ns+"/preview", poolBody(s.ns, `{"taints":[{"key":"gpu","effect":"NoExecute"}]}`)
	pools, nodes := rule("get,list,update", nodesv1.SchemeGroupVersion.Group, "nodepools"), rule("get,list", "", "nodes")
	for sentence, rules := range map[string][]string{"reads": {"get,list"}, "writes blindly": {"get,update"}} {
		token := r.user(t, "", rule(rules[0], nodesv1.SchemeGroupVersion.Group, "nodepools"), nodes)
		if got := r.do(t, http.MethodPost, path, token, body); got.status != http.StatusForbidden {
			t.Errorf("who only %s gets %d: %s", sentence, got.status, got.body)
		}
	}
	if got := r.do(t, http.MethodPost, path, r.user(t, "", pools), body); got.status != http.StatusForbidden {
		t.Errorf("who may not list nodes gets %d: %s", got.status, got.body)
	}
	got := read[view.PoolPreview](t, r.do(t, http.MethodPost, path, r.user(t, "", pools, nodes), body))
	if got.Changed != 1 || got.PodCount != 0 || len(got.Pods) > 0 || got.PodsHidden != "you may not list pods in all namespaces" {
		t.Errorf("who may not list pods sees %+v", got)
	}
}
