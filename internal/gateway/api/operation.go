// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
)

// maxBody bounds a body, in bytes, as the API server does.
const maxBody = 3 << 20

// metaBody is the key of an operation's metadata under which the schema of its body is.
const metaBody = "body"

// locationNamespace is where errors say that the parameter of that name is.
const locationNamespace = "query.ns"

// Target is the object that a path names. It reads its parameters itself, because they differ between routes.
type Target struct{ namespace, name string }

// Resolve implements huma.Resolver.
func (t *Target) Resolve(ctx huma.Context) []error {
	t.namespace, t.name = ctx.Param("ns"), ctx.Param("name")
	var errs []error
	// The API server validates names, whose rules differ between kinds. Here a name must be safe in a path.
	if len(t.name) > validation.DNS1123SubdomainMaxLength || strings.ContainsAny(t.name, "/%\x00") || t.name == "." || t.name == ".." {
		errs = append(errs, &huma.ErrorDetail{Location: "path.name", Message: "is not the name of an object"})
	}
	if t.namespace != "" && len(validation.IsDNS1123Label(t.namespace)) > 0 {
		errs = append(errs, &huma.ErrorDetail{Location: "path.ns", Message: "is not the name of a namespace"})
	}
	return errs
}

// named returns the parameters of a path of an object of the kind.
func named(k *feed.Kind) []*huma.Param {
	name := &huma.Param{Name: keyName, In: "path", Required: true, Description: "Name of the object", Schema: &huma.Schema{Type: huma.TypeString}}
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

// operation returns what all routes of a kind have in common. The kind makes its id unique.
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

// takesBody documents that the body of an operation is an object of the kind.
func takesBody(k *feed.Kind, op huma.Operation, media ...string) huma.Operation {
	content := map[string]*huma.MediaType{}
	for _, m := range media {
		content[m] = &huma.MediaType{Schema: ref(schemaInput(k))}
	}
	op.MaxBodyBytes = maxBody
	op.Metadata = map[string]any{metaBody: content}
	return op
}

// documentOperation completes the description of an operation, for which huma calls it. It replaces the body that huma documents
// for raw bodies, which is a string.
func documentOperation(api *huma.OpenAPI, op *huma.Operation) {
	op.Description = cmp.Or(op.Description, op.Summary+".")
	for _, tag := range op.Tags {
		if !slices.ContainsFunc(api.Tags, func(known *huma.Tag) bool { return known.Name == tag }) {
			api.Tags = append(api.Tags, &huma.Tag{Name: tag, Description: "Routes of " + tag})
		}
	}
	if content, ok := op.Metadata[metaBody].(map[string]*huma.MediaType); ok {
		op.RequestBody.Content = content
		op.RequestBody.Required = true
	}
}
