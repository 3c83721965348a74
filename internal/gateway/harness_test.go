// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	gocmp "cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// Media types of answers.
const (
	mediaJSON    = "application/json"
	mediaYAML    = "application/yaml"
	mediaProblem = "application/problem+json"
	mediaLines   = "application/x-ndjson"
)

// rig is a gateway under its shipped account in front of a real API server.
type rig struct {
	*testkit.Harness

	g    *Gateway
	base string
	log  *logLines
	// stop tells the gateway to end.
	stop context.CancelFunc
}

type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, args)
	}, funcr.Options{})
}

func (l *logLines) with(text string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.lines), func(line string) bool { return !strings.Contains(line, text) })
}

// account is the gateway's own account, made once for all tests of the package.
var account = sync.OnceValues(func() (string, error) {
	raw, err := os.ReadFile(filepath.Join(testkit.Root(), "config", "rbac", "gateway_role.yaml"))
	return string(raw), err
})

// newRig starts a gateway that runs until the end of the test.
func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{Harness: testkit.New(t), log: &logLines{}}
	r.install(t)
	config := rest.AnonymousClientConfig(r.Config)
	config.BearerToken = r.token(t, "windlass-system", "windlass-gateway")
	config.QPS = -1
	options := Options{Config: config, Plaintext: true, SystemNamespace: "ops"}
	for _, c := range change {
		c(&options)
	}
	r.serve(t, options)
	testkit.Eventually(t, "the stores are in step", func() bool { return r.g.Ready(nil) == nil })
	return r
}

// serve starts a gateway that runs until the end of the test.
func (r *rig) serve(t *testing.T, options Options) {
	t.Helper()
	var err error
	options.Listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	options.RightsTTL = gocmp.Or(options.RightsTTL, 200*time.Millisecond)
	if options.Now == nil {
		options.Now = time.Now
	}
	options.Silence = gocmp.Or(options.Silence, time.Hour) // a busy machine is not what a test is about
	options.Heartbeat, options.Log = 100*time.Millisecond, r.log.logger()
	r.g, err = New(t.Context(), options)
	must(t, err)
	var ctx context.Context
	ctx, r.stop = context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.g.Start(ctx) }()
	t.Cleanup(func() {
		r.stop()
		must(t, <-done)
	})
	r.base = strings.TrimSuffix(strings.Split(r.g.URL(), "?")[0], "/")
}

// install applies the shipped rights of the gateway.
func (r *rig) install(t *testing.T) {
	t.Helper()
	manifest, err := account()
	must(t, err)
	r.ensure(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "windlass-system"}})
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		var kind metav1.TypeMeta
		must(t, yaml.Unmarshal([]byte(document), &kind))
		object, err := r.Live.Scheme().New(kind.GroupVersionKind())
		must(t, err)
		must(t, yaml.UnmarshalStrict([]byte(document), object))
		writable, ok := object.(client.Object)
		if !ok {
			t.Fatalf("%T is no object", object)
		}
		r.ensure(t, writable)
	}
}

func (r *rig) ensure(t *testing.T, object client.Object) {
	t.Helper()
	if err := r.Live.Create(t.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// token returns a token of the account, which is made if it is not there.
func (r *rig) token(t *testing.T, namespace, name string) string {
	t.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	r.ensure(t, sa)
	review := &authenticationv1.TokenRequest{}
	must(t, r.Live.SubResource("token").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: sa.ObjectMeta}, review))
	return review.Status.Token
}

// user returns the token of a new account with the rules in the namespace, or everywhere if it is empty.
func (r *rig) user(t *testing.T, namespace string, rules ...rbacv1.PolicyRule) string {
	t.Helper()
	home := r.Namespace(t)
	token := r.token(t, home, "user")
	r.grant(t, home, namespace, rules...)
	return token
}

// grant gives the rules to the user whose home that is.
func (r *rig) grant(t *testing.T, home, namespace string, rules ...rbacv1.PolicyRule) client.Object {
	t.Helper()
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: home, Name: "user"}}
	// What nothing else has given: what they may do already would not tell that this is in force.
	mark := rule("get", "test.windlass.io", strings.ToLower(rand.Text()))
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: home + "-"}, Rules: append(slices.Clone(rules), mark)}
	r.Create(t, role)
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}
	if namespace == "" {
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: ref, Subjects: subjects}
		r.Create(t, binding)
		r.awaitRights(t, home, namespace, mark)
		return binding
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name, Namespace: namespace}, RoleRef: ref, Subjects: subjects}
	r.Create(t, binding)
	r.awaitRights(t, home, namespace, mark)
	return binding
}

// awaitRights waits until the API server's authorizer has seen the rule: it watches roles, as everybody does.
func (r *rig) awaitRights(t *testing.T, home, namespace string, of rbacv1.PolicyRule) {
	t.Helper()
	review := authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               "system:serviceaccount:" + home + ":user",
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: of.Verbs[0], Group: of.APIGroups[0], Resource: of.Resources[0]},
	}}
	testkit.Eventually(t, "the API server knows what the user may do", func() bool {
		asked := review.DeepCopy()
		must(t, r.Live.Create(t.Context(), asked))
		return asked.Status.Allowed
	})
}

// everything is the rule of an administrator, and reading that of a guest.
func everything() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}
}

func rule(verbs string, group string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: strings.Split(verbs, ",")}
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request and holds its answer against the description of the API.
func (r *rig) do(t *testing.T, method, path, token, body string, header ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, r.base+path, strings.NewReader(body))
	must(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			request.Host = header[i+1]
		}
	}
	response, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	must(t, err)
	out := answer{response.StatusCode, response.Header, decoded(t, response.Header.Get("Content-Encoding"), raw)}
	r.check(t, request, out)
	return out
}

// problem reads a problem, which an answer has to be.
func (a answer) problem(t *testing.T) *view.Problem {
	t.Helper()
	out := &view.Problem{}
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(out); err != nil || a.header.Get("Content-Type") != mediaProblem {
		t.Fatalf("status %d with %q is no problem: %v: %s", a.status, a.header.Get("Content-Type"), err, a.body)
	}
	if out.Status != a.status || out.Instance != "urn:windlass:request:"+a.header.Get("X-Request-Id") {
		t.Errorf("the problem %+v does not fit its answer %d", out, a.status)
	}
	return out
}

// names returns the names, with namespaces, of a list.
func (a answer) names(t *testing.T) []string {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	var list struct {
		Items []metav1.PartialObjectMetadata `json:"items"`
	}
	must(t, json.Unmarshal(a.body, &list))
	out := []string{}
	for _, item := range list.Items {
		out = append(out, strings.TrimPrefix(item.Namespace+"/"+item.Name, "/"))
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// object is one as the watch of a store delivers it.
func object(kindName, namespace, name string, version int) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kindName}}
	out.SetNamespace(namespace)
	out.SetName(name)
	out.SetUID(types.UID(namespace + "-" + name))
	out.SetCreationTimestamp(metav1.Unix(0, 0))
	out.SetResourceVersion(strconv.Itoa(version))
	return out
}

// secretOf returns the secret of the gateway's session.
func secretOf(tb testing.TB, g *Gateway) string {
	tb.Helper()
	location, err := url.Parse(g.URL())
	if err != nil {
		tb.Fatal(err)
	}
	return location.Query().Get("session")
}

// kind returns a kind with its store.
func (r *rig) kind(t *testing.T, plural string) *feed.Kind {
	t.Helper()
	k, ok := r.g.hub.Kind(plural)
	if !ok {
		t.Fatalf("there is no kind %q", plural)
	}
	return k
}
