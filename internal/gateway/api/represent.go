// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// headerTag is the header with the tag of an answer.
const headerTag = "ETag"

// variesBy are the headers of a request that its answer depends on: a cache must not give it to another caller.
const variesBy = "Accept-Encoding, Authorization, Cookie"

// Conditional is the input of every route whose answer has a tag.
type Conditional struct {
	// IfNoneMatch is read by representation.
	IfNoneMatch string `header:"If-None-Match" maxLength:"4096" doc:"Tags of answers that the caller has (ETag): 304 without a body if one of them is that of the answer"`
}

// FieldsInput is a parameter of everything that answers with objects.
type FieldsInput struct {
	Fields string `query:"fields" maxLength:"1024" doc:"Paths of the fields that objects have in the answer, separated by commas, as in metadata.labels,status.conditions.type; all fields by default. apiVersion, kind, and the name, namespace, uid and resourceVersion in metadata are always there. Others are left out, even if the schema requires them" example:"metadata.labels,status.conditions.type"`
}

// projection returns the choice of fields.
func (in *FieldsInput) projection() (*view.Projection, error) {
	out, err := view.ParseProjection(in.Fields)
	if err != nil {
		return nil, fieldErrors(err)
	}
	return out, nil
}

// representation is an answer that a caller may already have. Rights are checked before it is made, so that a tag tells nothing
// to those who may not read the answer.
type representation struct {
	media string
	// tag names the content.
	tag view.Tag
	// size is how many bytes write writes.
	size  int
	write func(io.Writer) error
	age   age
	// uncompressed answers are never compressed.
	uncompressed bool
}

// encoded returns the representation of a body.
func encoded(media string, body []byte) *representation {
	return &representation{media: media, tag: view.TagOf(body), size: len(body), write: func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	}}
}

// represent answers with the representation: with nothing if the caller has it, and otherwise in the coding that they prefer.
func (a *API) represent(r *representation) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		coded := coding("")
		if r.size >= minCompressed && !r.uncompressed {
			coded = preferredCoding(ctx.Header("Accept-Encoding"))
		}
		tag := r.tag.In(string(coded))
		r.age.write(ctx.SetHeader, ctx.AppendHeader)
		ctx.SetHeader("Vary", variesBy)
		ctx.SetHeader(headerTag, tag)
		if hasTag(ctx.Header("If-None-Match"), tag) {
			ctx.SetStatus(http.StatusNotModified)
			return
		}
		ctx.SetHeader("Content-Type", r.media)
		if coded == "" {
			ctx.SetHeader("Content-Length", strconv.Itoa(r.size))
		} else {
			ctx.SetHeader("Content-Encoding", string(coded))
		}
		ctx.SetStatus(http.StatusOK)
		if ctx.Method() == http.MethodHead {
			return
		}
		// A caller that has left cannot be answered.
		_ = a.encoders.write(ctx.BodyWriter(), coded, r.write)
	}}
}

// hasTag reports whether the value of If-None-Match has the tag.
func hasTag(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/") // RFC 9110 compares weakly here
		if one == "*" || one == tag {
			return true
		}
	}
	return false
}

// tagged describes an answer with a tag, and beside it the one that says that the caller has it.
func tagged(of *huma.Response) map[int]*huma.Response {
	of.Headers = carries(headerAge, headerWarning, headerTag)
	return map[int]*huma.Response{
		http.StatusOK: of,
		http.StatusNotModified: {
			Description: "The caller has this answer: its tag is in If-None-Match", Headers: carries(headerAge, headerWarning, headerTag),
		},
	}
}
