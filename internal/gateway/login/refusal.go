// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"strings"
	"unicode"
)

// maxQuoted bounds what is repeated of a provider's words, in characters.
const maxQuoted = 300

// Refusal is a login that will not succeed if it is tried again as it is.
type Refusal struct { //nolint:errname // because it says no, and nothing is broken
	// Status is that of the answer, and Text what its person reads.
	Status int
	Text   string

	cause error
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.cause != nil {
		return r.Text + ": " + r.cause.Error()
	}
	return r.Text
}

// Unwrap returns the cause, which is for the log.
func (r *Refusal) Unwrap() error { return r.cause }

func refuse(status int, text string, cause error) error { return &Refusal{status, text, cause} }

// quoted returns the words of a provider, or of somebody who pretends to be one: some printable characters in one line.
func quoted(words ...string) string {
	var all []rune
	for _, one := range strings.Join(words, ": ") {
		if unicode.IsPrint(one) {
			all = append(all, one)
		}
	}
	if len(all) > maxQuoted {
		all = append(all[:maxQuoted], '…')
	}
	return strings.TrimSuffix(string(all), ": ")
}
