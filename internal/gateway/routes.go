// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// metaBody is the key of an operation's metadata under which the schema of its body is.
const metaBody = "body"

// Target is the object that a path names. Its parameters are those of the route, so it reads them itself.
type Target struct{ namespace, name string }

// Resolve implements huma.Resolver.
func (t *Target) Resolve(ctx huma.Context) []error {
	t.namespace, t.name = ctx.Param("ns"), ctx.Param("name")
	var errs []error
	// The names of kinds differ in what they may contain, and the API server says so; here it is about what a path may.
	if len(t.name) > validation.DNS1123SubdomainMaxLength || strings.ContainsAny(t.name, "/%\x00") || t.name == "." || t.name == ".." {
		errs = append(errs, &huma.ErrorDetail{Location: "path.name", Message: "is no name of an object"})
	}
	if t.namespace != "" && len(validation.IsDNS1123Label(t.namespace)) > 0 {
		errs = append(errs, &huma.ErrorDetail{Location: "path.ns", Message: "is no name of a namespace"})
	}
	return errs
}

// named returns the parameters of a path that names an object of the kind.
func named(k *feed.Kind) []*huma.Param {
	name := &huma.Param{Name: "name", In: "path", Required: true, Description: "Name of the object", Schema: &huma.Schema{Type: huma.TypeString}}
	if !k.Namespaced {
		return []*huma.Param{name}
	}
	return []*huma.Param{
		{Name: "ns", In: "path", Required: true, Description: "Namespace of the object", Schema: &huma.Schema{Type: huma.TypeString}}, name,
	}
}

// objectPath returns the path of an object of the kind.
func objectPath(k *feed.Kind, part string) string {
	if k.Namespaced {
		return "/v1/" + k.Plural + "/{ns}/{name}" + part
	}
	return "/v1/" + k.Plural + "/{name}" + part
}

// operation returns what all routes of a kind have in common. id is made unique with the kind.
func operation(k *feed.Kind, id, method, path, summary string, good map[int]*huma.Response) huma.Operation {
	op := huma.Operation{
		OperationID: k.Plural + "-" + id, Method: method, Path: path, Summary: summary, Tags: []string{k.Plural},
		Responses: answers(good),
	}
	if strings.Contains(path, "{name}") {
		op.Parameters = named(k)
	}
	return op
}

// takesBody says that the body of an operation is an object of Kubernetes, which the API server validates.
func takesBody(op huma.Operation, example any, media ...string) huma.Operation {
	content := map[string]*huma.MediaType{}
	for _, m := range media {
		content[m] = &huma.MediaType{Schema: ref(schemaObject), Example: example}
	}
	op.MaxBodyBytes = maxBody
	op.Metadata = map[string]any{metaBody: content}
	return op
}

// documentBody is told of every operation. What huma derives from a raw body is a string of bytes.
func documentBody(_ *huma.OpenAPI, op *huma.Operation) {
	if content, ok := op.Metadata[metaBody].(map[string]*huma.MediaType); ok {
		op.RequestBody.Content = content
		op.RequestBody.Required = true
	}
}

// reply is an answer that is ready to be written.
type reply struct {
	status   int
	media    string
	body     []byte
	warnings []string
}

// stream turns a reply into what huma writes.
func (r *reply) stream() *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", r.media)
		for _, warning := range r.warnings {
			ctx.AppendHeader("Warning", warning)
		}
		ctx.SetStatus(r.status)
		// Who no longer listens cannot be told so.
		_, _ = ctx.BodyWriter().Write(r.body)
	}}
}

// registerKinds registers the routes of all kinds.
func (g *Gateway) registerKinds() {
	for _, k := range g.hub.Kinds {
		g.registerReads(k)
		g.registerWrites(k)
	}
}

