// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"regexp"
	"strings"
)

const unknownField = "is an unknown field"

// fieldsOf returns the fields that a refusal of the API server is about. For objects with unknown fields or fields of the wrong
// type, the API server lists no causes and names the fields in its message only: with status 400 for a create, and 500 for an
// apply.
func fieldsOf(message string) []FieldError {
	if _, list, strict := strings.Cut(message, "strict decoding error: "); strict {
		return strictErrors(list)
	}
	if _, list, apply := strings.Cut(message, "failed to create typed patch object ("); apply {
		return typedErrors(list)
	}
	wrongType := regexp.MustCompile(`cannot unmarshal (\w+) into Go struct field \w+\.(\S+) of type`)
	if match := wrongType.FindStringSubmatch(message); match != nil {
		return []FieldError{{Location: match[2], Message: "has the wrong type: " + match[1], Code: FieldType}}
	}
	return nil
}

// strictErrors reads a list such as: unknown field "spec.a", duplicate field "spec.b".
func strictErrors(list string) []FieldError {
	var out []FieldError
	for _, match := range regexp.MustCompile(`(unknown|duplicate) field "([^"]+)"`).FindAllStringSubmatch(list, -1) {
		wrong := FieldError{Location: match[2], Message: unknownField, Code: FieldUnknown}
		if match[1] == "duplicate" {
			wrong.Message, wrong.Code = "is a duplicate field", FieldDuplicate
		}
		out = append(out, wrong)
	}
	return out
}

// typedErrors reads one error or several, such as: .spec.a: field not declared in schema.
func typedErrors(list string) []FieldError {
	var out []FieldError
	for _, match := range regexp.MustCompile(`(?m)(?:^\s*|: )\.([^\s:]+): (.+)$`).FindAllStringSubmatch(list, -1) {
		message, _, _ := strings.Cut(match[2], ", got ") // what follows is Go's notation of the value
		wrong := FieldError{Location: match[1], Message: message, Code: FieldInvalid}
		switch {
		case message == "field not declared in schema":
			wrong.Message, wrong.Code = unknownField, FieldUnknown
		case strings.HasPrefix(message, "expected "):
			wrong.Message, wrong.Code = "has the wrong type: "+message, FieldType
		}
		out = append(out, wrong)
	}
	return out
}
