// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Code names what is wrong with a request. With its parameters, a client can say it in the language of its user. Codes of the
// API server are its reasons.
type Code string

// Names of parameters that problems have.
const (
	// ParameterSeconds is when to ask again.
	ParameterSeconds = "retryAfterSeconds"
	// ParameterAllowed lists what is allowed instead.
	ParameterAllowed = "allowed"
	// ParameterLimit is a limit that the request exceeds.
	ParameterLimit = "limit"
	// ParameterHeader is the header that is wrong.
	ParameterHeader = "header"
	// ParameterKind is the kind of the object that a refusal of the API server is about, as in the routes.
	ParameterKind = "kind"
	// ParameterGroup is the API group of that object.
	ParameterGroup = "group"
	// ParameterName is the name of that object.
	ParameterName = "name"
	// ParameterUID is the UID of that object.
	ParameterUID = "uid"
	// ParameterCurrent is what is so now, instead of what the caller has seen.
	ParameterCurrent = "current"
)

// ProblemCode is a row of the table of codes.
type ProblemCode struct {
	// Code of the problem.
	Code Code
	// About says when a problem has the code.
	About string
	// Parameters that a problem with the code can have.
	Parameters []string
}

// ProblemCodes returns the table of codes, by their names.
func ProblemCodes() []ProblemCode {
	object := []string{ParameterKind, ParameterGroup, ParameterName, ParameterUID}
	own := func(code Code, about string, parameters ...string) ProblemCode {
		return ProblemCode{code, about, parameters}
	}
	server := func(reason metav1.StatusReason, about string, parameters ...string) ProblemCode {
		return ProblemCode{Code(reason), about, append(slices.Clone(object), parameters...)}
	}
	out := []ProblemCode{
		own("BadGateway", "the API server cannot be reached"),
		own("Busy", "there is no room at present: for the check of a token, a body, a request that reads much, or a stream", ParameterSeconds),
		own("ConsoleHeld", "the machine has one console, and somebody else has it open"),
		own("CrossOrigin", "the request comes from a page of another origin"),
		own("Deleting", "the object is being deleted, so the action makes no sense"),
		own("DiskShrinks", "a root disk only grows"),
		own("ForeignSecret", "the Secret that the status names was not written for the object"),
		own("Host", "a server on a loopback address was asked for another host"),
		own("HistoryUnavailable", "Prometheus does not answer, and the gateway remembers no figures of the object"),
		own("HostUnreachable", "the host of the machine does not answer", ParameterSeconds),
		own("Impersonation", "the request has a header that begins with Impersonate-", ParameterHeader),
		own("MachineOff", "the machine does not run: turn it on first"),
		own("NoHosts", "only the API of the manager's process reaches hosts, and this is another one"),
		own("NoRevision", "there is no such revision, or no earlier one"),
		own("NoSuchPath", "the API does not have this path"),
		own("NothingToDo", "the object is as the action would make it, or does not wait for it"),
		own("NotLeading", "the manager of this process is not the leader, which alone reaches hosts", ParameterSeconds),
		own("NoShell", "the console of a container is /bin/sh of its image, which has none"),
		own("NotYet", "the object does not have yet what is asked for"),
		own("Outdated", "what the caller agrees to has changed since they have read it", ParameterCurrent),
		own("ProviderUnavailable", "the OpenID provider does not answer, so the session cannot be renewed"),
		own("Replaced", "the object with that UID is gone, and uid is that of the one that has its name now", ParameterUID),
		own("RolloutPaused", "the rollout is paused: resume it first"),
		own("SessionEnded", "the session of the browser has expired or was logged out, or its token is no longer accepted: log in again"),
		own("RunUnderWay", "a run of the tool is under way: wait until it ends"),
		own("TooLarge", "the objects of a list are too large together: ask for pages, one namespace, or fewer objects", ParameterLimit),
		own("Unsupported", "the host of the machine cannot do this"),
		own("UpgradeRequired", "the path is a WebSocket with one of these subprotocols", ParameterAllowed),
		server(metav1.StatusReasonAlreadyExists, "an object of this name exists"),
		server(metav1.StatusReasonBadRequest, "the request cannot be parsed"),
		server(metav1.StatusReasonConflict, "the object has changed since, or other managers own the fields"),
		server(metav1.StatusReasonExpired, "the version or the page is too old: begin again"),
		server(metav1.StatusReasonForbidden, "the caller does not have the right, or a policy refuses the object"),
		server(metav1.StatusReasonGone, "the version or the page is too old: begin again"),
		server(metav1.StatusReasonInternalError, "an unexpected error, whose cause is in the log"),
		server(metav1.StatusReasonInvalid, "fields or parameters are not valid: see errors"),
		server(metav1.StatusReasonMethodNotAllowed, "the path or the object does not have this method", ParameterAllowed),
		server(metav1.StatusReasonNotAcceptable, "the API server does not have this media type"),
		server(metav1.StatusReasonNotFound, "there is no such object"),
		server(metav1.StatusReasonRequestEntityTooLarge, "the body is too large", ParameterLimit),
		server(metav1.StatusReasonServerTimeout, "the API server did not finish in time", ParameterSeconds),
		server(metav1.StatusReasonServiceUnavailable, "the API server cannot answer at present", ParameterSeconds),
		server(metav1.StatusReasonStoreReadError, "the API server cannot read what it has stored"),
		server(metav1.StatusReasonTimeout, "the body did not arrive, or the API server did not answer in time", ParameterSeconds),
		server(metav1.StatusReasonTooManyRequests, "the caller has sent too many requests, or a budget does not allow it now", ParameterSeconds),
		server(metav1.StatusReasonUnauthorized, "there is no token, or the API server does not accept it"),
		server(metav1.StatusReasonUnsupportedMediaType, "the body has a media type that the path does not take", ParameterAllowed),
	}
	slices.SortFunc(out, func(a, b ProblemCode) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return out
}

// knownCode returns the code of a refusal: the reason if it is in the table, and otherwise what the status says. Only
// something between the API server and an object, such as a webhook, has other reasons.
func knownCode(reason metav1.StatusReason, status int) Code {
	for _, row := range ProblemCodes() {
		if string(row.Code) == string(reason) {
			return row.Code
		}
	}
	switch status {
	case http.StatusUnauthorized:
		return Code(metav1.StatusReasonUnauthorized)
	case http.StatusForbidden:
		return Code(metav1.StatusReasonForbidden)
	case http.StatusNotFound:
		return Code(metav1.StatusReasonNotFound)
	case http.StatusMethodNotAllowed:
		return Code(metav1.StatusReasonMethodNotAllowed)
	case http.StatusConflict:
		return Code(metav1.StatusReasonConflict)
	case http.StatusGone:
		return Code(metav1.StatusReasonGone)
	case http.StatusRequestEntityTooLarge:
		return Code(metav1.StatusReasonRequestEntityTooLarge)
	case http.StatusUnsupportedMediaType:
		return Code(metav1.StatusReasonUnsupportedMediaType)
	case http.StatusUnprocessableEntity:
		return Code(metav1.StatusReasonInvalid)
	case http.StatusTooManyRequests:
		return Code(metav1.StatusReasonTooManyRequests)
	case http.StatusBadGateway:
		return "BadGateway"
	case http.StatusServiceUnavailable:
		return Code(metav1.StatusReasonServiceUnavailable)
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return Code(metav1.StatusReasonTimeout)
	}
	if status < http.StatusInternalServerError {
		return Code(metav1.StatusReasonBadRequest)
	}
	return Code(metav1.StatusReasonInternalError)
}

// CodeOf returns the code of a refusal that gives no reason.
func CodeOf(status int) Code { return knownCode("", status) }

// Schema implements huma.SchemaProvider.
func (Code) Schema(huma.Registry) *huma.Schema {
	out := &huma.Schema{Type: huma.TypeString}
	for _, row := range ProblemCodes() {
		out.Enum = append(out.Enum, string(row.Code))
	}
	return out
}

// FieldCode names what is wrong with a field or a parameter. Most are causes of the API server.
type FieldCode string

// Codes of fields that the API server has no cause for, or that the gateway finds itself.
const (
	// FieldInvalid is a value that is not valid.
	FieldInvalid = FieldCode(metav1.CauseTypeFieldValueInvalid)
	// FieldRequired is a value that is missing.
	FieldRequired = FieldCode(metav1.CauseTypeFieldValueRequired)
	// FieldDuplicate is a value that is there twice.
	FieldDuplicate = FieldCode(metav1.CauseTypeFieldValueDuplicate)
	// FieldType is a value of the wrong type.
	FieldType = FieldCode(metav1.CauseTypeTypeInvalid)
	// FieldNotSupported is a value that is not one of those that are possible.
	FieldNotSupported = FieldCode(metav1.CauseTypeFieldValueNotSupported)
	// FieldTooLong is a value that is too long.
	FieldTooLong = FieldCode(metav1.CauseTypeTooLong)
	// FieldConflict is a field that another manager owns. The parameter manager names it.
	FieldConflict = FieldCode(metav1.CauseTypeFieldManagerConflict)
	// FieldUnknown is a field or a parameter that does not exist.
	FieldUnknown FieldCode = "FieldUnknown"
	// FieldPart is the result for one part of a request that failed in another part. The parameter result has it.
	FieldPart FieldCode = "PartResult"
)

// FieldCodes returns all codes of fields in order.
func FieldCodes() []FieldCode {
	out := []FieldCode{
		FieldInvalid, FieldRequired, FieldDuplicate, FieldType, FieldNotSupported, FieldTooLong, FieldConflict, FieldUnknown, FieldPart,
		FieldCode(metav1.CauseTypeFieldValueNotFound), FieldCode(metav1.CauseTypeForbidden), FieldCode(metav1.CauseTypeTooMany),
		FieldCode(metav1.CauseTypeInternal), FieldCode(metav1.CauseTypeUnexpectedServerResponse),
		FieldCode(metav1.CauseTypeResourceVersionTooLarge),
	}
	slices.Sort(out)
	return out
}

// Schema implements huma.SchemaProvider.
func (FieldCode) Schema(huma.Registry) *huma.Schema {
	out := &huma.Schema{Type: huma.TypeString}
	for _, code := range FieldCodes() {
		out.Enum = append(out.Enum, string(code))
	}
	return out
}

// knownFieldCode returns the code of a cause.
func knownFieldCode(cause metav1.CauseType) FieldCode {
	if code := FieldCode(cause); slices.Contains(FieldCodes(), code) {
		return code
	}
	return FieldInvalid
}
