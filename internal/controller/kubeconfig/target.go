// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
)

// callTimeout bounds a request to the cluster, so that a cluster that hangs does not hold a worker.
const callTimeout = 5 * time.Second

// The kinds of what is made in the cluster.
const (
	kindAccount = "ServiceAccount"
	kindBinding = "ClusterRoleBinding"
)

// errForeign says that the cluster has an object of the name which was not made for this Kubeconfig.
var errForeign = errors.New("it exists in the cluster and was not made for this Kubeconfig")

// target is the cluster that tokens are issued in.
type target struct {
	config *rest.Config
	client kubernetes.Interface
}

// asWindlass names Windlass as the manager of what it creates there. Otherwise that would be the name of the program's file.
func asWindlass() metav1.CreateOptions {
	return metav1.CreateOptions{FieldManager: string(patch.FieldOwner)}
}

// newTarget returns the cluster that the kubeconfig describes. What changes it passes the fence.
func (r *Reconciler) newTarget(kubeconfig []byte) (*target, error) {
	config, err := kube.Target(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.Timeout = callTimeout
	config.Wrap(r.fence)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for the cluster: %w", err)
	}
	return &target{config: config, client: client}, nil
}

// enter asks the cluster for its version, with the credential in the kubeconfig.
func (r *Reconciler) enter(ctx context.Context, kubeconfig []byte) error {
	cluster, err := r.newTarget(kubeconfig)
	if err != nil {
		return err
	}
	return cluster.client.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Error()
}

// leads reports whether a kubeconfig that was issued leads to the cluster as the kubeconfig of its tool does: one that cannot be read does not,
// nor one with an address, a proxy or a certificate authority that the cluster had before it was made anew.
func leads(issued, admin []byte) bool {
	is, err := kube.Target(issued)
	if err != nil {
		return false
	}
	want, err := kube.Target(admin)
	return err == nil && is.Host == want.Host && is.ServerName == want.ServerName && is.Insecure == want.Insecure &&
		proxyOf(is) == proxyOf(want) && bytes.Equal(is.CAData, want.CAData)
}

// issue ensures the ServiceAccount and its binding, and returns a kubeconfig with a token for it.
func (t *target) issue(ctx context.Context, config *clusterprovisionerv1alpha1.Kubeconfig) ([]byte, grant, error) {
	name := accountOf(config)
	if err := t.ensureAccount(ctx, config, name); err != nil {
		return nil, grant{}, fmt.Errorf("cannot create ServiceAccount %q: %w", name, err)
	}
	if err := t.ensureBinding(ctx, config, name); err != nil {
		return nil, grant{}, fmt.Errorf("cannot create ClusterRoleBinding %q: %w", name, err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(expiration(config))}}
	token, err := t.client.CoreV1().ServiceAccounts(metav1.NamespaceSystem).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return nil, grant{}, fmt.Errorf("cannot create a token for ServiceAccount %q: %w", name, err)
	}
	cluster := &clientcmdapi.Cluster{
		Server: t.config.Host, CertificateAuthorityData: t.config.CAData, TLSServerName: t.config.ServerName,
		InsecureSkipTLSVerify: t.config.Insecure, ProxyURL: proxyOf(t.config),
	}
	raw, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{config.Name: cluster},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: token.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{config.Name: {Cluster: config.Name, AuthInfo: name}},
		CurrentContext: config.Name,
	})
	// The cluster may grant another time than what was asked for, and then says so.
	granted := ptr.Deref(token.Spec.ExpirationSeconds, expiration(config))
	return raw, grant{token.Status.ExpirationTimestamp.Time, time.Duration(granted) * time.Second}, err
}

// proxyOf returns the proxy that a kubeconfig names; empty for none.
func proxyOf(config *rest.Config) string {
	if config.Proxy == nil {
		return ""
	}
	proxy, err := config.Proxy(&http.Request{URL: &url.URL{}}) // it is one for all requests
	if err != nil || proxy == nil {
		return ""
	}
	return proxy.String()
}

// ensureAccount creates the ServiceAccount, unless it exists.
func (t *target) ensureAccount(ctx context.Context, config *clusterprovisionerv1alpha1.Kubeconfig, name string) error {
	accounts := t.client.CoreV1().ServiceAccounts(metav1.NamespaceSystem)
	live, err := accounts.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metaFor(config, name)}, asWindlass())
		return err
	}
	if err == nil && !wasIssuedFor(config, live) {
		return errForeign
	}
	return err
}

// ensureBinding binds the ServiceAccount to its role, and nobody else. The role of a binding is immutable: another role takes another binding.
func (t *target) ensureBinding(ctx context.Context, config *clusterprovisionerv1alpha1.Kubeconfig, name string) error {
	bindings := t.client.RbacV1().ClusterRoleBindings()
	live, err := bindings.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return err
	case !wasIssuedFor(config, live):
		return errForeign
	case binds(live, config, name):
		return nil
	default:
		gone := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &live.UID}}
		if err := bindings.Delete(ctx, name, gone); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	_, err = bindings.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metaFor(config, name), RoleRef: roleRef(config), Subjects: subjects(name),
	}, asWindlass())
	return err
}

// unbound reports whether the cluster says that the ServiceAccount has not the role that its token is for. A cluster that does not answer says
// nothing.
func (t *target) unbound(ctx context.Context, config *clusterprovisionerv1alpha1.Kubeconfig, name string) bool {
	live, err := t.client.RbacV1().ClusterRoleBindings().Get(ctx, name, metav1.GetOptions{})
	return apierrors.IsNotFound(err) || err == nil && !binds(live, config, name)
}

// binds reports whether a binding gives the ServiceAccount its role, and nobody else.
func binds(binding *rbacv1.ClusterRoleBinding, config *clusterprovisionerv1alpha1.Kubeconfig, name string) bool {
	return binding.RoleRef == roleRef(config) && slices.Equal(binding.Subjects, subjects(name))
}

func roleRef(config *clusterprovisionerv1alpha1.Kubeconfig) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: roleOf(config)}
}

func subjects(name string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: name}}
}

// revoke deletes the ServiceAccount, which ends its tokens, and its binding. What does not exist or was not made for this Kubeconfig is
// left alone. It returns the kinds of what it has deleted.
func (t *target) revoke(ctx context.Context, config *clusterprovisionerv1alpha1.Kubeconfig, name string) (deleted []string, err error) {
	bindings, accounts := t.client.RbacV1().ClusterRoleBindings(), t.client.CoreV1().ServiceAccounts(metav1.NamespaceSystem)
	binding, err := bindings.Get(ctx, name, metav1.GetOptions{})
	if err == nil && wasIssuedFor(config, binding) {
		err = bindings.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &binding.UID}})
		if err == nil {
			deleted = append(deleted, kindBinding)
		}
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("cannot delete %s %q: %w", kindBinding, name, err)
	}
	account, err := accounts.Get(ctx, name, metav1.GetOptions{})
	if err == nil && wasIssuedFor(config, account) {
		err = accounts.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &account.UID}})
		if err == nil {
			deleted = append(deleted, kindAccount)
		}
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("cannot delete %s %q: %w", kindAccount, name, err)
	}
	return deleted, nil
}

func metaFor(config *clusterprovisionerv1alpha1.Kubeconfig, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: labelsOf(config)}
}
