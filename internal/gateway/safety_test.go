// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"crypto/rand"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

var update = flag.Bool("update", false, "write docs/api/openapi.json anew")

// TestDescription compares the description of the API with the one that is committed.
func TestDescription(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := filepath.Join(testkit.Root(), "docs", "api", "openapi.json")
	served := r.do(t, http.MethodGet, "/openapi.json", "", "")
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must(t, os.WriteFile(path, served.body, 0o600))
	}
	committed, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(committed, served.body) {
		t.Errorf("docs/api/openapi.json is stale: write it anew with \"go test ./internal/gateway -run TestDescription -update\"\n%s",
			cmp.Diff(strings.Split(string(committed), "\n"), strings.Split(string(served.body), "\n")))
	}
	if served.header.Get("Content-Type") != "application/openapi+json" || !bytes.Contains(served.body, []byte(`"openapi": "3.1.0"`)) {
		t.Errorf("it is served as %q", served.header.Get("Content-Type"))
	}
}

// TestEveryErrorIsAProblem goes through what can be wrong before anything reaches the API server.
func TestEveryErrorIsAProblem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	service := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}}`
	cases := map[string]struct {
		method, path, body string
		header             []string
		token              string
		status             int
		reason             string
	}{
		"no such path":                     {http.MethodGet, "/v2/nodes", "", nil, admin, 404, "NoSuchPath"},
		"no such path below v1":            {http.MethodGet, "/v1/secrets", "", nil, admin, 404, "NoSuchPath"},
		"a path that is not clean":         {http.MethodGet, "/v1//nodes", "", nil, admin, 404, "NoSuchPath"},
		"a method that is not there":       {http.MethodPost, "/v1/me", "{}", nil, admin, 405, "MethodNotAllowed"},
		"a media type that is not taken":   {http.MethodPost, "/v1/services?ns=default", service, []string{"Content-Type", "text/plain"}, admin, 415, "UnsupportedMediaType"},
		"a body that is too large":         {http.MethodPost, "/v1/services?ns=default", strings.Repeat(" ", 3<<20+1), nil, admin, 413, "RequestEntityTooLarge"},
		"a body where none is taken":       {http.MethodGet, "/v1/me", strings.Repeat(" ", 5000), nil, admin, 413, "RequestEntityTooLarge"},
		"a body that is no object":         {http.MethodPost, "/v1/services?ns=default", "[", nil, admin, 400, "BadRequest"},
		"a write that is held to a tag":    {http.MethodPut, "/v1/services/default/a", service, []string{"If-Match", `"tag"`}, admin, 400, "BadRequest"},
		"a body of another kind":           {http.MethodPost, "/v1/services?ns=default", `{"apiVersion":"v1","kind":"Pod"}`, nil, admin, 422, "Invalid"},
		"no namespace":                     {http.MethodPost, "/v1/services", service, nil, admin, 422, "Invalid"},
		"an invalid namespace":             {http.MethodGet, "/v1/services?ns=A.B", "", nil, admin, 422, "Invalid"},
		"another name than the path's":     {http.MethodPut, "/v1/services/default/b", service, nil, admin, 422, "Invalid"},
		"a query that is not known":        {http.MethodGet, "/v1/nodes?labels=a", "", nil, admin, 422, "Invalid"},
		"an invalid selector":              {http.MethodGet, "/v1/nodes?labelSelector=a%3D%3D%3Db", "", nil, admin, 422, "Invalid"},
		"a token of another list":          {http.MethodGet, "/v1/nodes?continue=xx", "", nil, admin, 422, "Invalid"},
		"a sorted table of the API server": {http.MethodGet, "/v1/tables/configmaps?sort=created", "", nil, admin, 422, "Invalid"},
		"a table of no kind":               {http.MethodGet, "/v1/tables/secrets", "", nil, admin, 404, "NoSuchPath"},
		"a table of a namespace's nodes":   {http.MethodGet, "/v1/tables/nodes?ns=a", "", nil, admin, 422, "Invalid"},
		"an unknown kind":                  {http.MethodGet, "/v1/watch?kinds=secrets", "", nil, admin, 422, "Invalid"},
		"replicas below zero":              {http.MethodPatch, "/v1/deployments/default/a/scale", `{"replicas":-1}`, nil, admin, 422, "Invalid"},
		"an app with an unknown field":     {http.MethodPost, "/v1/apps", `{"name":"a","namespace":"b","image":"c","imgae":"d"}`, nil, admin, 422, "Invalid"},
		"a name that leads elsewhere":      {http.MethodGet, "/v1/services/default/..%2f..%2fsecrets", "", nil, admin, 404, "NoSuchPath"},
		"no credentials":                   {http.MethodGet, "/v1/nodes", "", nil, "", 401, "Unauthorized"},
		"another scheme":                   {http.MethodGet, "/v1/nodes", "", []string{"Authorization", "Basic YTpi"}, "", 401, "Unauthorized"},
		"a token that is too long":         {http.MethodGet, "/v1/nodes", "", nil, strings.Repeat("a", access.MaxToken+1), 401, "Unauthorized"},
		"a host of somebody else":          {http.MethodGet, "/v1/nodes", "", []string{"Host", "evil.example:80"}, admin, 421, "Host"},
		"a page of somebody else":          {http.MethodPost, "/v1/apps", "{}", []string{"Origin", "https://evil.example"}, admin, 403, "CrossOrigin"},
		"a page of somebody else, hidden":  {http.MethodPost, "/v1/apps", "{}", []string{"Sec-Fetch-Site", "cross-site"}, admin, 403, "CrossOrigin"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.do(t, c.method, c.path, c.token, c.body, c.header...)
			if problem := got.problem(t); got.status != c.status || problem.Type != view.ProblemType+c.reason {
				t.Errorf("status %d with %+v, want %d with %s", got.status, problem, c.status, c.reason)
			}
			if c.status == http.StatusUnauthorized && got.header.Get("WWW-Authenticate") == "" {
				t.Error("there is no WWW-Authenticate")
			}
			for key, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
				if got.header.Get(key) != want {
					t.Errorf("%s is %q", key, got.header.Get(key))
				}
			}
			if c.token != "" && bytes.Contains(got.body, []byte(c.token)) {
				t.Error("the answer contains the token")
			}
		})
	}
}

// TestAttackGuessesLockOutNewLogins floods the gateway with invented tokens. A client that logged in from the same address, as through the
// same proxy, used to be refused.
func TestAttackGuessesLockOutNewLogins(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	good := r.user(t, "default")
	for range 8 {
		var guessing sync.WaitGroup
		for range 8 {
			guessing.Go(func() {
				if got := r.do(t, http.MethodGet, "/v1/me", rand.Text(), ""); got.status != http.StatusUnauthorized {
					t.Errorf("a guess gets %d: %s", got.status, got.body)
				}
			})
		}
		guessing.Wait()
	}
	if got := r.do(t, http.MethodGet, "/v1/me", good, ""); got.status != http.StatusOK {
		t.Errorf("a new login gets %d: %s", got.status, got.body)
	}
}

func TestLimitPerCaller(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.RequestsPerSecond = 0.01 }) // a bucket of one
	first, second := r.user(t, "default"), r.user(t, "default")
	for _, step := range []struct {
		token string
		want  int
	}{{first, 200}, {first, 429}, {second, 200}} {
		if got := r.do(t, http.MethodGet, "/v1/me", step.token, ""); got.status != step.want {
			t.Fatalf("status %d, want %d: %s", got.status, step.want, got.body)
		}
	}
}

// TestSession is local mode: one URL with a secret, exchanged for a cookie.
func TestSession(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Session = true })
	secret := secretOf(t, r.g)

	first := r.do(t, http.MethodGet, "/?session="+secret, "", "")
	cookie := first.header.Get("Set-Cookie")
	if first.status != http.StatusSeeOther || first.header.Get("Location") != "/" ||
		!strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") || strings.Contains(cookie, secret) {
		t.Fatalf("the first visit gets %d %v", first.status, first.header)
	}
	pair, _, _ := strings.Cut(cookie, ";")
	for name, c := range map[string]struct {
		token  string
		header []string
		want   int
	}{
		"the cookie":                        {"", []string{"Cookie", pair}, 200},
		"the secret as a bearer token":      {secret, nil, 200},
		"nothing":                           {"", nil, 401},
		"a cookie that is invented":         {"", []string{"Cookie", pair + "x"}, 401},
		"the cookie through another's name": {"", []string{"Cookie", pair, "Host", "evil.example"}, 421},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.do(t, http.MethodGet, "/v1/me", c.token, "", c.header...)
			if got.status != c.want {
				t.Errorf("status %d, want %d: %s", got.status, c.want, got.body)
			}
			if c.want == 200 && !bytes.Contains(got.body, []byte("system:serviceaccount:windlass-system:windlass-gateway")) {
				t.Errorf("it acts as %s", got.body)
			}
		})
	}
	// It acts as the kubeconfig, which here may read nodes and create nothing.
	if got := r.do(t, http.MethodGet, "/v1/nodes", secret, ""); got.status != http.StatusOK {
		t.Errorf("nodes: %d %s", got.status, got.body)
	}
	if got := r.do(t, http.MethodPost, "/v1/apps", secret, ""); got.status != http.StatusForbidden {
		t.Errorf("an app: %d %s", got.status, got.body)
	}
	if wrong := r.do(t, http.MethodGet, "/?session=wrong", "", ""); wrong.header.Get("Set-Cookie") != "" {
		t.Error("a wrong secret gets a cookie")
	}
	if lines := r.log.with(secret); len(lines) > 0 {
		t.Errorf("the log has the secret: %q", lines)
	}
}

// TestSessionOfOneNamespace is local mode for who may see one namespace and nothing else: there is no cache at all, and
// he gets that one.
func TestSessionOfOneNamespace(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	r := &rig{Harness: h, log: &logLines{}}
	ns := r.Namespace(t)
	token := r.user(t, ns, rule("get,list,watch", "", "services"))
	r.service(t, ns, "a")
	config := rest.AnonymousClientConfig(r.Config)
	config.BearerToken, config.QPS = token, -1
	r.serve(t, Options{Plaintext: true, Config: config, Session: true, Namespaces: []string{ns}})
	secret := secretOf(t, r.g)
	for path, want := range map[string][]string{
		"/v1/namespaces": {ns}, "/v1/namespaces?fieldSelector=metadata.name!=" + ns: {}, "/v1/services": {ns + "/a"}, "/v1/services?ns=" + ns + "&q=a&sort=-created": {ns + "/a"},
	} {
		if diff := cmp.Diff(want, r.do(t, http.MethodGet, path, secret, "").names(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for about, path := range map[string]string{
		"Deployments": "/v1/deployments", "namespaces by a field that only the API server knows": "/v1/namespaces?fieldSelector=status.phase=Terminating",
	} {
		if got := r.do(t, http.MethodGet, path, secret, ""); got.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", about, got.status, got.body)
		}
	}
	begin := r.follow(t, secret, ns, "", "services").until("the snapshot", done)
	if diff := cmp.Diff([]string{"denied services", "snapshot"}, begin); diff != "" {
		t.Errorf("a stream without a store (-want +got):\n%s", diff)
	}
}

// TestAudit holds that each write leaves a line, with who and what and without the body.
func TestAudit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	token := r.user(t, ns, rule("get,create", "", "services"))
	body := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","annotations":{"x":"hidden-text"}},"spec":{"ports":[{"port":1}]}}`
	r.do(t, http.MethodPost, "/v1/services?ns="+ns, token, body)
	r.do(t, http.MethodDelete, "/v1/services/"+ns+"/a", token, "")
	lines := r.log.with(`"msg"="Write"`)
	if len(lines) != 2 || !strings.Contains(lines[0], `"status"=201`) || !strings.Contains(lines[1], `"status"=403`) ||
		!strings.Contains(lines[0], `"name"="a"`) || !strings.Contains(lines[0], "system:serviceaccount:") {
		t.Errorf("the lines are %q", lines)
	}
	if leaked := append(r.log.with("hidden-text"), r.log.with(token)...); len(leaked) > 0 {
		t.Errorf("the log has what it must not: %q", leaked)
	}
}

