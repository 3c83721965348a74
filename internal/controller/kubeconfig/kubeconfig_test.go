// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// stage is what a test of the reconciler plays on. The API server of the tests plays the provisioned cluster too.
type stage struct {
	*testkit.Harness

	t         *testing.T
	r         *Reconciler
	namespace string
	cluster   *clusterprovisionerv1alpha1.Cluster
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	s := &stage{Harness: testkit.New(t), t: t}
	s.namespace = s.Namespace(t)
	s.r = New(s.Client, s.Direct, s.Events, time.Now, Options{Namespace: s.namespace})
	return s
}

// admin is the kubeconfig that the tool would have written.
func (s *stage) admin() []byte {
	s.t.Helper()
	raw, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: s.Config.Host, CertificateAuthorityData: s.Config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {ClientCertificateData: s.Config.CertData, ClientKeyData: s.Config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// provisioned creates a Cluster that has a kubeconfig.
func (s *stage) provisioned() {
	s.t.Helper()
	s.cluster = &clusterprovisionerv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "one-"},
		Spec:       clusterprovisionerv1alpha1.ClusterSpec{ConfigPath: "/does/not/matter"},
	}
	s.Create(s.t, s.cluster)
	s.Create(s.t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, Name: s.cluster.Name + "-kubeconfig",
			Labels: map[string]string{clusterprovisionerv1alpha1.ClusterUIDLabel: string(s.cluster.UID)},
		},
		Data: map[string][]byte{"value": s.admin()},
	})
	testkit.EditStatus(s.t, s.Harness, s.cluster, func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Status.KubeconfigRef = &corev1.SecretReference{Namespace: s.namespace, Name: c.Name + "-kubeconfig"}
	})
}

// create creates a Kubeconfig for the stage's cluster, changed as asked, and lets it settle.
func (s *stage) create(change ...func(*clusterprovisionerv1alpha1.Kubeconfig)) *clusterprovisionerv1alpha1.Kubeconfig {
	s.t.Helper()
	config := &clusterprovisionerv1alpha1.Kubeconfig{ObjectMeta: metav1.ObjectMeta{GenerateName: "way-"}}
	if s.cluster != nil {
		config.Spec.ClusterRef = &clusterprovisionerv1alpha1.ClusterReference{Name: s.cluster.Name}
	}
	for _, c := range change {
		c(config)
	}
	s.Create(s.t, config)
	s.Settle(s.t, s.r, config)
	return config
}

func token(config *clusterprovisionerv1alpha1.Kubeconfig) {
	config.Spec.Type = clusterprovisionerv1alpha1.KubeconfigServiceAccountToken
}

// is checks status and reason of a condition.
func (s *stage) is(config *clusterprovisionerv1alpha1.Kubeconfig, conditionType, want string) {
	s.t.Helper()
	if got := testkit.Condition(config, conditionType); !testkit.Reads(got, want) {
		s.t.Errorf("condition %s is %q, want %q", conditionType, got, want)
	}
}

// holds checks that the Kubeconfig is Ready, and that its Secret is the one of that name in Windlass' namespace.
func (s *stage) holds(config *clusterprovisionerv1alpha1.Kubeconfig, name string) {
	s.t.Helper()
	s.is(config, status.Ready, "True Ready: Secret "+s.namespace+"/"+name+" holds the kubeconfig")
	want := &corev1.SecretReference{Namespace: s.namespace, Name: name}
	if diff := cmp.Diff(want, config.Status.SecretRef); diff != "" {
		s.t.Errorf("the Secret in the status (-want +got):\n%s", diff)
	}
}

// secret reads the Secret of the Kubeconfig.
func (s *stage) secret(config *clusterprovisionerv1alpha1.Kubeconfig) *corev1.Secret {
	s.t.Helper()
	ref := config.Status.SecretRef
	if ref == nil {
		s.t.Fatal("the status names no Secret")
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}}
	if !s.Get(s.t, secret) {
		s.t.Fatalf("there is no Secret %s", secret.Name)
	}
	return secret
}

// enter returns a client that enters the cluster with what the Secret holds.
func (s *stage) enter(secret *corev1.Secret) client.Client {
	s.t.Helper()
	target, err := kube.Target(secret.Data["value"])
	if err != nil {
		s.t.Fatal(err)
	}
	inside, err := client.New(target, client.Options{Scheme: kube.NewScheme()})
	if err != nil {
		s.t.Fatal(err)
	}
	return inside
}

func TestTheKubeconfigOfAClusterIsTheClusters(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create()
	s.holds(config, s.cluster.Name+"-kubeconfig")
	if config.Status.ExpiresAt == nil || config.Status.Server != s.Config.Host {
		t.Errorf("the status is %+v", config.Status)
	}
	if len(config.Finalizers) != 0 {
		t.Errorf("finalizers are %v, and there is nothing to undo", config.Finalizers)
	}
}

