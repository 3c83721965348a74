// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

const (
	gatewayAccount = "windlass-gateway"
	// gatewayNamespaces and the Deployments in each of them are the cluster that is listed: 5,000 pods' worth.
	gatewayNamespaces     = 50
	gatewayDeploymentsPer = 10
	gatewayReplicas       = 10
	// gatewayCallers share the streams.
	gatewayCallers = 10
)

// gatewayBench is a running gateway with callers.
type gatewayBench struct {
	*bench

	plane   *controlPlane
	section *section
	process *rig.Process
	base    string
	// profiles is where the gateway serves its profiles.
	profiles string
	tokens   []string
	// direct is the API server as the first caller.
	direct *rest.Config
}

// stage makes what is listed, and the callers.
func (g *gatewayBench) stage(ctx context.Context) error {
	g.tell("      adding %d nodes and %d Deployments", g.options.Nodes, gatewayNamespaces*gatewayDeploymentsPer)
	if err := g.plane.addNodes(ctx, g.options.Nodes); err != nil {
		return err
	}
	for i := range gatewayNamespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("team-%02d", i)}}
		if err := client.IgnoreAlreadyExists(g.plane.Client.Create(ctx, namespace)); err != nil {
			return fmt.Errorf("cannot create namespace %q: %w", namespace.Name, err)
		}
	}
	err := forEach(ctx, writers, gatewayNamespaces*gatewayDeploymentsPer, func(ctx context.Context, i int) error {
		return client.IgnoreAlreadyExists(g.plane.Client.Create(ctx, gatewayDeployment(i)))
	})
	if err != nil {
		return fmt.Errorf("cannot create a Deployment: %w", err)
	}
	reader := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "bench-reader"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"", "apps"}, Resources: []string{"nodes", "namespaces", "deployments", "pods", "pods/log"}, Verbs: []string{"get", "list", "watch"},
		}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bench-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "bench-reader"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:serviceaccounts:team-00"}},
	}
	if err := errors.Join(g.plane.Client.Create(ctx, reader), g.plane.Client.Create(ctx, binding)); err != nil {
		return fmt.Errorf("cannot add the callers' rights: %w", err)
	}
	for i := range gatewayCallers {
		token, err := g.plane.accountToken(ctx, "team-00", fmt.Sprintf("caller-%d", i))
		if err != nil {
			return err
		}
		g.tokens = append(g.tokens, token)
	}
	g.direct = rest.AnonymousClientConfig(g.plane.Config)
	g.direct.BearerToken, g.direct.QPS, g.direct.UserAgent = g.tokens[0], -1, agentArticle+"/1"
	g.direct.DisableCompression = true
	return nil
}

func gatewayDeployment(i int) *appsv1.Deployment {
	labels := map[string]string{"app": fmt.Sprintf("web-%03d", i)}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("team-%02d", i%gatewayNamespaces), Name: fmt.Sprintf("web-%03d", i), Labels: labels,
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(gatewayReplicas)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example.com/web:v1"}}},
			},
		},
	}
}

// gatewayPod is a pod that has no node: what matters is that it is counted.
func gatewayPod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%02d", i%gatewayNamespaces), Name: fmt.Sprintf("pod-%05d", i)},
		Spec: corev1.PodSpec{
			Containers:                   []corev1.Container{{Name: "web", Image: "registry.example.com/web:v1"}},
			AutomountServiceAccountToken: new(false),
		},
	}
}

// accountToken returns a token of a ServiceAccount, which is made if it is not there.
func (r *controlPlane) accountToken(ctx context.Context, namespace, name string) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := client.IgnoreAlreadyExists(r.Client.Create(ctx, account)); err != nil {
		return "", fmt.Errorf("cannot create account %q: %w", name, err)
	}
	return r.Token(ctx, namespace, name)
}

// start starts the gateway under its shipped account.
func (g *gatewayBench) start(ctx context.Context) error {
	_, kubeconfig, err := g.plane.TakeAccount(ctx, gatewayAccount)
	if err != nil {
		return err
	}
	address, err := rig.FreeAddress(ctx)
	if err != nil {
		return err
	}
	if g.profiles, err = rig.FreeAddress(ctx); err != nil {
		return err
	}
	g.base = "http://" + address
	g.process, err = g.plane.startProgram(ctx, "gateway", g.plane.Windlass, "gateway", "--kubeconfig", kubeconfig, "--plaintext", "--bind-address", address,
		"--requests-per-second=0", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--pprof-bind-address", g.profiles)
	if err != nil {
		return err
	}
	web := &http.Client{}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = g.process.Until(waiting, 20*time.Millisecond, func(ctx context.Context) error {
		return fetch(ctx, web, question{g.base + "/v1/nodes?limit=1", g.tokens[0], ""})
	})
	if err != nil {
		return err
	}
	return pause(ctx, settled)
}

// fetch reads an answer to its end.
func fetch(ctx context.Context, web *http.Client, asks question) error {
	body, err := ask(ctx, web, asks)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, body)
	return errors.Join(err, body.Close())
}
