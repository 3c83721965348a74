// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func numbered(prefix string, i int) string { return fmt.Sprintf("%s-%d", prefix, i) }

// fullPool has everything that leads to a binding.
func fullPool(name string) *nodesv1.NodePool {
	selector := metav1.LabelSelector{
		MatchLabels: map[string]string{"b": "2", "a": "1", "c": "3"},
		MatchExpressions: []metav1.LabelSelectorRequirement{
			requirement("d", metav1.LabelSelectorOpIn, "z", "y"), requirement("e", metav1.LabelSelectorOpExists),
		},
	}
	spec := allow(selector)
	spec.DefaultFor = &nodesv1.DefaultFor{NamespaceSelector: selector}
	return &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1-2-3"}, Spec: spec}
}

func refs(t *testing.T, pool *nodesv1.NodePool) []admission.Ref {
	t.Helper()
	bindings, err := admission.Bindings(pool, operatorNamespace)
	if err != nil {
		t.Fatal(err)
	}
	var out []admission.Ref
	for _, binding := range bindings {
		out = append(out, binding.Ref)
	}
	return out
}

func TestBindingsOfAPool(t *testing.T) {
	t.Parallel()
	const name = "gpu"
	defaulted := admission.Ref{Kind: admission.MutatingBinding, Name: "windlass-nodepool-default-gpu"}
	label := admission.Ref{Kind: admission.MutatingBinding, Name: "windlass-nodepool-label-gpu"}
	policy := admission.Ref{Kind: admission.ValidatingPolicy, Name: "windlass-nodepool-allowed-gpu"}
	allowed := admission.Ref{Kind: admission.ValidatingBinding, Name: "windlass-nodepool-allowed-gpu"}
	if diff := cmp.Diff([]admission.Ref{defaulted, label, allowed, policy}, admission.BindingNames(name)); diff != "" {
		t.Errorf("the names (-want +got):\n%s", diff)
	}
	cases := map[string]struct {
		change func(*nodesv1.NodePool)
		want   []admission.Ref
	}{
		"one with everything": {
			change: func(*nodesv1.NodePool) {}, want: []admission.Ref{policy, allowed, label, defaulted},
		},
		"one that is for everybody": {
			change: func(pool *nodesv1.NodePool) {
				pool.Spec.AllowedNamespaces = &nodesv1.AllowedNamespaces{From: nodesv1.NamespacesFromAll}
			},
			want: []admission.Ref{label, defaulted},
		},
		"one that is nobody's default": {
			change: func(pool *nodesv1.NodePool) { pool.Spec.DefaultFor = nil }, want: []admission.Ref{policy, allowed, label},
		},
		"one that nobody may use is nobody's default": {
			change: func(pool *nodesv1.NodePool) { pool.Spec.AllowedNamespaces.Selector = nil },
			want:   []admission.Ref{policy, allowed, label},
		},
		"an empty one": {
			change: func(pool *nodesv1.NodePool) { pool.Spec = nodesv1.NodePoolSpec{} }, want: []admission.Ref{label},
		},
		"one that is being deleted": {
			change: func(pool *nodesv1.NodePool) { now := metav1.Now(); pool.DeletionTimestamp = &now },
			want:   []admission.Ref{policy, allowed},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := fullPool("gpu")
			tc.change(pool)
			if diff := cmp.Diff(tc.want, refs(t, pool)); diff != "" {
				t.Errorf("the bindings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLongNamesAreCutAndStayUnique(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 253)
	seen := map[admission.Ref]bool{}
	for _, pool := range []string{long, long[1:], "short"} {
		for _, ref := range admission.BindingNames(pool) {
			if len(ref.Name) > 253 || seen[ref] {
				t.Errorf("%v is too long or not unique", ref)
			}
			seen[ref] = true
		}
	}
}

func TestObjectsDoNotDependOnTheOrderOfMaps(t *testing.T) {
	t.Parallel()
	all := func() string {
		hash, err := patch.Hash(everyObject(t, fullPool("gpu")))
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	want := all()
	for range 20 {
		if got := all(); got != want {
			t.Fatalf("the hash is %s, then %s", want, got)
		}
	}
}

func TestWhatIsAppliedIsCovered(t *testing.T) {
	t.Parallel()
	h := harness(t)
	pool := createPool(t, h, "covered", fullPool("covered").Spec)
	for _, object := range everyObject(t, pool) {
		t.Run(string(object.Kind)+" "+object.Name, func(t *testing.T) {
			t.Parallel()
			live := object.Live()
			if !h.Get(t, live) {
				t.Fatal("it is not there")
			}
			if covered, err := object.CoveredBy(live); err != nil || !covered {
				t.Errorf("covered is %t, %v, right after it was applied", covered, err)
			}
			if live.GetAnnotations()[patch.AppliedHashAnnotation] == "" || live.GetLabels()[admission.LabelManagedBy] != admission.ManagedBy {
				t.Errorf("annotations are %v and labels %v", live.GetAnnotations(), live.GetLabels())
			}
			isOfPool, guards := live.GetLabels()[nodesv1.PoolLabel] != "", strings.HasPrefix(object.Name, "windlass-nodepool-allowed-")
			if isOfPool && live.GetLabels()[nodesv1.PoolLabel] != pool.Name || metav1.IsControlledBy(live, pool) != (isOfPool && !guards) {
				t.Errorf("labels are %v and owners %v", live.GetLabels(), live.GetOwnerReferences())
			}
			if got := admission.PoolOf(live); (got != "") != isOfPool || isOfPool && got != pool.Name {
				t.Errorf("it belongs to pool %q", got)
			}
			live.SetLabels(nil)
			if covered, err := object.CoveredBy(live); err != nil || covered {
				t.Errorf("covered is %t, %v, without its labels", covered, err)
			}
		})
	}
}

// rights are what the operator needs for this package; the API server says which one is missing.
func rights() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{
			APIGroups: []string{admissionregistrationv1.GroupName},
			Resources: []string{
				"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
				"validatingadmissionpolicies", "validatingadmissionpolicybindings",
			},
			Verbs: []string{"get", "create", "patch", "delete"},
		},
		// Who binds a policy to a parameter has to be able to read it.
		{APIGroups: []string{nodesv1.GroupName}, Resources: []string{"nodepools"}, Verbs: []string{"get"}},
		// Who blocks the deletion of an owner must be able to set its finalizers.
		{APIGroups: []string{nodesv1.GroupName}, Resources: []string{"nodepools/finalizers"}, Verbs: []string{"update"}},
	}
}

func TestRightsAreEnough(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "rights"}, Spec: fullPool("rights").Spec}
	named := metav1.ObjectMeta{Name: "admission-rights"}
	h.Create(t, pool,
		&rbacv1.ClusterRole{ObjectMeta: named, Rules: rights()},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: named,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: named.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: named.Name}},
		})
	config := rest.CopyConfig(h.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: named.Name}
	limited, err := client.New(config, client.Options{Scheme: h.Live.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	shared, err := admission.PolicyObjects(operatorNamespace)
	if err != nil {
		t.Fatal(err)
	}
	bindings, err := admission.Bindings(pool, operatorNamespace)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the role is in force", func() bool {
		return limited.Get(t.Context(), client.ObjectKeyFromObject(pool), &nodesv1.NodePool{}) == nil
	})
	apply(t, limited, slices.Concat(shared, bindings))
	for _, binding := range bindings {
		if err := limited.Delete(t.Context(), binding.Live()); err != nil {
			t.Error(err)
		}
	}
}