func TestACopyGoesWhereItIsWanted(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Spec.WriteSecretToRef = &corev1.SecretReference{Namespace: s.namespace, Name: "copy"}
	})
	secret := s.secret(config)
	if secret.Name != "copy" || !bytes.Equal(secret.Data["value"], s.admin()) || secret.Type != "cluster.x-k8s.io/secret" {
		t.Errorf("the Secret is %s of type %s", secret.Name, secret.Type)
	}
	if err := s.Live.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	s.Settle(t, s.r, config)
	s.secret(config)
}

func TestTheArticlesFormReadsTheFile(t *testing.T) {
	s := newStage(t)
	path := filepath.Join(t.TempDir(), "kube_config_cluster.yml")
	config := s.create(func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.ConfigPath = path })
	s.is(config, status.Ready, `False KubeconfigMissing: waiting for file "`+path+`" to be written`)
	if err := os.WriteFile(path, s.admin(), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
	if !bytes.Equal(s.secret(config).Data["value"], s.admin()) {
		t.Error("the Secret holds something else than the file")
	}
}

func TestAKubeconfigWaitsForItsCluster(t *testing.T) {
	s := newStage(t)
	config := s.create(func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Spec.ClusterRef = &clusterprovisionerv1alpha1.ClusterReference{Name: "nowhere"}
	})
	s.is(config, status.Ready, `False ClusterNotFound: waiting for Cluster "nowhere" to be created`)
}

func TestAForeignSecretIsLeftAlone(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	foreign := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "taken"}, StringData: map[string]string{"value": "mine"},
	}
	s.Create(t, foreign)
	for _, kind := range []func(*clusterprovisionerv1alpha1.Kubeconfig){token, func(*clusterprovisionerv1alpha1.Kubeconfig) {}} {
		config := s.create(kind, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
			k.Spec.WriteSecretToRef = &corev1.SecretReference{Namespace: s.namespace, Name: "taken"}
		})
		s.is(config, status.Stalled, "True SecretConflict: the Secret "+s.namespace+"/taken exists and does not belong to this Kubeconfig: delete it, or name another in "+
			"spec.writeSecretToRef")
	}
	if !s.Get(t, foreign) || string(foreign.Data["value"]) != "mine" {
		t.Errorf("the Secret holds %q", foreign.Data["value"])
	}
}

func TestATokenOpensTheClusterUntilItIsRevoked(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "reader-of-" + s.cluster.Name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
	}
	s.Create(t, role)
	config := s.create(token, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.ClusterRole = role.Name })
	s.holds(config, config.Name+"-kubeconfig")
	secret := s.secret(config)
	inside := s.enter(secret)
	testkit.Eventually(t, "the token opens the cluster", func() bool {
		return inside.List(t.Context(), &corev1.PodList{}) == nil // the authorizer learns of a binding by a watch
	})
	if err := inside.List(t.Context(), &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		t.Errorf("the token may read Secrets: %v", err)
	}
	if left := time.Until(config.Status.ExpiresAt.Time); left <= 0 || left > 2*time.Hour {
		t.Errorf("it is valid for %s", left)
	}
	if err := s.Live.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	s.SettleKey(t, s.r, client.ObjectKeyFromObject(config))
	if s.Get(t, config) || s.Get(t, secret) {
		t.Error("the Kubeconfig or its Secret is still there")
	}
	testkit.Eventually(t, "the token is worth nothing", func() bool {
		return apierrors.IsUnauthorized(inside.List(t.Context(), &corev1.PodList{}))
	})
}

func TestWhatIsMadeInTheClusterIsManagedByWindlass(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.ClusterRole = "view" })
	s.holds(config, config.Name+"-kubeconfig")
	for _, object := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: accountOf(config)}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: accountOf(config)}},
	} {
		if !s.Get(t, object) {
			t.Fatalf("%T %q is missing", object, object.GetName())
		}
		var managers []string
		for _, entry := range object.GetManagedFields() {
			managers = append(managers, entry.Manager)
		}
		if diff := cmp.Diff([]string{"windlass"}, managers); diff != "" {
			t.Errorf("managers of %T %q (-want +got):\n%s", object, object.GetName(), diff)
		}
	}
}

func TestATokenIsRenewedAfterTwoThirdsOfItsLife(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	first := s.secret(config).Data["value"]
	s.Settle(t, s.r, config)
	if !bytes.Equal(first, s.secret(config).Data["value"]) {
		t.Error("the token was renewed without need")
	}
	s.r.Now = func() time.Time { return time.Now().Add(41 * time.Minute) }
	s.Settle(t, s.r, config)
	if bytes.Equal(first, s.secret(config).Data["value"]) {
		t.Error("the token was not renewed")
	}
}

