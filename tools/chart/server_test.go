// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// patience is how long a state may take: long, because a machine may be slow.
const patience = 3 * time.Minute

// startServer starts an API server, or skips the test where it was not built.
func startServer(t *testing.T) *rest.Config {
	t.Helper()
	if testing.Short() {
		t.Skip("needs an API server, which -short leaves out")
	}
	log.SetLogger(logr.Discard())
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join(root, "bin", "k8s")
	}
	if _, err := os.Stat(filepath.Join(assets, "kube-apiserver")); err != nil {
		t.Skipf("needs an API server in %s: run \"make build\" first", assets)
	}
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assets, ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: patience,
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// installation is what Helm's commands work with.
type installation struct {
	*action.Configuration

	client client.Client
}

// newRelease makes the namespace, as "helm install --create-namespace" and an administrator do, and connects Helm.
func newRelease(t *testing.T, config *rest.Config) *installation {
	t.Helper()
	live, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	restricted := map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	if err := live.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: restricted}}); err != nil {
		t.Fatal(err)
	}
	flags := genericclioptions.NewConfigFlags(false)
	flags.WrapConfigFn = func(*rest.Config) *rest.Config { return config }
	flags.Namespace = new(namespace)
	r := &installation{Configuration: &action.Configuration{}, client: live}
	if err := r.Init(flags, namespace, "secret", t.Logf); err != nil {
		t.Fatal(err)
	}
	kube.ManagedFieldsManager = "helm"
	return r
}

// has reports whether an object is there.
func (r *installation) has(ctx context.Context, apiVersion, kind, name string) (bool, error) {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	key := client.ObjectKey{Name: name}
	if slices.Contains([]string{"Deployment", "Service", "NetworkPolicy", "Role"}, kind) {
		key.Namespace = namespace
	}
	err := r.client.Get(ctx, key, object)
	return err == nil, client.IgnoreNotFound(err)
}

const rbac = "rbac.authorization.k8s.io/v1"

// expect compares what is there with what should be.
func (r *installation) expect(t *testing.T, when string, want map[[3]string]bool) {
	t.Helper()
	for object, there := range want {
		if got, err := r.has(t.Context(), object[0], object[1], object[2]); err != nil || got != there {
			t.Errorf("%s: %v is there: %t (%v), want %t", when, object, got, err, there)
		}
	}
}

// TestInstallUpgradeAndUninstall lives through a release on a real API server, with Helm's own code.
func TestInstallUpgradeAndUninstall(t *testing.T) {
	t.Parallel()
	r := newRelease(t, startServer(t))
	manager, gateway := [3]string{"apps/v1", "Deployment", "windlass"}, [3]string{"apps/v1", "Deployment", "windlass-gateway"}
	podset, lease := [3]string{rbac, "ClusterRole", "windlass-podset-controller"}, [3]string{rbac, "Role", "windlass-leader-election"}
	pools := [3]string{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "nodepools.nodes.lailin.xyz"}

	install := action.NewInstall(r.Configuration)
	install.ReleaseName, install.Namespace, install.Timeout = "windlass", namespace, patience
	if _, err := install.RunWithContext(t.Context(), loadChart(t), values(t, allValues)); err != nil {
		t.Fatal(err)
	}
	r.expect(t, "installed", map[[3]string]bool{manager: true, gateway: true, podset: true, lease: true, pools: true})
	r.podsAreRestricted(t)

	pool := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "nodes.lailin.xyz/v1", "kind": "NodePool", "metadata": map[string]any{"name": "kept"}, "spec": map[string]any{},
	}}
	eventually(t, func(ctx context.Context) error { return client.IgnoreAlreadyExists(r.client.Create(ctx, pool)) })

	upgrade := action.NewUpgrade(r.Configuration)
	upgrade.Namespace, upgrade.Timeout = namespace, patience
	less := `{controllers: {podset: {enabled: false}}}`
	if _, err := upgrade.RunWithContext(t.Context(), "windlass", loadChart(t), values(t, less)); err != nil {
		t.Fatal(err)
	}
	r.expect(t, "upgraded to less", map[[3]string]bool{manager: true, gateway: false, podset: false, lease: true, pools: true})

	uninstall := action.NewUninstall(r.Configuration)
	uninstall.Timeout = patience
	if _, err := uninstall.Run("windlass"); err != nil {
		t.Fatal(err)
	}
	r.expect(t, "uninstalled", map[[3]string]bool{manager: false, podset: false, lease: false, pools: true})
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
		t.Errorf("the pool did not outlive the release: %v", err)
	}

	again := action.NewInstall(r.Configuration)
	again.ReleaseName, again.Namespace, again.Timeout = "windlass", namespace, patience
	if _, err := again.RunWithContext(t.Context(), loadChart(t), values(t, `{crds: {keep: false}}`)); err != nil {
		t.Fatalf("it cannot be installed again over the CRDs that were kept: %v", err)
	}
	if _, err := action.NewUninstall(r.Configuration).Run("windlass"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		there, err := r.has(ctx, pools[0], pools[1], pools[2])
		if there {
			err = errors.New("the CRD is still there")
		}
		return err
	})
}

