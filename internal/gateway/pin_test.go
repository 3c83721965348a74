// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
)

// button is a write to an object that a page shows.
type button struct {
	method, path, body, media string
	// of is the object that it is about.
	of client.Object
}

// press sends the write with a query.
func (r *rig) press(t *testing.T, token string, b button, query string) answer {
	t.Helper()
	separator := "?"
	if strings.Contains(b.path, "?") {
		separator = "&"
	}
	var header []string
	if b.media != "" {
		header = []string{"Content-Type", b.media}
	}
	return r.do(t, b.method, b.path+separator+query, token, b.body, header...)
}

// buttons returns every way to write to an object, and what they are about.
func (r *rig) buttons(t *testing.T, ns string) map[string]button {
	t.Helper()
	const merge, strategic, steps = "application/merge-patch+json", "application/strategic-merge-patch+json", "application/json-patch+json"
	web := r.deployment(t, ns, "web", "web:1")
	set := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "set"}, Spec: appsv1alpha1.PodSetSpec{Size: 1}}
	vm := &cloudnativev1alpha1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "vm"}, Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{}},
	}
	config := &clusterprovisionerv1alpha1.Kubeconfig{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec:       clusterprovisionerv1alpha1.KubeconfigSpec{ClusterRef: &clusterprovisionerv1alpha1.ClusterReference{Name: "absent"}},
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ns + "-pinned"}}
	for _, object := range []client.Object{set, vm, config, node} {
		r.Create(t, object)
	}
	pod := r.pod(t, ns, "pod", node.Name)
	const labelled = `{"metadata":{"labels":{"by":"button"}}}`
	const adds = `[{"op":"add","path":"/metadata/labels","value":{"by":"button"}}]`
	at, ownAt := "/v1/deployments/"+ns+"/web", "/v1/podsets/"+ns+"/set"
	newest := deploymentOf(ns, "web:2")
	versioned := strings.Replace(newest, `"metadata":{`, `"metadata":{"resourceVersion":"`+web.ResourceVersion+`",`, 1)
	return map[string]button{
		"apply":                   {http.MethodPut, at, newest, "", web},
		"apply of YAML":           {http.MethodPut, at, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {labels: {by: button}}\n", mediaYAML, web},
		"apply with force":        {http.MethodPut, at + "?force=true", newest, "", web},
		"replace":                 {http.MethodPut, at + "?replace=true", versioned, "", web},
		"merge patch":             {http.MethodPatch, at, labelled, merge, web},
		"strategic patch":         {http.MethodPatch, at, labelled, strategic, web},
		"JSON patch":              {http.MethodPatch, at, adds, steps, web},
		"scale":                   {http.MethodPatch, at + "/scale", `{"replicas":3}`, "", web},
		"difference":              {http.MethodPut, at + "/diff", newest, "", web},
		"difference of a patch":   {http.MethodPatch, at + "/diff", labelled, merge, web},
		"restart":                 {http.MethodPost, at + "/restart", "", "", web},
		"delete":                  {http.MethodDelete, at, "", "", web},
		"merge patch of a PodSet": {http.MethodPatch, ownAt, labelled, merge, set},
		"JSON patch of a PodSet":  {http.MethodPatch, ownAt, adds, steps, set},
		"scale of a PodSet":       {http.MethodPatch, ownAt + "/scale", `{"replicas":3}`, "", set},
		"power":                   {http.MethodPost, "/v1/virtualmachines/" + ns + "/vm/power", `{"state":"off"}`, "", vm},
		"pause":                   {http.MethodPost, "/v1/virtualmachines/" + ns + "/vm/pause", "", "", vm},
		"download":                {http.MethodPost, "/v1/kubeconfigs/" + ns + "/download", "", "", config},
		"cordon":                  {http.MethodPost, "/v1/nodes/" + node.Name + "/cordon", "", "", node},
		"drain":                   {http.MethodPost, "/v1/nodes/" + node.Name + "/drain", `{"force":true}`, "", node},
		"eviction":                {http.MethodPost, "/v1/pods/" + ns + "/pod/eviction", "", "", pod},
		"debugging container":     {http.MethodPost, "/v1/pods/" + ns + "/pod/debug", `{"image":"busybox"}`, "", pod},
	}
}

