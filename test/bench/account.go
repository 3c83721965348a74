// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// user returns the configuration of a new user with a certificate.
func (r *controlPlane) user(name string, groups ...string) (*rest.Config, error) {
	user, err := r.env.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot add user %q: %w", name, err)
	}
	return as(user.Config(), agentBench), nil
}

// as returns the configuration with another user agent, and without a limit of requests.
func as(config *rest.Config, agent string) *rest.Config {
	own := rest.CopyConfig(config)
	own.UserAgent, own.QPS = agent+"/1", -1
	return own
}

func (r *controlPlane) addAdministrator(ctx context.Context) error {
	const group = "bench:administrators"
	masters, err := client.New(r.env.Config, client.Options{Scheme: r.scheme})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: agentBench},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: group}},
	}
	if err := masters.Create(ctx, binding); err != nil {
		return fmt.Errorf("cannot add the administrator: %w", err)
	}
	administrator, err := r.user(agentBench, group)
	if err != nil {
		return err
	}
	if _, err := r.AddKubeconfig("admin", administrator); err != nil {
		return err
	}
	return r.Connect(administrator)
}