// The controller manager checks the types in the expressions of validating policies against the schemas of pods and pools.
func TestExpressionsAreWellTyped(t *testing.T) {
	t.Parallel()
	h := harness(t)
	program := filepath.Join(testkit.Root(), "bin", "k8s", "kube-controller-manager")
	if _, err := os.Stat(program); err != nil {
		t.Skip("needs kube-controller-manager in bin/k8s")
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: "test",
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		Clusters: map[string]*clientcmdapi.Cluster{
			"test": {Server: h.Config.Host, CertificateAuthorityData: h.Config.CAData},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			"test": {ClientCertificateData: h.Config.CertData, ClientKeyData: h.Config.KeyData},
		},
	}, kubeconfig); err != nil {
		t.Fatal(err)
	}
	manager := exec.CommandContext(t.Context(), program,
		"--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--controllers=validatingadmissionpolicy-status-controller")
	var output strings.Builder
	manager.Stdout, manager.Stderr = &output, &output
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = manager.Process.Kill()
		_ = manager.Wait()
		if t.Failed() {
			t.Log(output.String())
		}
	})

	createPool(t, h, "typed", fullPool("typed").Spec)
	for _, name := range []string{"windlass-nodepool-label", "windlass-nodepool-allowed-typed"} {
		policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
		testkit.Eventually(t, "the policy "+name+" is checked", func() bool {
			return h.Get(t, policy) && policy.Status.ObservedGeneration == policy.Generation && policy.Status.TypeChecking != nil
		})
		for _, warning := range policy.Status.TypeChecking.ExpressionWarnings {
			t.Errorf("%s of %s: %s", warning.FieldRef, name, warning.Warning)
		}
	}
}

