// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/gateway/client"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// onlyRehearsals is a policy under which Services of a namespace can be tried and not created.
const onlyRehearsals = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: NAME }
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: NAME } }
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [services] }]
  validations: [{ expression: "request.dryRun", message: "there is no room" }]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: NAME }
spec: { policyName: NAME, validationActions: [Deny] }
`

// TestHalfAnAppIsTakenBack has a Service that can be tried but not created: the Deployment, which is there by then, must not stay.
func TestHalfAnAppIsTakenBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.typed(t, "", everything())
	ns := r.Namespace(t)
	for document := range strings.SplitSeq(strings.ReplaceAll(onlyRehearsals, "NAME", ns), "---") {
		policy := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal([]byte(document), policy))
		r.Create(t, policy)
	}
	testkit.Eventually(t, "the policy is in force", func() bool {
		service := webService("probe")
		service.Namespace = ns
		if err := r.Live.Create(t.Context(), service); err != nil {
			return strings.Contains(err.Error(), "there is no room")
		}
		must(t, r.Live.Delete(t.Context(), service))
		return false
	})
	app := view.App{Name: "web", Namespace: ns, Image: "web:1"}
	if _, err := c.CreateApp(t.Context(), app, client.WriteOptions{DryRun: true}); err != nil {
		t.Fatalf("a rehearsal fails: %v", err)
	}
	_, err := c.CreateApp(t.Context(), app, client.WriteOptions{})
	wantProblem(t, err, http.StatusUnprocessableEntity, "Invalid")
	if lines := r.log.with(`"kind"="Deployment"`); len(lines) != 4 { // tried twice, created and deleted
		t.Errorf("the Deployment was never there: %q", lines)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}}
	if r.Get(t, deployment) && deployment.DeletionTimestamp == nil {
		t.Error("half of the app stays behind")
	}
	if r.Get(t, &corev1.Service{ObjectMeta: deployment.ObjectMeta}) {
		t.Error("the policy has let a Service through")
	}
}
