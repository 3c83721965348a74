// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

// tool creates a PodBuggerTool.
func (r *rig) tool(t *testing.T, ns string) {
	t.Helper()
	r.Create(t, &appsv1alpha1.PodBuggerTool{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shell"},
		Spec: appsv1alpha1.PodBuggerToolSpec{
			Label: "app=web", Image: "tool:1", Command: []string{"look"}, TargetContainer: "main", SecurityContext: &corev1.SecurityContext{Privileged: new(false)},
		},
	})
}

// TestDebug adds debugging containers, and refuses what is not one with the field.
func TestDebug(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	token := r.user(t, ns, rule("patch", "", "pods/ephemeralcontainers"), rule("get", "apps.jicki.cn", "podbuggertools"))
	r.tool(t, ns)
	r.pod(t, ns, "web", "node")
	for _, step := range []struct {
		body, query string
		status      int
		// field of the refusal.
		field string
	}{
		{`{}`, "", 422, "body.image"},
		{`{"image":"a","tool":"` + ns + `/shell"}`, "", 422, "body.image"},
		{`{"tool":"shell"}`, "", 422, "body.tool"},
		{`{"tool":"` + ns + `/../x"}`, "", 422, "body.tool"},
		{`{"image":"a","imgae":"b"}`, "", 422, "body.imgae"},
		{`{"image":"a","name":"Not A Name"}`, "", 422, "spec.ephemeralContainers[0].name"},
		{`{"image":"a","target":"absent"}`, "", 422, "spec.ephemeralContainers[0].targetContainerName"},
		{`{"tool":"` + ns + `/absent"}`, "", 404, ""},
		{`{"image":"a"}`, "?dryRun=All", 201, ""},
		{`{"image":"busybox","name":"first","command":["sh","-c","x"],"target":"main"}`, "", 201, ""},
		{`{"image":"other","name":"first"}`, "", 422, "spec.ephemeralContainers"},
		{`{"tool":"` + ns + `/shell","name":"second"}`, "", 201, ""},
	} {
		got := r.do(t, http.MethodPost, "/v1/pods/"+ns+"/web/debug"+step.query, token, step.body)
		if got.status != step.status {
			t.Errorf("%s: status %d, want %d: %s", step.body, got.status, step.status, got.body)
			continue
		}
		if step.field != "" && (len(got.problem(t).Errors) == 0 || got.problem(t).Errors[0].Location != step.field) {
			t.Errorf("%s: the field is %+v, want %s", step.body, got.problem(t).Errors, step.field)
		}
		var answer struct {
			Pod       string `json:"pod"`
			Container string `json:"container"`
		}
		if step.status == http.StatusCreated {
			must(t, json.Unmarshal(got.body, &answer))
			if answer.Pod != "web" || answer.Container == "" || !strings.Contains(step.body, "name") && !strings.HasPrefix(answer.Container, "debugger-") {
				t.Errorf("%s: the answer is %+v", step.body, answer)
			}
		}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}}
	if !r.Get(t, pod) {
		t.Fatal("the pod is gone")
	}
	common := corev1.EphemeralContainerCommon{
		ImagePullPolicy: corev1.PullIfNotPresent, Stdin: true, TTY: true, TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File",
	}
	first, second := common, common
	first.Name, first.Image, first.Command = "first", "busybox", []string{"sh", "-c", "x"}
	second.Name, second.Image, second.Command, second.SecurityContext = "second", "tool:1", []string{"look"}, &corev1.SecurityContext{Privileged: new(false)}
	want := []corev1.EphemeralContainer{
		{EphemeralContainerCommon: second, TargetContainerName: "main"}, {EphemeralContainerCommon: first, TargetContainerName: "main"},
	}
	if diff := cmp.Diff(want, pod.Spec.EphemeralContainers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if lines := r.log.with(`"container"="second"`); len(lines) != 1 || !strings.Contains(lines[0], `"action"="debug"`) {
		t.Errorf("the log has %q", lines)
	}
}

// TestAttackADebuggingContainerWithoutRights has callers who may do something else to pods, or may not read the tool.
func TestAttackADebuggingContainerWithoutRights(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns, other := r.Namespace(t), r.Namespace(t)
	r.tool(t, other)
	r.pod(t, ns, "web", "node")
	editor := r.user(t, ns, rule("patch,update,get", "", "pods"))
	debugger := r.user(t, ns, rule("patch", "", "pods/ephemeralcontainers"))
	for body, token := range map[string]string{`{"image":"a"}`: editor, `{"tool":"` + other + `/shell"}`: debugger} {
		if got := r.do(t, http.MethodPost, "/v1/pods/"+ns+"/web/debug", token, body); got.status != http.StatusForbidden {
			t.Errorf("%s: status %d: %s", body, got.status, got.body)
		}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}}
	if !r.Get(t, pod) || len(pod.Spec.EphemeralContainers) > 0 {
		t.Errorf("the pod has %v", pod.Spec.EphemeralContainers)
	}
}