// TestAttackAButtonActsOnAnObjectThatWasMadeAnew presses every button of pages whose objects are gone by now, while others have their names.
func TestAttackAButtonActsOnAnObjectThatWasMadeAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	all := r.buttons(t, ns)
	blind := r.user(t, "", rule("patch,update,delete", "*", "*"))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b := all[name]
		before := string(b.of.GetUID())
		got := r.press(t, admin, b, "uid=6f1e0bc6-0000-4000-8000-000000000000")
		if got.status != http.StatusConflict {
			t.Errorf("%s: status %d: %s", name, got.status, got.body)
			continue
		}
		if problem := got.problem(t); problem.Code != "Replaced" || problem.Parameters["uid"] != before {
			t.Errorf("%s: %+v, want the UID %s", name, problem, before)
		}
		if b.method == http.MethodPost || strings.HasSuffix(b.path, "/diff") {
			continue // which need more rights than to write
		}
		got = r.press(t, blind, b, "uid=6f1e0bc6-0000-4000-8000-000000000000")
		if problem := got.problem(t); got.status != http.StatusConflict || problem.Code != "Replaced" || strings.Contains(string(got.body), before) {
			t.Errorf("%s of a caller who cannot read: %d %s", name, got.status, got.body)
		}
	}
	for name, b := range all {
		now, ok := b.of.DeepCopyObject().(client.Object)
		if !ok || !r.Get(t, now) || now.GetResourceVersion() != b.of.GetResourceVersion() {
			t.Errorf("%s: %s is changed: %s", name, b.path, cmp.Diff(b.of, now))
		}
	}
}

