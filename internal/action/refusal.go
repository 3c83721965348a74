// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

// Refusal is why an action is not carried out: the state of the object makes it meaningless, or a field of the request is not valid.
type Refusal struct { //nolint:errname // because nothing has failed: the action is refused
	// Code names why. It is API.
	Code string
	// Detail is a sentence.
	Detail string
	// Current is what is so now, of a consent to something that is no longer so.
	Current string
	// Field of the request that is not valid, and empty for everything else.
	Field string
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Field != "" {
		return r.Field + " " + r.Detail
	}
	return r.Detail
}

// Codes of refusals.
const (
	// CodeNothingToDo is the code of an action that would change nothing.
	CodeNothingToDo = "NothingToDo"
	// CodeDeleting is the code of an action on an object that is being deleted.
	CodeDeleting = "Deleting"
	// CodeOutdated is the code of a consent to something that is no longer so.
	CodeOutdated = "Outdated"
	// CodeInvalid is the code of a request that is not valid.
	CodeInvalid = "Invalid"

	machineOff    = "MachineOff"
	diskShrinks   = "DiskShrinks"
	rolloutPaused = "RolloutPaused"
	noRevision    = "NoRevision"
	runUnderWay   = "RunUnderWay"
)

// refuse returns the refusal of an action that the state of the object makes meaningless.
func refuse(code, detail string) error { return &Refusal{Code: code, Detail: detail} }

// NothingToDo is the refusal of an action that would change nothing.
func NothingToDo(detail string) error { return refuse(CodeNothingToDo, detail) }

// changedSince is the refusal of a consent to something that is no longer so. current is what is so now.
func changedSince(current, detail string) error {
	return &Refusal{Code: CodeOutdated, Detail: detail, Current: current}
}

// wrongField is the refusal of a field of the request.
func wrongField(name, message string) error {
	return &Refusal{Code: CodeInvalid, Detail: message, Field: name}
}