// TestImpersonationIsNotPassedOn sends what only a proxy may send.
func TestImpersonationIsNotPassedOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	got := r.do(t, http.MethodGet, "/v1/me", admin, "", "Impersonate-User", "system:admin", "X-Remote-User", "system:admin")
	if bytes.Contains(got.body, []byte("system:admin")) {
		t.Errorf("the caller is %s", got.body)
	}
}

// TestApply shows a conflict field by field, and takes the field over when told to.
func TestApply(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	ns := r.Namespace(t)
	body := func(port string) string {
		return `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"externalName":"` + port + `","type":"ExternalName"}}`
	}
	path := "/v1/services/" + ns + "/web"
	for _, step := range []struct {
		query, body string
		status      int
	}{
		{"?dryRun=All", body("one"), 201},
		{"", body("one"), 201},
		{"", body("two"), 200},
		{"?fieldManager=windlass-console-other", body("three"), 409},
		{"?fieldManager=windlass-console-other&force=true", body("three"), 200},
	} {
		got := r.do(t, http.MethodPut, path+step.query, admin, step.body)
		if got.status != step.status {
			t.Fatalf("%s: status %d, want %d: %s", step.query, got.status, step.status, got.body)
		}
		if got.status == http.StatusConflict {
			if errs := got.problem(t).Errors; len(errs) == 0 || errs[0].Location != ".spec.externalName" || !strings.Contains(errs[0].Message, "windlass-api") {
				t.Errorf("the conflict is %+v", errs)
			}
		}
	}
	// What was written is read at once.
	if got := r.do(t, http.MethodGet, path, admin, ""); !strings.Contains(string(got.body), `"externalName":"three"`) {
		t.Errorf("afterwards it is %s", got.body)
	}
	yaml := strings.NewReplacer("{NS}", ns).Replace("apiVersion: v1\nkind: Service\nmetadata: {name: text, namespace: {NS}}\nspec:\n  ports: [{port: 1}]\n")
	if got := r.do(t, http.MethodPost, "/v1/services", admin, yaml, "Content-Type", mediaYAML); got.status != http.StatusCreated {
		t.Errorf("YAML: %d %s", got.status, got.body)
	}
}

