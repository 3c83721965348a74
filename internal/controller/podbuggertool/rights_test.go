// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// lesser writes subresources as a user with fewer rights.
type lesser struct {
	client.Client

	user client.Client
}

// SubResource implements client.Client.
func (l lesser) SubResource(name string) client.SubResourceClient { return l.user.SubResource(name) }

// TestAToolWithoutTheRightIsTriedAgainSoon: an API server that has just started refuses everything for a moment, and the tool was looked
// at again only after five minutes.
func TestAToolWithoutTheRightIsTriedAgainSoon(t *testing.T) {
	s := newStage(t)
	config := rest.CopyConfig(s.Config)
	config.Impersonate.UserName = "user-of-" + s.namespace
	user, err := client.New(config, client.Options{Scheme: s.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	s.r = New(s.Client, lesser{Client: s.Direct, user: user}, s.pods, s.Events, s.Clock.Now)
	pod := s.pod("web-1")
	tool := s.tool()
	s.wantCondition(tool, status.Stalled, `True ToolRefused: the API server rejected the tool in pod web-1: pods "web-1" is forbidden: `+
		`User "user-of-`+s.namespace+`" cannot patch resource "pods/ephemeralcontainers" in API group "" in the namespace "`+s.namespace+`"`)
	result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(tool))
	if err != nil || result.RequeueAfter < flow.RecheckRights || result.RequeueAfter > 2*flow.RecheckRights {
		t.Errorf("it is looked at again after %s, want about %s: %v", result.RequeueAfter, flow.RecheckRights, err)
	}

	s.Create(t, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "tools"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"patch"}, APIGroups: []string{""}, Resources: []string{"pods/ephemeralcontainers"}}},
	}, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "tools"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "tools"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: config.Impersonate.UserName}},
	})
	testkit.Eventually(t, "the tool is installed once it may be", func() bool {
		s.Clock.Step(flow.RecheckRights)
		s.Settle(t, s.r, tool)
		return tool.Status.Installed == 1
	})
	s.wantTools(pod, containerOf(tool).Name)
	s.wantCondition(tool, appsv1alpha1.ConditionInstalled, `True ToolInstalled: 1 pod has the container "`+containerOf(tool).Name+`"`)
}
