// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestPatches changes one label with each kind of patch, and none of them touches what others have set.
func TestPatches(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	r.service(t, ns, "web")
	podSet := `{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"set","labels":{"others":"stay"}},"spec":{"size":1}}`
	if got := r.do(t, http.MethodPost, "/v1/podsets?ns="+ns, admin, podSet); got.status != http.StatusCreated {
		t.Fatalf("PodSet: %d %s", got.status, got.body)
	}
	label := `{"metadata":{"labels":{"mine":"%s"}}}`
	for name, c := range map[string]struct {
		path, media, body string
		status            int
		want              string
	}{
		"a merge patch":                    {"/v1/services/" + ns + "/web", "application/merge-patch+json", fmt.Sprintf(label, "merge"), 200, `"mine":"merge"`},
		"a strategic patch":                {"/v1/services/" + ns + "/web", "application/strategic-merge-patch+json", fmt.Sprintf(label, "strategic"), 200, `"mine":"strategic"`},
		"a JSON patch":                     {"/v1/podsets/" + ns + "/set", "application/json-patch+json", `[{"op":"add","path":"/metadata/labels/mine","value":"json"}]`, 200, `"others":"stay"`},
		"a label that is not there yet":    {"/v1/podsets/" + ns + "/set", "application/json-patch+json", `[{"op":"test","path":"/metadata/labels/new","value":null},{"op":"add","path":"/metadata/labels/new","value":"a"}]`, 200, `"new":"a"`},
		"a label that others have set":     {"/v1/podsets/" + ns + "/set", "application/json-patch+json", `[{"op":"test","path":"/metadata/labels/others","value":null},{"op":"add","path":"/metadata/labels/others","value":"a"}]`, 422, "Invalid"},
		"a dry run":                        {"/v1/services/" + ns + "/web?dryRun=All", "application/merge-patch+json", fmt.Sprintf(label, "dry"), 200, `"mine":"dry"`},
		"a strategic patch of a CRD":       {"/v1/podsets/" + ns + "/set", "application/strategic-merge-patch+json", "{}", 415, "UnsupportedMediaType"},
		"no kind of patch":                 {"/v1/services/" + ns + "/web", "application/json", "{}", 415, "merge-patch"},
		"a field that does not exist":      {"/v1/podsets/" + ns + "/set", "application/merge-patch+json", `{"spec":{"sise":1}}`, 422, "spec.sise"},
		"a patch that cannot be applied":   {"/v1/podsets/" + ns + "/set", "application/json-patch+json", `[{"op":"remove","path":"/metadata/labels/absent"}]`, 422, "Invalid"},
		"an object that does not exist":    {"/v1/services/" + ns + "/absent", "application/merge-patch+json", "{}", 404, "NotFound"},
		"a body that is not a JSON object": {"/v1/services/" + ns + "/web", "application/merge-patch+json", "[", 400, "BadRequest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.do(t, http.MethodPatch, c.path, admin, c.body, "Content-Type", c.media)
			if got.status != c.status || !strings.Contains(string(got.body), c.want) {
				t.Errorf("status %d, want %d with %s: %s", got.status, c.status, c.want, got.body)
			}
		})
	}
	reader := r.user(t, ns, rule("get", "", "services"))
	if got := r.do(t, http.MethodPatch, "/v1/services/"+ns+"/web", reader, "{}", "Content-Type", "application/merge-patch+json"); got.status != http.StatusForbidden {
		t.Errorf("a reader patches: %d %s", got.status, got.body)
	}
}

// TestAttackReplaceUnseenChanges replaces an object with what its caller has read before somebody else changed it.
func TestAttackReplaceUnseenChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	r.service(t, ns, "web")
	path := "/v1/services/" + ns + "/web"
	read := r.do(t, http.MethodGet, path+"?consistent=true", admin, "")
	r.do(t, http.MethodPatch, path, admin, `{"metadata":{"labels":{"others":"set"}}}`, "Content-Type", "application/merge-patch+json")
	var object map[string]any
	must(t, json.Unmarshal(read.body, &object))
	metadata, _ := object["metadata"].(map[string]any)
	delete(metadata, "resourceVersion")
	blind, err := json.Marshal(object)
	must(t, err)
	for name, c := range map[string]struct {
		query, body string
		status      int
	}{
		"with the version that was read": {"?replace=true", string(read.body), 409},
		"without a version":              {"?replace=true", string(blind), 422},
		"by force":                       {"?replace=true&force=true", string(read.body), 422},
	} {
		if got := r.do(t, http.MethodPut, path+c.query, admin, c.body); got.status != c.status {
			t.Errorf("%s: status %d, want %d: %s", name, got.status, c.status, got.body)
		}
	}
	newest := r.do(t, http.MethodGet, path, admin, "")
	if !strings.Contains(string(newest.body), `"others":"set"`) {
		t.Errorf("the change of somebody else is gone: %s", newest.body)
	}
	if got := r.do(t, http.MethodPut, path+"?replace=true", admin, strings.Replace(string(newest.body), `"others":"set"`, `"mine":"now"`, 1)); got.status != 200 || strings.Contains(string(got.body), "others") {
		t.Errorf("a replace with the newest version: %d %s", got.status, got.body)
	}
}

// TestRequestsThatCanBeReadInTwoWays are refused, as is what no caller gets.
func TestRequestsThatCanBeReadInTwoWays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	for name, c := range map[string]struct {
		path   string
		header []string
		status int
		says   string
	}{
		"a parameter that comes twice":        {"/v1/services?ns=a&ns=b", nil, 422, "query.ns"},
		"a query that cannot be parsed":       {"/v1/services?ns=%zz", nil, 400, "query"},
		"a request to be somebody else":       {"/v1/me", []string{"Impersonate-User", "system:admin"}, 400, "Impersonate-User"},
		"a request to be in somebody's group": {"/v1/me", []string{"Impersonate-Group", "system:masters"}, 400, "Impersonate-Group"},
	} {
		got := r.do(t, http.MethodGet, c.path, admin, "", c.header...)
		if problem := got.problem(t); got.status != c.status || !strings.Contains(string(got.body), c.says) {
			t.Errorf("%s: status %d with %+v, want %d", name, got.status, problem, c.status)
		}
	}
	if got := r.do(t, http.MethodHead, "/v1/watch", admin, ""); got.status != http.StatusOK || got.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("the head of a stream: %d %v", got.status, got.header)
	}
}

// TestBadChunksAreBadRequests sends a body whose length cannot be read.
func TestBadChunksAreBadRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", r.g.options.Listener.Addr().String())
	must(t, err)
	defer func() { _ = conn.Close() }()
	must(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = fmt.Fprintf(conn, "POST /v1/apps HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", r.user(t, "", everything()))
	must(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusBadRequest || response.Header.Get("Content-Type") != mediaProblem {
		t.Errorf("status %d with %v", response.StatusCode, response.Header)
	}
}