func (g *Gateway) registerReads(k *feed.Kind) {
	list := operation(k, "list", http.MethodGet, "/v1/"+k.Plural, "List "+k.Plural, map[int]*huma.Response{
		http.StatusOK: response(k.About, mediaJSON, schemaList, mediaTable, schemaTable),
	})
	if k.Namespaced {
		register(g, list, func(ctx context.Context, in *namespacedList) (*huma.StreamResponse, error) {
			return g.list(ctx, k, in.Namespace, &in.ListInput)
		})
	} else {
		register(g, list, func(ctx context.Context, in *ListInput) (*huma.StreamResponse, error) {
			return g.list(ctx, k, "", in)
		})
	}
	object := map[int]*huma.Response{http.StatusOK: response(k.GVK.Kind, mediaJSON, schemaObject)}
	register(g, operation(k, "get", http.MethodGet, objectPath(k, ""), "Read one", object),
		func(ctx context.Context, in *getInput) (*huma.StreamResponse, error) { return g.get(ctx, k, in) })
	text := map[int]*huma.Response{http.StatusOK: {
		Description: k.GVK.Kind, Content: map[string]*huma.MediaType{mediaYAML: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	register(g, operation(k, "yaml", http.MethodGet, objectPath(k, "/yaml"), "Read one as YAML", text),
		func(ctx context.Context, in *getInput) (*huma.StreamResponse, error) { return g.yaml(ctx, k, in) })
	events := map[int]*huma.Response{http.StatusOK: response("Events, the newest last", mediaJSON, schemaList)}
	register(g, operation(k, "events", http.MethodGet, objectPath(k, "/events"), "List the events about one", events),
		func(ctx context.Context, in *struct{ Target }) (*huma.StreamResponse, error) {
			return g.events(ctx, k, in.Target)
		})
}

func (g *Gateway) registerWrites(k *feed.Kind) {
	created := map[int]*huma.Response{
		http.StatusCreated: response("The object as it was created", mediaJSON, schemaObject),
		http.StatusOK:      response("The object as it would be created", mediaJSON, schemaObject),
	}
	post := takesBody(operation(k, "create", http.MethodPost, "/v1/"+k.Plural, "Create one", created), nil, mediaJSON, mediaYAML)
	if k.Namespaced {
		register(g, post, func(ctx context.Context, in *namespacedCreate) (*huma.StreamResponse, error) {
			return g.create(ctx, k, in.Namespace, &in.CreateInput)
		})
	} else {
		register(g, post, func(ctx context.Context, in *CreateInput) (*huma.StreamResponse, error) {
			return g.create(ctx, k, "", in)
		})
	}
	applied := map[int]*huma.Response{
		http.StatusOK:      response("The object as it is now", mediaJSON, schemaObject),
		http.StatusCreated: response("The object as it was created", mediaJSON, schemaObject),
	}
	put := operation(k, "apply", http.MethodPut, objectPath(k, ""), "Apply one: create it or change the fields that are given", applied)
	register(g, takesBody(put, nil, mediaJSON, mediaYAML),
		func(ctx context.Context, in *applyInput) (*huma.StreamResponse, error) {
			return g.apply(ctx, k, in)
		})
	gone := map[int]*huma.Response{
		http.StatusOK:       response("What was deleted", mediaJSON, schemaObject),
		http.StatusAccepted: response("What is being deleted", mediaJSON, schemaObject),
	}
	register(g, operation(k, "delete", http.MethodDelete, objectPath(k, ""), "Delete one", gone),
		func(ctx context.Context, in *deleteInput) (*huma.StreamResponse, error) {
			return g.delete(ctx, k, in)
		})
	if k.Scalable {
		scaled := map[int]*huma.Response{http.StatusOK: response("The Scale as it is now", mediaJSON, schemaObject)}
		register(g, operation(k, "scale", http.MethodPatch, objectPath(k, "/scale"), "Set the number of replicas", scaled),
			func(ctx context.Context, in *scaleInput) (*huma.StreamResponse, error) {
				return g.scale(ctx, k, in)
			})
	}
}

// fieldErrors returns the single errors of a request as one problem.
func fieldErrors(err error) error {
	var all []view.FieldError
	collect(err, &all)
	return view.NewProblem(http.StatusUnprocessableEntity, "Invalid", "The request is not valid.", all...)
}

func collect(err error, into *[]view.FieldError) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, single := range joined.Unwrap() {
			collect(single, into)
		}
		return
	}
	if field, ok := errors.AsType[*view.FieldError](err); ok {
		*into = append(*into, *field)
		return
	}
	*into = append(*into, view.FieldError{Message: err.Error()})
}
