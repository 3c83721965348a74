// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProblemType begins the type of every problem; the reason follows.
const ProblemType = "urn:windlass:problem:"

// Object is any JSON object of Kubernetes, as it is.
type Object json.RawMessage

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Object) UnmarshalJSON(raw []byte) error {
	*o = append((*o)[:0], raw...)
	return nil
}

// Schema implements huma.SchemaProvider: what is in it, only the API server says.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// FieldError is one thing that is wrong with a request.
type FieldError struct {
	// Message says what.
	Message string `json:"message" doc:"What is wrong"`
	// Location says where, as in "query.sort" or "spec.replicas".
	Location string `json:"location,omitempty" doc:"Where: a field of the object, or a parameter of the request"`
}

// Error implements error.
func (e *FieldError) Error() string { return e.Location + ": " + e.Message }

// Problem is an error as RFC 9457 has it, with the API server's own beside it where it comes from there.
type Problem struct { //nolint:errname // because RFC 9457 calls it so
	// Type is a stable name of the reason.
	Type string `json:"type" doc:"A URN that names the reason and does not change" example:"urn:windlass:problem:NotFound"`
	// Title is the text of the status code.
	Title string `json:"title" doc:"The text of the status code"`
	// Status is the code of the answer.
	Status int `json:"status" doc:"The status code, as in the answer itself"`
	// Detail is the sentence.
	Detail string `json:"detail,omitempty" doc:"What went wrong this time"`
	// Instance names the request.
	Instance string `json:"instance,omitempty" doc:"The request, as in the header X-Request-Id and in the log"`
	// Errors are the single things that are wrong.
	Errors []FieldError `json:"errors,omitempty" doc:"Everything that is wrong, field by field; the conflicts of an apply"`
	// Kubernetes is the Status of the API server, untouched.
	Kubernetes Object `json:"kubernetes,omitempty" doc:"The Status that the API server answered with, untouched"`
	// RetryAfter is when to ask again, as in the header of that name. Default: empty, for never.
	RetryAfter string `json:"-"`
}

// NewProblem returns a problem of the gateway's own.
func NewProblem(status int, reason, detail string, errs ...FieldError) *Problem {
	return &Problem{Type: ProblemType + reason, Title: http.StatusText(status), Status: status, Detail: detail, Errors: errs}
}

// FromStatus returns the problem that an answer of the API server is: the code as it was, and its body if it is a Status. Anything
// else in the body is not passed on, because nobody knows what it is.
func FromStatus(code int, body []byte) *Problem {
	problem := NewProblem(code, strings.ReplaceAll(http.StatusText(code), " ", ""), "The API server refused the request.")
	status := &metav1.Status{}
	if json.Unmarshal(body, status) != nil || status.Kind != "Status" {
		return problem
	}
	problem.Kubernetes = body
	problem.Detail = status.Message
	if status.Reason != "" {
		problem.Type = ProblemType + string(status.Reason)
	}
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			if cause.Field != noField {
				problem.Errors = append(problem.Errors, FieldError{Message: cause.Message, Location: cause.Field})
			}
		}
	}
	return problem
}

// noField is where the API server says that it has not looked further: of no use to who has to mend a field, and still in the Status.
const noField = "<nil>"

// FromModel returns the problem for what huma found wrong with a request.
func FromModel(model *huma.ErrorModel) *Problem {
	reason := "Invalid"
	switch model.Status {
	case http.StatusRequestEntityTooLarge:
		reason = "RequestEntityTooLarge"
	case http.StatusUnsupportedMediaType:
		reason = "UnsupportedMediaType"
	case http.StatusRequestTimeout:
		reason = "Timeout"
	case http.StatusBadRequest:
		reason = "BadRequest"
	}
	if model.Status >= http.StatusInternalServerError {
		return NewProblem(model.Status, "InternalError", "Something went wrong here; the log has it under this request's id.")
	}
	problem := NewProblem(model.Status, reason, model.Detail)
	for _, detail := range model.Errors {
		problem.Errors = append(problem.Errors, FieldError{Message: detail.Message, Location: detail.Location})
	}
	return problem
}

// Error implements error.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header {
	out := http.Header{}
	if p.RetryAfter != "" {
		out.Set("Retry-After", p.RetryAfter)
	}
	if p.Status == http.StatusUnauthorized {
		out.Set("WWW-Authenticate", `Bearer realm="windlass"`)
	}
	return out
}

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }
