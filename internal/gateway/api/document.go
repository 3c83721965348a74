// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/why"
)

// schemaProblem is the name of the schema of problems, and schemaLine that of a line of a log.
const schemaProblem, schemaLine = "Problem", "LogLine"

// fieldKind is the name of the field with the kind.
const fieldKind = "kind"

// Media types.
const (
	mediaJSON    = "application/json"
	mediaYAML    = "application/yaml"
	mediaProblem = "application/problem+json"
	mediaSchema  = "application/schema+json"
	// mediaTable is what the API server is asked for.
	mediaTable = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// describe adds what all routes share to the description of the API.
func describe(api *huma.OpenAPI) {
	api.Info.Description = "The HTTP API of Windlass for consoles and scripts. Every request has the caller's own rights. Kubernetes " +
		"objects have the format of the API server, which validates them. managedFields are left out unless you ask for them."
	api.Info.Contact = &huma.Contact{Name: "The Windlass Authors", URL: "https://github.com/windlass-operator/windlass"}
	api.Info.License = &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}
	api.Servers = []*huma.Server{{URL: "/", Description: "The server that has this description"}}
	api.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {
			Type: "http", Scheme: "bearer",
			Description: "In the cluster: a token that the API server accepts. In local mode: the secret of the URL",
		},
		"session": {
			Type: "apiKey", In: "cookie", Name: "windlass-session-8090",
			Description: "In local mode: the cookie that a browser gets for the secret of the URL. Its name ends with the port of the server",
		},
	}
	api.Components.SecuritySchemes["login"] = &huma.SecurityScheme{
		Type: "apiKey", In: "cookie", Name: access.LoginCookie,
		Description: "The cookie that a browser gets from POST /v1/session. Without TLS, on a loopback address, its name is windlass-session-of- and the port of the server",
	}
	api.Security = []map[string][]string{{"bearer": {}}, {"session": {}}, {"login": {}}}
	api.Components.Schemas.Schema(reflect.TypeFor[view.Problem](), true, schemaProblem)
	api.Components.Schemas.Schema(reflect.TypeFor[view.LogLine](), true, schemaLine)
	api.Components.Headers = headers()
	api.Components.Responses = problems()
}

// problemStatuses are those that a problem can have on every route.
func problemStatuses() []int {
	return []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusGone,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout,
	}
}

// Names of headers of answers.
const (
	headerRequest, headerRetry, headerAuthenticate = "X-Request-Id", "Retry-After", "WWW-Authenticate"
	headerAge, headerWarning                       = "Age", "Warning"
)

// headers describes the headers of answers.
func headers() map[string]*huma.Header {
	header := func(about, kind string, example any) *huma.Header {
		return &huma.Header{Description: about, Schema: &huma.Schema{Type: kind}, Example: example}
	}
	return map[string]*huma.Header{
		headerRequest:      header("The id of the request, as in the log and in instance of a problem", huma.TypeString, "gk3dm4hc2vq7wn5x"),
		headerRetry:        header("When to ask again, in seconds", huma.TypeInteger, 1),
		headerAuthenticate: header("How to authenticate", huma.TypeString, `Bearer realm="windlass"`),
		headerAge: header("How old the answer can be, in seconds; left out while the cache watches the API server",
			huma.TypeInteger, 25),
		headerTag: header("Names the content of the answer in its content coding. Send it as If-None-Match to get 304 if you have it", huma.TypeString,
			`"fV3mJ0aYQ2p1u5cR8xKdWZtB"`),
		headerWarning: header("A warning of the API server, or that the answer is stale", huma.TypeString,
			`110 windlass "Response is Stale: the API server cannot be watched at present"`),
	}
}

// carries returns references to headers.
func carries(names ...string) map[string]*huma.Param {
	out := map[string]*huma.Param{}
	for _, name := range append(names, headerRequest) {
		out[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
	return out
}

// problems describes the problems that routes answer with.
func problems() map[string]*huma.Response {
	out := map[string]*huma.Response{"Problem": problem("Any other problem", http.StatusMisdirectedRequest, "Host")}
	for _, status := range problemStatuses() {
		out[nameOf(status)] = problem(http.StatusText(status), status, view.CodeOf(status))
	}
	return out
}

// nameOf returns the name of the response with that status.
func nameOf(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// problem describes an answer with a problem.
func problem(about string, status int, code view.Code) *huma.Response {
	example := view.NewProblem(status, code, about+".")
	example.Instance = "urn:windlass:request:gk3dm4hc2vq7wn5x"
	out := response(about, mediaProblem, schemaProblem)
	out.Content[mediaProblem].Example = example
	switch status {
	case http.StatusUnauthorized:
		out.Headers = carries(headerAuthenticate)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		out.Headers = carries(headerRetry)
	}
	return out
}

func ref(name string) *huma.Schema { return &huma.Schema{Ref: "#/components/schemas/" + name} }

// answers describes the answers of a route: its good ones, and the problems that all routes have.
func answers(good map[int]*huma.Response) map[string]*huma.Response {
	out := map[string]*huma.Response{"default": {Ref: "#/components/responses/Problem"}}
	for _, status := range problemStatuses() {
		out[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + nameOf(status)}
	}
	for status, what := range good {
		if what.Headers == nil {
			what.Headers = carries(headerWarning)
		}
		out[strconv.Itoa(status)] = what
	}
	return out
}

// response describes one answer: pairs of media type and schema.
func response(about string, mediaAndSchema ...string) *huma.Response {
	out := &huma.Response{Description: about, Content: map[string]*huma.MediaType{}, Headers: carries()}
	for i := 0; i+1 < len(mediaAndSchema); i += 2 {
		out.Content[mediaAndSchema[i]] = &huma.MediaType{Schema: ref(mediaAndSchema[i+1])}
	}
	return out
}

// refine says of the API's own schemas what their types in Go cannot.
func refine(all map[string]*huma.Schema) {
	for of, property := range map[[2]string]*huma.Schema{
		{schemaProblem, "kubernetes"}: ref(schemaStatus), {"KindSummary", fieldKind}: ref(schemaKind), {"FoundItem", fieldKind}: ref(schemaKind), {"KindInfo", keyName}: ref(schemaKind),
		{"AppState", "deployment"}: ref("Deployment"), {"AppState", "service"}: ref("Service"),
	} {
		property.Description = all[of[0]].Properties[of[1]].Description
		all[of[0]].Properties[of[1]] = property
	}
	for _, name := range []string{"Summary", "Found"} {
		all[name].Properties["hidden"].Items = ref(schemaKind)
	}
	all["TableRow"].Properties["object"] = &huma.Schema{
		Type: huma.TypeObject, Description: "The object of the row: its metadata only",
		Properties: map[string]*huma.Schema{
			"apiVersion": {Type: huma.TypeString}, fieldKind: {Type: huma.TypeString}, "metadata": ref(schemaMeta),
		},
		Required: []string{"apiVersion", fieldKind, "metadata"},
	}
	ids := why.CheckIDs()
	checks := make([]any, 0, len(ids))
	for _, id := range ids {
		checks = append(checks, string(id))
	}
	all["Check"].Properties["id"].Enum = checks
	codes := view.ProblemCodes()
	types, about := make([]any, 0, len(codes)), strings.Builder{}
	about.WriteString("A stable URN that names the reason")
	for _, row := range codes {
		types = append(types, view.ProblemType+string(row.Code))
		fmt.Fprintf(&about, "\n- `%s`: %s", row.Code, row.About)
	}
	all[schemaProblem].Properties["type"].Enum = types
	all[schemaProblem].Properties["type"].Description = about.String()
}

// document returns the description of the API in the format in which it is served and committed.
func document(api *huma.OpenAPI, kinds []*feed.Kind) ([]byte, error) {
	refine(api.Components.Schemas.Map())
	raw, err := json.Marshal(api)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the description of the API: %w", err)
	}
	whole := map[string]json.RawMessage{}
	components := map[string]json.RawMessage{}
	all := map[string]json.RawMessage{}
	if err := errors.Join(json.Unmarshal(raw, &whole), json.Unmarshal(whole["components"], &components),
		json.Unmarshal(components["schemas"], &all)); err != nil {
		return nil, fmt.Errorf("cannot read the description of the API: %w", err)
	}
	described, err := schemas(kinds)
	if err != nil {
		return nil, err
	}
	for name, one := range described {
		if all[name] != nil {
			return nil, fmt.Errorf("cannot describe the API: two schemas are called %q", name)
		}
		if all[name], err = json.Marshal(one); err != nil {
			return nil, fmt.Errorf("cannot encode the schema %q: %w", name, err)
		}
	}
	if components["schemas"], err = json.Marshal(all); err != nil {
		return nil, fmt.Errorf("cannot encode the schemas of the API: %w", err)
	}
	if whole["components"], err = json.Marshal(components); err != nil {
		return nil, fmt.Errorf("cannot encode the components of the API: %w", err)
	}
	out, err := json.MarshalIndent(whole, "", " ")
	if err != nil {
		return nil, fmt.Errorf("cannot indent the description of the API: %w", err)
	}
	return append(out, '\n'), nil
}