// newerChart is the chart of a version whose pools have one field more.
func newerChart(t *testing.T) *chart.Chart {
	t.Helper()
	newer := loadChart(t)
	const first = "\n              allowedNamespaces:\n"
	for _, file := range newer.Templates {
		if strings.HasSuffix(file.Name, "/crds/nodepools.nodes.lailin.xyz.yaml") && bytes.Contains(file.Data, []byte(first)) {
			file.Data = bytes.Replace(file.Data, []byte(first), []byte("\n              newer:\n                type: string"+first), 1)
			return newer
		}
	}
	t.Fatal("the CRD of pools does not begin with allowedNamespaces")
	return nil
}

// A person went back to an older version, and with its CRDs the API server dropped what only the newer one knew. Without the CRDs in the chart, Helm would
// delete them, unless the release keeps them.
func TestGoingBackDropsWhatTheNewerVersionKnew(t *testing.T) {
	t.Parallel()
	r := newRelease(t, startServer(t))
	install := action.NewInstall(r.Configuration)
	install.ReleaseName, install.Namespace, install.Timeout = "windlass", namespace, patience
	if _, err := install.RunWithContext(t.Context(), newerChart(t), values(t, `{crds: {keep: false}}`)); err != nil {
		t.Fatal(err)
	}
	pool := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "nodes.lailin.xyz/v1", "kind": "NodePool", "metadata": map[string]any{"name": "kept"}, "spec": map[string]any{"newer": "kept"},
	}}
	eventually(t, func(ctx context.Context) error { return client.IgnoreAlreadyExists(r.client.Create(ctx, pool)) })
	upgrade := func(to *chart.Chart, with string) error {
		next := action.NewUpgrade(r.Configuration)
		next.Namespace, next.Timeout, next.ResetThenReuseValues = namespace, patience, true
		_, err := next.RunWithContext(t.Context(), "windlass", to, values(t, with))
		return err
	}
	if err := upgrade(loadChart(t), `{crds: {install: false}}`); err == nil || !strings.Contains(err.Error(), "upgrade with crds.keep=true") {
		t.Errorf("an upgrade that would delete the CRDs is answered with %v", err)
	}
	if err := upgrade(newerChart(t), `{crds: {keep: true}}`); err != nil {
		t.Fatal(err)
	}
	if err := upgrade(loadChart(t), `{crds: {install: false}}`); err != nil { // as docs/guide/upgrading.md says
		t.Fatal(err)
	}
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
		t.Fatal(err)
	}
	pool.SetLabels(map[string]string{"written": "again"})
	if err := r.client.Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	if newer, _, _ := unstructured.NestedString(pool.Object, "spec", "newer"); newer != "kept" {
		t.Errorf("the pool has lost the field of the newer version: %v", pool.Object["spec"])
	}
}

// TestEveryObjectIsApplied applies each rendered object server-side, as "helm install --server-side" of Helm 4 and "kubectl apply" do.
func TestEveryObjectIsApplied(t *testing.T) {
	t.Parallel()
	r := newRelease(t, startServer(t))
	all, err := rendered(t, allValues)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Hooks) != 1 {
		t.Errorf("there are %d hooks, want the one of helm test", len(all.Hooks))
	}
	manifests := []string{all.Manifest}
	for _, hook := range all.Hooks {
		manifests = append(manifests, hook.Manifest)
	}
	for id, content := range decode(t, strings.Join(manifests, "\n---\n")) {
		object := &unstructured.Unstructured{Object: content}
		if err := r.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("chart"), client.ForceOwnership); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// podsAreRestricted creates the Pods of all Deployments as a dry run, under Pod Security restricted.
func (r *installation) podsAreRestricted(t *testing.T) {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("apps/v1")
	list.SetKind("DeploymentList")
	if err := r.client.List(t.Context(), list, client.InNamespace(namespace)); err != nil || len(list.Items) != 2 {
		t.Fatalf("there are %d Deployments (%v), want 2", len(list.Items), err)
	}
	for i := range list.Items {
		template, _, err := unstructured.NestedMap(list.Items[i].Object, "spec", "template")
		if err != nil {
			t.Fatal(err)
		}
		pod := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod); err != nil {
			t.Fatal(err)
		}
		pod.Namespace, pod.Name = namespace, "restricted"
		if err := r.client.Create(t.Context(), pod, client.DryRunAll); err != nil {
			t.Error(err)
		}
		pod.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = new(true)
		if err := r.client.Create(t.Context(), pod, client.DryRunAll); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "PodSecurity") {
			t.Errorf("a pod with more rights is answered with %v: Pod Security does not hold here", err)
		}
	}
}

// eventually waits until a check succeeds.
func eventually(t *testing.T, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(fmt.Errorf("not within %s: %w", patience, err))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}
