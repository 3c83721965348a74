// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProblemType begins the type of every problem; the reason follows.
const ProblemType = "urn:windlass:problem:"

// Object is any JSON object of Kubernetes, unchanged.
type Object json.RawMessage

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Object) UnmarshalJSON(raw []byte) error {
	*o = append((*o)[:0], raw...)
	return nil
}

// Schema implements huma.SchemaProvider. Only the API server knows the fields.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// FieldError is one error in a request.
type FieldError struct {
	// Message says what.
	Message string `json:"message" doc:"What is wrong"`
	// Location says where, as in "query.sort" or "spec.replicas".
	Location string `json:"location,omitempty" doc:"Where: a field of the object, or a parameter of the request" example:"spec.replicas"`
	// Code names what is wrong. Default: FieldInvalid.
	Code FieldCode `json:"code" doc:"A stable name of what is wrong, to say it in the language of a user" example:"FieldValueInvalid"`
	// Parameters of the code.
	Parameters map[string]string `json:"parameters,omitempty" doc:"Parameters of the code: manager for a conflict, result for a part"`
}

// Error implements error.
func (e *FieldError) Error() string { return e.Location + ": " + e.Message }

// Problem is an error in the format of RFC 9457. For a refusal of the API server it also has the server's own Status.
type Problem struct { //nolint:errname // because RFC 9457 calls it a problem
	// Type is a stable name of the reason.
	Type string `json:"type" doc:"A stable URN that names the reason" example:"urn:windlass:problem:NotFound"`
	// Code is the reason alone.
	Code Code `json:"code" doc:"The reason: the last part of type. With its parameters, a client can say it in the language of a user" example:"NotFound"`
	// Parameters of the code.
	Parameters map[string]string `json:"parameters,omitempty" doc:"Parameters of the code, as the guide lists them"`
	// Title is the text of the status code.
	Title string `json:"title" doc:"The text of the status code"`
	// Status is the code of the answer.
	Status int `json:"status" doc:"The status code, as in the answer itself"`
	// Detail says what is wrong with this request.
	Detail string `json:"detail,omitempty" doc:"What is wrong with this request"`
	// Instance names the request.
	Instance string `json:"instance,omitempty" doc:"The request, as in the header X-Request-Id and in the log"`
	// Errors are all errors, field by field.
	Errors []FieldError `json:"errors,omitempty" nullable:"false" doc:"All errors, field by field, or the conflicts of an apply"`
	// Kubernetes is the Status of the API server, unchanged.
	Kubernetes Object `json:"kubernetes,omitempty" doc:"The Status that the API server returned, unchanged"`
	// RetryAfter is when to ask again, as in the header of that name. Default: empty, for never.
	RetryAfter string `json:"-"`
}

// NewProblem returns a problem of the gateway's own.
func NewProblem(status int, code Code, detail string, errs ...FieldError) *Problem {
	for i := range errs {
		errs[i].Code = cmp.Or(errs[i].Code, FieldInvalid)
	}
	return &Problem{
		Type: ProblemType + string(code), Code: code, Title: http.StatusText(status), Status: status, Detail: detail, Errors: errs,
	}
}

// With adds a parameter, unless it is empty, and returns the problem.
func (p *Problem) With(name, value string) *Problem {
	if value == "" {
		return p
	}
	if p.Parameters == nil {
		p.Parameters = map[string]string{}
	}
	p.Parameters[name] = value
	return p
}

// FromStatus returns the problem of a refusal of the API server: its code, and its body if that is a Status. Any other body
// is dropped, because it may come from something in between.
func FromStatus(code int, body []byte) *Problem {
	status := &metav1.Status{}
	if json.Unmarshal(body, status) != nil || status.Kind != "Status" {
		return NewProblem(code, knownCode("", code), "The API server refused the request.")
	}
	problem := NewProblem(code, knownCode(status.Reason, code), status.Message)
	problem.Kubernetes = body
	if fields := fieldsOf(status.Message); len(fields) > 0 && (code == http.StatusBadRequest || code == http.StatusInternalServerError) {
		out := NewProblem(http.StatusUnprocessableEntity, "Invalid", "The object has unknown fields, or fields of the wrong type.", fields...)
		out.Kubernetes = problem.Kubernetes
		return out
	}
	problem.detail(status.Details)
	return problem
}

// detail adds what the API server says of the object and of its fields.
func (p *Problem) detail(details *metav1.StatusDetails) {
	if details == nil {
		return
	}
	seconds := ""
	if details.RetryAfterSeconds > 0 {
		seconds = strconv.Itoa(int(details.RetryAfterSeconds))
	}
	_ = p.With(ParameterKind, details.Kind).With(ParameterGroup, details.Group).With(ParameterName, details.Name).
		With(ParameterUID, string(details.UID)).With(ParameterSeconds, seconds)
	for _, cause := range details.Causes {
		if cause.Field == noField {
			continue
		}
		wrong := FieldError{Message: cause.Message, Location: cause.Field, Code: knownFieldCode(cause.Type)}
		if match := conflictWith.FindStringSubmatch(cause.Message); match != nil && wrong.Code == FieldConflict {
			wrong.Parameters = map[string]string{"manager": match[1]}
		}
		p.Errors = append(p.Errors, wrong)
	}
}

// conflictWith finds the manager in the message of a conflict.
var conflictWith = regexp.MustCompile(`^conflict with "([^"]+)"`)

// noField is the field of causes that are not about a field. They stay in the Status.
const noField = "<nil>"

// FromModel returns the problem of a request that huma refused.
func FromModel(model *huma.ErrorModel) *Problem {
	reason := Code("Invalid")
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
		return NewProblem(model.Status, "InternalError", "An unexpected error occurred. The log has its cause under the id of this request.")
	}
	problem := NewProblem(model.Status, reason, model.Detail)
	for _, detail := range model.Errors {
		problem.Errors = append(problem.Errors, FieldError{Message: detail.Message, Location: detail.Location, Code: codeOf(detail.Message)})
	}
	return problem
}

// codeOf returns the code of what huma says about a parameter or a field.
func codeOf(message string) FieldCode {
	switch {
	case strings.HasPrefix(message, "unexpected property") || strings.HasPrefix(message, "unknown query parameter"):
		return FieldUnknown
	case strings.HasPrefix(message, "required ") || strings.HasPrefix(message, "expected required property"):
		return FieldRequired
	case strings.HasPrefix(message, "expected value to be one of"):
		return FieldNotSupported
	case strings.HasPrefix(message, "expected length <="):
		return FieldTooLong
	case slices.Contains([]string{
		"expected boolean", "expected number", "expected integer", "expected string", "expected array", "expected object", "invalid integer",
		"invalid boolean",
	}, message):
		return FieldType
	default:
		return FieldInvalid
	}
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
