// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestMain runs the tests, or the plugin itself in a process that a test has started on a terminal.
func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) == "" {
		testkit.Main(m)
	}
	os.Exit(beThePlugin())
}

// beThePlugin runs the plugin with the arguments of this process, and returns its exit code.
func beThePlugin() int {
	args := os.Args[1:]
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl_complete-") {
		args = CompletionArgs(args)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return Execute(ctx, Options{Streams: OSStreams(), Now: time.Now, Getenv: os.Getenv}, args)
}

// asPlugin is the variable that makes the program of the tests the plugin.
const asPlugin = "WINDLASS_TEST_AS_PLUGIN"

// stage is a real API server and a kubeconfig for it.
type stage struct {
	*testkit.Harness

	kubeconfig string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	h := testkit.New(t)
	return &stage{Harness: h, kubeconfig: kubeconfigFor(t, h.Config, "")}
}

// kubeconfigFor writes a kubeconfig with the context "test", which has a namespace if one is given.
func kubeconfigFor(tb testing.TB, config *rest.Config, namespace string) string {
	tb.Helper()
	const name = "test"
	content := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server: config.Host, CertificateAuthorityData: config.CAData, TLSServerName: config.ServerName,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name, Namespace: namespace}},
		CurrentContext: name,
	}
	path := filepath.Join(tb.TempDir(), "kubeconfig")
	must(tb, clientcmd.WriteToFile(content, path))
	return path
}

// behind returns the stage behind a proxy, which shows each request to a function before it is sent.
func (s *stage) behind(t *testing.T, see func(*http.Request)) *stage {
	t.Helper()
	return s.between(t, func(_ http.ResponseWriter, request *http.Request) bool {
		see(request)
		return false
	})
}

// between is behind for a function that may answer in the place of the API server. It reports whether it has.
func (s *stage) between(t *testing.T, answer func(http.ResponseWriter, *http.Request) bool) *stage {
	t.Helper()
	server, err := url.Parse(s.Config.Host)
	must(t, err)
	transport, err := rest.TransportFor(s.Config)
	must(t, err)
	through := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) }}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answer(w, r) {
			through.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	return &stage{Harness: s.Harness, kubeconfig: kubeconfigFor(t, &rest.Config{Host: proxy.URL}, "")}
}

// fail answers as an API server does that has failed, or refuses.
func fail(w http.ResponseWriter, with *apierrors.StatusError) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(with.ErrStatus.Code))
	with.ErrStatus.APIVersion, with.ErrStatus.Kind = "v1", "Status"
	_ = json.NewEncoder(w).Encode(with.ErrStatus) //nolint:errchkjson // because a client that gets no answer fails the test
}

// run runs the plugin as an administrator.
func (s *stage) run(t *testing.T, args ...string) result {
	t.Helper()
	return run(t, options{}, append([]string{"--kubeconfig", s.kubeconfig}, args...)...)
}

// limited returns the arguments that make the caller a user with these rights in the namespace and nowhere else. Each is "verb resource.group".
func (s *stage) limited(t *testing.T, namespace string, rights ...string) []string {
	t.Helper()
	user := "user-of-" + namespace
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limited"}}
	for _, right := range rights {
		verb, resource, _ := strings.Cut(right, " ")
		resource, group, _ := strings.Cut(resource, ".")
		role.Rules = append(role.Rules, rbacv1.PolicyRule{
			Verbs: strings.Split(verb, ","), APIGroups: []string{group}, Resources: []string{resource},
		})
	}
	s.Create(t, role, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limited"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	for _, rule := range role.Rules {
		for _, verb := range rule.Verbs {
			s.awaitRight(t, user, authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: rule.APIGroups[0], Resource: rule.Resources[0]})
		}
	}
	return []string{"-n", namespace, "--as", user}
}

// awaitRight waits until the API server knows of a right, which takes it a moment after the binding was created.
func (s *stage) awaitRight(t *testing.T, user string, right authorizationv1.ResourceAttributes) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(s.Config)
	must(t, err)
	testkit.Eventually(t, user+" may "+right.Verb+" "+right.Resource, func() bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &right}}
		answer, err := clients.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed
	})
}

// result is what a command has left.
type result struct {
	code     int
	out, err string
}

// options are what a test changes of what a command gets.
type options struct {
	in string
	// width is that of the terminal, 0 for a pipe.
	width int
	env   map[string]string
	// now is the clock. Default: that of the machine.
	now func() time.Time
}

// run runs the plugin to its end.
func run(t *testing.T, with options, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	of := Options{
		Streams: Streams{In: strings.NewReader(with.in), Out: &out, Err: &errs, Interactive: with.width > 0},
		Version: "v1.2.3", Now: time.Now, Getenv: func(key string) string { return with.env[key] },
	}
	if with.now != nil {
		of.Now = with.now
	}
	if with.width > 0 {
		of.Streams.Size = func() (width, height int) { return with.width, defaultHeight }
	}
	code := Execute(t.Context(), of, args)
	return result{code: code, out: out.String(), err: errs.String()}
}

// has fails the test unless the text has each of the parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("want %q in:\n%s", part, text)
		}
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// missing returns the path of a file that does not exist.
func missing(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nothing")
	if _, err := os.Stat(path); err == nil {
		t.Fatalf("%s exists", path)
	}
	return path
}