// TestButtonsActOnWhatTheyShow presses them with the UID of the object that is there.
func TestButtonsActOnWhatTheyShow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	for name, b := range r.buttons(t, ns) {
		want := []int{http.StatusOK, http.StatusCreated, http.StatusAccepted}
		query := "uid=" + string(b.of.GetUID())
		switch {
		case name == "download":
			want = []int{http.StatusConflict} // it has no Secret yet
		case !strings.HasSuffix(b.path, "/diff"):
			query += "&dryRun=All"
		}
		if got := r.press(t, admin, b, query); !slices.Contains(want, got.status) || strings.Contains(string(got.body), "Replaced") {
			t.Errorf("%s: status %d: %s", name, got.status, got.body)
		}
	}
	path := "/v1/deployments/" + ns + "/web?uid=one"
	for name, c := range map[string]struct {
		method, path, body, media string
		status                    int
		says                      string
	}{
		"a body that names another UID":   {http.MethodPatch, path, `{"metadata":{"uid":"two"}}`, "application/merge-patch+json", 422, "body.metadata.uid"},
		"a patch that cannot be read":     {http.MethodPatch, path, `{`, "application/json-patch+json", 400, "BadRequest"},
		"an empty patch":                  {http.MethodPatch, path, `null`, "application/merge-patch+json", 400, "BadRequest"},
		"metadata that are no object":     {http.MethodPatch, path, `{"metadata":[]}`, "application/merge-patch+json", 400, "BadRequest"},
		"an apply of what is not there":   {http.MethodPut, "/v1/services/" + ns + "/absent?uid=one", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"absent"}}`, mediaJSON, 409, "Replaced"},
		"a deletion of what is not there": {http.MethodDelete, "/v1/services/" + ns + "/absent?uid=one", "", "", 404, "NotFound"},
		"a UID that is too long":          {http.MethodDelete, path + strings.Repeat("x", 64), "", "", 422, "query.uid"},
	} {
		if got := r.do(t, c.method, c.path, admin, c.body, "Content-Type", c.media); got.status != c.status || !strings.Contains(string(got.body), c.says) {
			t.Errorf("%s: status %d, want %d with %s: %s", name, got.status, c.status, c.says, got.body)
		}
	}
	// Who may not write learns nothing, and has nothing parsed.
	nobody := r.user(t, ns, rule("get", "apps", "deployments"))
	for _, method := range []string{http.MethodPut, http.MethodPatch} {
		if got := r.do(t, method, path, nobody, "[", "Content-Type", map[string]string{http.MethodPut: mediaJSON, http.MethodPatch: "application/merge-patch+json"}[method]); got.status != http.StatusForbidden {
			t.Errorf("%s without the right: status %d: %s", method, got.status, got.body)
		}
	}
}

// TestAttackAButtonDropsWhatAnotherSet applies with two buttons. Under one manager, an apply removes the fields of the apply before.
func TestAttackAButtonDropsWhatAnotherSet(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	r.service(t, ns, "web")
	path := "/v1/services/" + ns + "/web?fieldManager=windlass-console-"
	body := func(label string) string {
		return `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","labels":{` + label + `}}}`
	}
	for _, step := range []struct {
		name, query, body string
		status            int
		holds             []string
	}{
		{"a button sets a label", "team", body(`"team":"a"`), 200, []string{`"team":"a"`}},
		{"another one sets a second", "tier", body(`"tier":"front"`), 200, []string{`"team":"a"`, `"tier":"front"`}},
		{"it does not overwrite the first", "tier", body(`"tier":"front","team":"b"`), 409, []string{`{"manager":"windlass-console-team"}`, "team"}},
		{"the first lets go of its own", "team", body(""), 200, []string{`"tier":"front"`}},
	} {
		got := r.do(t, http.MethodPut, path+step.query, admin, step.body)
		if got.status != step.status {
			t.Fatalf("%s: status %d, want %d: %s", step.name, got.status, step.status, got.body)
		}
		for _, part := range step.holds {
			if !strings.Contains(string(got.body), part) {
				t.Errorf("%s: the answer lacks %s: %s", step.name, part, got.body)
			}
		}
	}
	// An action leaves its mark, so that an apply of others does not overwrite it unseen.
	web := r.deployment(t, ns, "web", "web:1")
	r.act(t, admin, actionStep{"/v1/deployments/" + ns + "/web/pause?fieldManager=windlass-console-pause", "", 200, `"paused":true`})
	got := r.do(t, http.MethodPut, "/v1/deployments/"+ns+"/web", admin, deploymentOf(ns, "web:1", `,"paused":false`))
	if got.status != http.StatusConflict || !strings.Contains(string(got.body), `{"manager":"windlass-console-pause"}`) {
		t.Errorf("an apply over %s of an action: status %d: %s", web.Name, got.status, got.body)
	}
}

// TestAttackAButtonWritesAsSomebodyElse names managers that are not those of pages.
func TestAttackAButtonWritesAsSomebodyElse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	all := r.buttons(t, ns)
	for _, manager := range []string{
		"windlass", "kubectl", "windlass-node", "windlass-console-", "windlass-console--a", "windlass-console-a%0Ab", "windlass-console-A", "windlass-api-x",
		"windlass-console-" + strings.Repeat("a", 64),
	} {
		for _, name := range []string{"apply", "replace", "JSON patch", "scale", "difference", "restart", "power", "drain", "debugging container"} {
			got := r.press(t, admin, all[name], "dryRun=All&fieldManager="+manager)
			if got.status != http.StatusUnprocessableEntity || !strings.Contains(string(got.body), "query.fieldManager") {
				t.Errorf("%s as %s: status %d: %s", name, manager, got.status, got.body)
			}
		}
	}
	for _, manager := range []string{"windlass-api", "windlass-console-a", "windlass-console-" + strings.Repeat("a", 63)} {
		if got := r.press(t, admin, all["apply with force"], "dryRun=All&fieldManager="+manager); got.status != http.StatusOK {
			t.Errorf("as %s: status %d: %s", manager, got.status, got.body)
		}
	}
}