func TestAnotherRoleIsBoundAnew(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.ClusterRole = "edit" })
	s.Settle(t, s.r, config)
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "windlass-" + config.Name}}
	if !s.Get(t, binding) || binding.RoleRef.Name != "edit" {
		t.Errorf("the binding is for %q", binding.RoleRef.Name)
	}
}

// TestATokenWithoutItsRoleStaysSoUntilItsRenewal is about a binding that somebody has deleted or edited in the cluster.
func TestATokenWithoutItsRoleStaysSoUntilItsRenewal(t *testing.T) {
	edit := func(s *stage, binding *rbacv1.ClusterRoleBinding, change func([]rbacv1.Subject) []rbacv1.Subject) {
		testkit.Edit(s.t, s.Harness, binding, func(b *rbacv1.ClusterRoleBinding) { b.Subjects = change(b.Subjects) })
	}
	other := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "other"}
	for name, spoil := range map[string]func(*stage, *rbacv1.ClusterRoleBinding){
		"the binding is gone": func(s *stage, binding *rbacv1.ClusterRoleBinding) {
			if err := s.Live.Delete(s.t.Context(), binding); err != nil {
				s.t.Fatal(err)
			}
		},
		"the binding is for nobody": func(s *stage, binding *rbacv1.ClusterRoleBinding) {
			edit(s, binding, func([]rbacv1.Subject) []rbacv1.Subject { return nil })
		},
		"the binding is for somebody else, too": func(s *stage, binding *rbacv1.ClusterRoleBinding) {
			edit(s, binding, func(those []rbacv1.Subject) []rbacv1.Subject { return append(those, other) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.provisioned()
			config := s.create(token)
			binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: accountOf(config)}}
			spoil(s, binding)
			s.Settle(t, s.r, config)
			s.holds(config, config.Name+"-kubeconfig")
			if !s.Get(t, binding) {
				t.Fatal("there is no binding")
			}
			if diff := cmp.Diff(subjects(accountOf(config)), binding.Subjects); diff != "" {
				t.Errorf("the binding is for (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnotherServiceAccountRevokesTheOneBefore(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	before := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "windlass-" + config.Name}}
	if !s.Get(t, before) {
		t.Fatal("there is no ServiceAccount")
	}
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.ServiceAccount = "other-" + k.Name })
	s.Settle(t, s.r, config)
	if s.Get(t, before) {
		t.Error("the ServiceAccount before is still there")
	}
	s.holds(config, config.Name+"-kubeconfig")
}

func TestAForeignServiceAccountIsLeftAlone(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	foreign := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "owned-" + s.cluster.Name}}
	s.Create(t, foreign)
	config := s.create(token, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.ServiceAccount = foreign.Name })
	s.is(config, status.Stalled, `True TokenRefused: cannot create ServiceAccount "`+foreign.Name+`": it exists in the cluster and was not made for this Kubeconfig`)
	if err := s.Live.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	s.SettleKey(t, s.r, client.ObjectKeyFromObject(config))
	if !s.Get(t, foreign) {
		t.Error("the foreign ServiceAccount is gone")
	}
	if got := s.Events.Reasons(); slices.Contains(got, clusterprovisionerv1alpha1.ReasonRevoked) {
		t.Errorf("the events are %v, and nothing was deleted", got)
	}
}

// TestARestoredKubeconfigRenewsItsToken has a cluster with what the object of the backup has made there, under its UID.
func TestARestoredKubeconfigRenewsItsToken(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	first := s.secret(config).Data["value"]
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "windlass-" + config.Name}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "windlass-" + config.Name}}
	before := func(object client.Object) { object.SetLabels(map[string]string{labelUID: "before"}) }
	testkit.Edit(t, s.Harness, account, func(a *corev1.ServiceAccount) { before(a) })
	testkit.Edit(t, s.Harness, binding, func(b *rbacv1.ClusterRoleBinding) { before(b) })
	testkit.EditStatus(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Status.OriginalUID = "before" })
	s.r.Now = func() time.Time { return time.Now().Add(41 * time.Minute) }
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
	if bytes.Equal(first, s.secret(config).Data["value"]) {
		t.Error("the token was not renewed")
	}
	if err := s.Live.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	s.SettleKey(t, s.r, client.ObjectKeyFromObject(config))
	if s.Get(t, account) || s.Get(t, binding) {
		t.Error("the ServiceAccount or its binding is left behind")
	}
}

func TestATokenOfAClusterThatIsGoneIsLetGo(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	if err := s.Live.Delete(t.Context(), s.cluster); err != nil {
		t.Fatal(err)
	}
	if err := s.Live.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	s.Events.Take()
	s.SettleKey(t, s.r, client.ObjectKeyFromObject(config))
	if s.Get(t, config) {
		t.Error("the Kubeconfig is still there")
	}
	if diff := cmp.Diff([]string{clusterprovisionerv1alpha1.ReasonClusterNotFound}, s.Events.Reasons()); diff != "" {
		t.Errorf("the events (-want +got):\n%s", diff)
	}
}

