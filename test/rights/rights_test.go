// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights runs each controller alone, as a process with the rights of its own role and no others, and compares the audit log of
// the API server with what the role grants: nothing is refused, and nothing is granted that nothing uses.
package rights

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-operator/windlass/test/rig"
)

const (
	// patience is how long a state may take: long, because a machine may be slow.
	patience = 2 * time.Minute
	// pollInterval is how often a state is looked at.
	pollInterval = 200 * time.Millisecond
)

// auditPolicy makes the API server note every request of a service account of Windlass, once it has been answered, or begun if it is a
// watch.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts:` + rig.Namespace + `"]
- level: None
`

// stage is an API server with what an administrator applies.
type stage struct {
	rig.Cluster

	audit string
}

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// newStage starts an API server, or skips the test where it, or the program, was not built.
func newStage(t *testing.T) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("needs an API server, which -short leaves out")
	}
	programs, err := rig.FindPrograms()
	must(t, err)
	s := &stage{Cluster: rig.Cluster{Programs: programs, Name: "rights"}}
	if err := rig.CheckBuilt(s.Windlass, s.Kubectl, s.Kubernetes("etcd"), s.Kubernetes("kube-apiserver")); err != nil {
		t.Skip(err)
	}
	must(t, s.MakeDir())
	t.Cleanup(func() { must(t, s.RemoveDir()) })
	policy := filepath.Join(s.Dir, "audit-policy.yaml")
	must(t, os.WriteFile(policy, []byte(auditPolicy), 0o600))
	s.audit = filepath.Join(s.Dir, "audit.log")
	environment := &envtest.Environment{
		BinaryAssetsDirectory: filepath.Dir(s.Kubectl), ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: patience,
	}
	environment.ControlPlane.GetAPIServer().Configure().
		Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement").
		Set("audit-policy-file", policy).Set("audit-log-path", s.audit)
	t.Cleanup(func() { must(t, environment.Stop()) })
	config, err := environment.Start()
	must(t, err)
	must(t, s.Connect(config))
	must(t, rig.WriteKubeconfig(s.Admin, config))
	must(t, s.Install(t.Context()))
	return s
}

// TestEachControllerAlone runs each controller under the role that is shipped for it, through the life of what it manages.
//
//nolint:paralleltest // because the audit log tells one controller at a time
func TestEachControllerAlone(t *testing.T) {
	s := newStage(t)
	for name, of := range controllers() {
		t.Run(name, func(t *testing.T) {
			granted, kubeconfig := s.account(t, name)
			log := filepath.Join(t.TempDir(), "manager.log")
			manager, err := s.StartManager(t.Context(), kubeconfig, log,
				append([]string{"--controllers=" + name, "--state-dir=" + t.TempDir()}, of.args...)...)
			must(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			defer func() {
				if code, err := manager.End(syscall.SIGTERM, patience); code != 0 || err != nil {
					t.Errorf("the manager ended with code %d: %v", code, err)
				}
				if t.Failed() {
					t.Logf("log of the manager:\n%s", manager.Tail())
				}
			}()
			must(t, manager.Ready(ctx, pollInterval))
			of.live(t, s, name)
			s.compare(t, name, granted, of.unseen)
		})
	}
}

// account makes a ServiceAccount that is bound to what is shipped for the controller, and to the Lease. It returns what that grants.
func (s *stage) account(t *testing.T, name string) (granted map[string]bool, kubeconfig string) {
	t.Helper()
	account := "only-" + name
	must(t, s.Client.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: rig.Namespace, Name: account}}))
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: rig.Namespace, Name: account}}
	granted = map[string]bool{}
	for _, document := range s.documents(t, filepath.Join("controllers", name)) {
		switch object := document.(type) {
		case *rbacv1.ClusterRole:
			grant(granted, object.Rules)
		case *rbacv1.Role:
			grant(granted, object.Rules)
		case *rbacv1.ClusterRoleBinding:
			must(t, s.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: account + "-" + object.Name}, RoleRef: object.RoleRef, Subjects: subjects,
			}))
		case *rbacv1.RoleBinding:
			s.bind(t, account, object.RoleRef, subjects)
		}
	}
	s.bind(t, account, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "windlass-leader-election"}, subjects)
	_, kubeconfig, err := s.TakeAccount(t.Context(), account)
	must(t, err)
	return granted, kubeconfig
}

func (s *stage) bind(t *testing.T, account string, role rbacv1.RoleRef, subjects []rbacv1.Subject) {
	t.Helper()
	must(t, s.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: rig.Namespace, Name: account + "-" + role.Name}, RoleRef: role, Subjects: subjects,
	}))
}

// documents returns the roles and bindings that a directory of config/rbac has.
func (s *stage) documents(t *testing.T, directory string) []client.Object {
	t.Helper()
	built := s.Run(t.Context(), s.Kubectl, "kustomize", filepath.Join(s.Root, "config", "rbac", directory))
	if built.Code != 0 {
		t.Fatal(built.Err)
	}
	var objects []client.Object
	for document := range strings.SplitSeq(built.Out, "\n---\n") {
		var kind metav1.TypeMeta
		must(t, utilyaml.Unmarshal([]byte(document), &kind))
		object, ok := map[string]client.Object{
			"ClusterRole": &rbacv1.ClusterRole{}, "Role": &rbacv1.Role{},
			"ClusterRoleBinding": &rbacv1.ClusterRoleBinding{}, "RoleBinding": &rbacv1.RoleBinding{},
		}[kind.Kind]
		if !ok {
			continue
		}
		must(t, utilyaml.UnmarshalStrict([]byte(document), object))
		objects = append(objects, object)
	}
	return objects
}

// grant adds what the rules grant, as in "patch nodepools/status.nodes.lailin.xyz".
func grant(granted map[string]bool, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					granted[right(verb, resource, group)] = true
				}
			}
		}
	}
}

func right(verb, resource, group string) string {
	return strings.TrimSuffix(verb+" "+resource+"."+group, ".")
}

// compare compares what was granted with what was used.
func (s *stage) compare(t *testing.T, name string, granted map[string]bool, unseen map[string]string) {
	t.Helper()
	var used map[string]bool
	var refused []string
	// What follows the end of an object, such as deleting what the last of its kind shared, may still be under way.
	eventually(t, func(context.Context) error {
		used, refused = s.requests(t, "only-"+name)
		var unused []string
		for one := range granted {
			if !used[one] && !streamed(used, one) && unseen[one] == "" {
				unused = append(unused, one)
			}
		}
		slices.Sort(unused)
		if len(unused) > 0 {
			return fmt.Errorf("these rights are granted and nothing uses them:\n%s", strings.Join(unused, "\n"))
		}
		return nil
	})
	if len(refused) > 0 {
		t.Errorf("the API server refused:\n%s", strings.Join(refused, "\n"))
	}
	for one := range unseen {
		if used[one] || !granted[one] {
			t.Errorf("%q is among the rights whose use is not seen; it is used, or not granted", one)
		}
	}
}

// streamed reports whether a right is to list what is watched. An API server that can stream lists is only asked to watch; one that cannot is
// asked for both.
func streamed(used map[string]bool, one string) bool {
	listed, found := strings.CutPrefix(one, "list ")
	return found && used["watch "+listed]
}

// eventually waits until a check succeeds.
func eventually(t *testing.T, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, rig.Until(ctx, pollInterval, check))
}

// gone waits until an object is gone.
func (s *stage) gone(t *testing.T, object client.Object) {
	t.Helper()
	must(t, client.IgnoreNotFound(s.Client.Delete(t.Context(), object)))
	eventually(t, func(ctx context.Context) error {
		err := s.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New(object.GetName()+" is still there"), err)
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