func TestSupported(t *testing.T) {
	t.Parallel()
	mapper := func(kinds ...string) meta.RESTMapper {
		out := meta.NewDefaultRESTMapper(nil)
		for _, kind := range kinds {
			out.Add(admissionregistrationv1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeRoot)
		}
		return out
	}
	older := meta.NewDefaultRESTMapper(nil)
	older.Add(schema.GroupVersionKind{
		Group: admissionregistrationv1.GroupName, Version: "v1beta1", Kind: "MutatingAdmissionPolicy",
	}, meta.RESTScopeRoot)
	mutating, validating := "MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"
	cases := map[string]struct {
		mapper  meta.RESTMapper
		want    admission.Support
		missing []string
	}{
		"a server with both":    {mapper: mapper(mutating, validating), want: admission.Support{Mutating: true, Validating: true}},
		"a server before 1.36":  {mapper: mapper(validating), want: admission.Support{Validating: true}, missing: []string{mutating + " admissionregistration.k8s.io/v1"}},
		"a server with neither": {mapper: mapper(), missing: []string{mutating + " admissionregistration.k8s.io/v1", validating + " admissionregistration.k8s.io/v1"}},
		"a server with a beta":  {mapper: older, missing: []string{mutating + " admissionregistration.k8s.io/v1", validating + " admissionregistration.k8s.io/v1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := admission.Supported(tc.mapper)
			if err != nil || got != tc.want {
				t.Errorf("support is %+v, %v, want %+v", got, err, tc.want)
			}
			if diff := cmp.Diff(tc.missing, got.Missing()); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			if got.Has(admission.MutatingBinding) != tc.want.Mutating || got.Has(admission.ValidatingBinding) != tc.want.Validating {
				t.Error("bindings go with their policies")
			}
		})
	}
}

// unreachable is a mapper whose API server does not answer.
type unreachable struct{ meta.RESTMapper }

var errUnreachable = errors.New("connection refused")

func (unreachable) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	return nil, errUnreachable
}

func TestSupportedOnAnAPIServer(t *testing.T) {
	t.Parallel()
	if _, err := admission.Supported(unreachable{}); !errors.Is(err, errUnreachable) {
		t.Errorf("the error is %v, want that of the API server", err)
	}
	h := testkit.New(t)
	got, err := admission.Supported(h.Live.RESTMapper())
	if err != nil || len(got.Missing()) != 0 {
		t.Errorf("missing is %v, %v", got.Missing(), err)
	}
}