func TestATokenThatIsRevokedInTheClusterIsReplaced(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	first := s.secret(config)
	inside := s.enter(first)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "windlass-" + config.Name}}
	if err := s.Live.Delete(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the cluster does not accept the token", func() bool {
		return apierrors.IsUnauthorized(inside.List(t.Context(), &corev1.PodList{}))
	})
	s.Events.Take()
	s.Settle(t, s.r, config)
	if bytes.Equal(first.Data["value"], s.secret(config).Data["value"]) {
		t.Error("the token is the one that the cluster does not accept")
	}
	if got := s.Events.Reasons(); !slices.Contains(got, clusterprovisionerv1alpha1.ReasonIssued) {
		t.Errorf("the events are %v", got)
	}
	result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(config))
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
		t.Errorf("the token is looked at again after %v, %v", result.RequeueAfter, err)
	}
}

// TestATokenOfAClusterThatDoesNotAnswerIsGivenUpByAPersonOnly is about Kubeconfigs that could not be deleted at all while their cluster was
// away.
func TestATokenOfAClusterThatDoesNotAnswerIsGivenUpByAPersonOnly(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	away := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + "-kubeconfig"}}
	testkit.Edit(t, s.Harness, away, func(secret *corev1.Secret) {
		secret.Data["value"] = bytes.ReplaceAll(secret.Data["value"], []byte(s.Config.Host), []byte("https://127.0.0.1:"+testkit.SilentPort(t)))
	})
	if err := s.Live.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	s.Settle(t, s.r, config)
	waiting := `ClusterNotReady: waiting for Cluster "` + s.cluster.Name + `" to answer, so that the token can be revoked; to delete this ` +
		"Kubeconfig anyway, annotate it with clusterprovisioner.rke.io/skip-revocation=true"
	s.is(config, status.Reconciling, "True "+waiting)
	s.is(config, status.Ready, "False "+waiting)
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Annotations = map[string]string{clusterprovisionerv1alpha1.SkipRevocationAnnotation: "true"}
	})
	s.SettleKey(t, s.r, client.ObjectKeyFromObject(config))
	if s.Get(t, config) {
		t.Error("the Kubeconfig is still there")
	}
}

// TestASecretThatNobodyCanReadIsCalledValid has a token that somebody has edited, and that is not issued anew for now.
func TestASecretThatNobodyCanReadIsCalledValid(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	testkit.Edit(t, s.Harness, s.secret(config), func(secret *corev1.Secret) { secret.Data["value"] = []byte("edited") })
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Annotations = map[string]string{status.PausedAnnotation: "true"}
	})
	s.Settle(t, s.r, config)
	s.is(config, clusterprovisionerv1alpha1.ConditionIssued, "False KubeconfigInvalid: cannot parse kubeconfig: …")
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Annotations = nil })
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
	s.enter(s.secret(config))
}

// TestATokenThatTheClusterDoesNotAcceptIsCalledValid has a token whose ServiceAccount is gone, and that is not issued anew for now.
func TestATokenThatTheClusterDoesNotAcceptIsCalledValid(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	inside := s.enter(s.secret(config))
	if err := s.Live.Delete(t.Context(), made(accountOf(config))[0]); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the cluster does not accept the token", func() bool {
		return apierrors.IsUnauthorized(inside.List(t.Context(), &corev1.PodList{}))
	})
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Annotations = map[string]string{status.PausedAnnotation: "true"}
	})
	s.Settle(t, s.r, config)
	s.is(config, clusterprovisionerv1alpha1.ConditionIssued, "False Expired: the cluster does not accept the token any more")
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Annotations = nil })
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
}

// TestAKubeconfigWithoutASpecIsSaidToBeOutside: the message was about the file "" and --config-root.
func TestAKubeconfigWithoutASpecIsSaidToBeOutside(t *testing.T) {
	s := newStage(t)
	config := &clusterprovisionerv1alpha1.Kubeconfig{}
	bare := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generateName": "bare-"}}}
	bare.SetGroupVersionKind(clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Kubeconfig"))
	if err := s.Direct.Create(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	config.Name = bare.GetName()
	testkit.Eventually(t, "the cache has it", func() bool {
		return s.Client.Get(t.Context(), client.ObjectKeyFromObject(config), &clusterprovisionerv1alpha1.Kubeconfig{}) == nil
	})
	s.Settle(t, s.r, config)
	const want = "KubeconfigMissing: spec names no kubeconfig: give spec.clusterRef or spec.configPath"
	s.is(config, status.Stalled, "True "+want)
	s.is(config, clusterprovisionerv1alpha1.ConditionIssued, "False "+want)
}
