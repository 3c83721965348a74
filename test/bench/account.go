// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// user returns the configuration of a new user with a certificate.
func (r *rig) user(name string, groups ...string) (*rest.Config, error) {
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

func (r *rig) addAdministrator(ctx context.Context) error {
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
	if r.config, err = r.user(agentBench, group); err != nil {
		return err
	}
	if r.client, err = client.New(r.config, client.Options{Scheme: r.scheme}); err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	return writeKubeconfig(filepath.Join(r.dir, "admin.kubeconfig"), r.config)
}

func (r *rig) takeAccount(ctx context.Context) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: accountName}}
	request := &authenticationv1.TokenRequest{}
	if err := r.client.SubResource("token").Create(ctx, account, request); err != nil {
		return fmt.Errorf("cannot request a token for the manager: %w", err)
	}
	r.account = rest.AnonymousClientConfig(r.config)
	r.account.BearerToken = request.Status.Token
	return writeKubeconfig(r.managerKubeconfig(), r.account)
}

func (r *rig) managerKubeconfig() string { return filepath.Join(r.dir, "manager.kubeconfig") }

func writeKubeconfig(path string, config *rest.Config) error {
	const name = agentBench
	written := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			Token: config.BearerToken, ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
	if err := clientcmd.WriteToFile(written, path); err != nil {
		return fmt.Errorf("cannot write kubeconfig %q: %w", path, err)
	}
	return nil
}
