// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// check holds an answer against the description: it has to name the route, the status and the media type, and the body has to be
// as its schema says.
func (r *rig) check(t *testing.T, request *http.Request, got answer) {
	t.Helper()
	where := request.Method + " " + request.URL.Path
	media, _, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	if err != nil && len(got.body) > 0 {
		t.Fatalf("%s answers with the Content-Type %q: %v", where, got.header.Get("Content-Type"), err)
	}
	template, op := operationFor(r.g.OpenAPI(), request.Method, request.URL.Path)
	if op == nil { // not of the API: only its problems are
		if got.status >= 400 && media != mediaProblem {
			t.Fatalf("%s answers %d with %s", where, got.status, media)
		}
		return
	}
	code := strconv.Itoa(got.status)
	pointer := "/paths/" + escape(template) + "/" + strings.ToLower(request.Method) + "/responses/" + code
	documented := op.Responses[code]
	if documented == nil && got.status >= 400 {
		documented = op.Responses["default"]
	}
	if documented == nil {
		t.Fatalf("%s answers %d, of which the description says nothing: %s", where, got.status, got.body)
	}
	if _, name, shared := strings.Cut(documented.Ref, "#/components/responses/"); shared {
		documented, pointer = r.g.OpenAPI().Components.Responses[name], "/components/responses/"+name
	}
	if len(documented.Content) == 0 && len(got.body) == 0 {
		return
	}
	if documented.Content[media] == nil {
		t.Fatalf("%s answers %d with %q, described are %v", where, got.status, media, slices.Collect(maps.Keys(documented.Content)))
	}
	for name := range documented.Headers {
		if name == "X-Request-Id" && got.header.Get(name) == "" {
			t.Errorf("%s answers without %s", where, name)
		}
	}
	if media == mediaLines {
		for line := range bytes.Lines(got.body) {
			r.conforms(t, where, "/components/schemas/LogLine", line)
		}
		return
	}
	if request.URL.Query().Get("fields") != "" && got.status == http.StatusOK {
		return // the description says that what the schema requires can be left out
	}
	if strings.HasSuffix(media, "json") {
		r.conforms(t, where, pointer+"/content/"+escape(media)+"/schema", got.body)
	}
}

// conforms holds a JSON document against the schema at the place in the description of the API.
func (r *rig) conforms(t *testing.T, where, pointer string, body []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	must(t, err)
	described.mu.Lock()
	defer described.mu.Unlock()
	if described.compiler == nil {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.g.Description()))
		must(t, err)
		described.compiler = jsonschema.NewCompiler()
		must(t, described.compiler.AddResource("openapi.json", document))
	}
	schema, err := described.compiler.Compile("openapi.json#" + pointer)
	must(t, err)
	if err := schema.Validate(value); err != nil {
		t.Fatalf("%s answers with what its schema does not allow: %v\n%s", where, err, body)
	}
}

// described are the schemas of the description of the API, which all gateways of the tests have in common.
var described struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
}

// escape writes a key as a part of a JSON pointer in a URL.
func escape(key string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
}

// operationFor returns the operation that the path belongs to, and its path in the description.
func operationFor(api *huma.OpenAPI, method, path string) (string, *huma.Operation) {
	template := ""
	for candidate := range api.Paths { // of /v1/tables/{kind} and /v1/{x}/{y}, the router chooses the first
		if fits(candidate, path) && (template == "" || strings.Count(candidate, "{") < strings.Count(template, "{")) {
			template = candidate
		}
	}
	if item := api.Paths[template]; item != nil {
		switch method {
		case http.MethodGet:
			return template, item.Get
		case http.MethodPost:
			return template, item.Post
		case http.MethodPut:
			return template, item.Put
		case http.MethodPatch:
			return template, item.Patch
		case http.MethodDelete:
			return template, item.Delete
		}
	}
	return "", nil
}

func fits(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}