func TestScale(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	ns := r.Namespace(t)
	r.do(t, http.MethodPost, "/v1/apps", admin, `{"name":"web","namespace":"`+ns+`","image":"web:1"}`)
	podSet := `{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"set"},"spec":{"size":1}}`
	if got := r.do(t, http.MethodPost, "/v1/podsets?ns="+ns, admin, podSet); got.status != http.StatusCreated {
		t.Fatalf("PodSet: %d %s", got.status, got.body)
	}
	for path, want := range map[string]string{"/v1/deployments/" + ns + "/web": `"replicas":5`, "/v1/podsets/" + ns + "/set": `"size":5`} {
		if got := r.do(t, http.MethodPatch, path+"/scale", admin, `{"replicas":5}`); got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, got.status, got.body)
		}
		if got := r.do(t, http.MethodGet, path, admin, ""); !strings.Contains(string(got.body), want) {
			t.Errorf("%s is %s", path, got.body)
		}
		// The console sends it like this. A Scale leaves out a size of 0, so what was off could not be turned on again.
		for _, size := range []string{"0", "1", "0", "0", "2"} {
			if got := r.do(t, http.MethodPatch, path+"/scale?refuseConflicts=true", admin, `{"replicas":`+size+`}`); got.status != http.StatusOK {
				t.Errorf("%s to %s: %d %s", path, size, got.status, got.body)
			}
		}
	}
}
