// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"net/http"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// CodeNothingToDo is the code of an action that would change nothing.
const CodeNothingToDo view.Code = "NothingToDo"

// Codes of other refusals.
const (
	outdated      view.Code = "Outdated"
	machineOff    view.Code = "MachineOff"
	diskShrinks   view.Code = "DiskShrinks"
	rolloutPaused view.Code = "RolloutPaused"
	noRevision    view.Code = "NoRevision"
	runUnderWay   view.Code = "RunUnderWay"
)

// refuse returns the problem of an action that the state of the object makes meaningless.
func refuse(code view.Code, detail string) error {
	return view.NewProblem(http.StatusConflict, code, detail)
}

// NothingToDo is the problem of an action that would change nothing.
func NothingToDo(detail string) error { return refuse(CodeNothingToDo, detail) }

// changedSince is the problem of a consent to something that is no longer so. current is what is so now.
func changedSince(current, detail string) error {
	return view.NewProblem(http.StatusConflict, outdated, detail).With(view.ParameterCurrent, current)
}

// wrongField is the problem of a field of the body.
func wrongField(name, message string) error {
	return view.NewProblem(http.StatusUnprocessableEntity, "Invalid", "The request is not valid.",
		view.FieldError{Location: "body." + name, Message: message})
}
