// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/status"
)

const (
	// maxMessage and maxValue bound what is quoted of objects, in bytes.
	maxMessage, maxValue = 2048, 1024
	// laterText is why nothing after a failed check is looked at.
	laterText = "An earlier check has failed."
)

// walk makes one check after another.
type walk struct {
	explanation Explanation
	failed      bool
	// names are what the texts of codes may name, and titles what checks ask.
	names  names
	titles map[CheckID]string
}

func newWalk(subject Object) *walk {
	return &walk{
		explanation: Explanation{Subject: subject, Checks: []Check{}},
		titles:      titles(),
		names:       names{"kind": strings.ToLower(subject.Kind), "namespace": subject.Namespace, "name": subject.Name},
	}
}

// finding is the cause that a check has found, nil for none.
type finding struct {
	code     Code
	message  string
	evidence []Evidence
	// names are more of what the texts of the code may name.
	names names
	// gaveUp is true if Windlass does not try again, and at is when it does.
	gaveUp bool
	at     *metav1.Time
	// ends is true for a pause that ends by itself, at that time.
	ends bool
}

// check makes a check, unless an earlier one has failed.
func (w *walk) check(id CheckID, look func() *finding) {
	if w.failed {
		w.explanation.Checks = append(w.explanation.Checks, w.made(id, NotLookedAt, laterText))
		return
	}
	found := look()
	if found == nil {
		w.explanation.Checks = append(w.explanation.Checks, w.made(id, Passed, ""))
		return
	}
	w.failed = true
	check := w.made(id, Failed, sentence(found.message))
	check.Code, check.Evidence = found.code, found.evidence
	check.Next = found.code.step(w.explanation.Subject.Kind, w.names.with(found.names), found.gaveUp)
	check.Next.At = found.at
	if found.ends {
		check.Next.Text, check.Next.Heals = pauseEnds, true
	}
	w.explanation.Checks = append(w.explanation.Checks, check)
}

// made returns a check with what became of it.
func (w *walk) made(id CheckID, state State, message string) Check {
	return Check{ID: id, Title: w.titles[id], State: state, Message: message}
}

// note adds what the last check has seen, if it has passed.
func (w *walk) note(message string) {
	last := &w.explanation.Checks[len(w.explanation.Checks)-1]
	if last.State == Passed {
		last.Message = sentence(message)
	}
}

// skip enters a check that cannot be made, and why.
func (w *walk) skip(id CheckID, because string) {
	w.explanation.Checks = append(w.explanation.Checks, w.made(id, NotLookedAt, cmp.Or(sentence(because), laterText)))
}

// Unseen enters a check that cannot be made because objects around the subject could not be read.
func (e *Explanation) Unseen(id CheckID, because string) {
	e.Checks = append(e.Checks, Check{ID: id, Title: titles()[id], State: NotLookedAt, Message: sentence(because)})
}

// end returns the explanation. Without a failed check the summary says that.
func (w *walk) end(fine string) *Explanation {
	w.explanation.Summary = sentence(fine)
	if failure := w.explanation.Failure(); failure != nil {
		w.explanation.Summary = failure.Message
	} else if slices.ContainsFunc(w.explanation.Checks, func(c Check) bool { return c.State == NotLookedAt }) {
		w.explanation.Summary = "Nothing that could be looked at explains it."
	}
	return &w.explanation
}

// sentence gives a text a capital letter and a full stop, and bounds it.
func sentence(text string) string {
	text = strings.TrimSpace(status.Clip(text, maxMessage))
	if text == "" {
		return ""
	}
	// Names of objects keep their case: "pool x" becomes "Pool x", "worker-01 is" does not.
	first, _, _ := strings.Cut(text, " ")
	letters := strings.IndexFunc(first, func(r rune) bool { return !unicode.IsLetter(r) && r != ',' && r != '\'' }) < 0
	if r, size := utf8.DecodeRuneInString(text); letters && strings.Contains(text, " ") {
		text = string(unicode.ToUpper(r)) + text[size:]
	}
	if strings.ContainsRune(".!?…", lastRune(text)) {
		return text
	}
	return text + "."
}

func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// fact is evidence from an object.
func fact(kind string, object metav1.Object, field, value string) Evidence {
	return Evidence{
		Object: ObjectOf(kind, object), Field: field, Value: status.Clip(value, maxValue), ResourceVersion: object.GetResourceVersion(),
	}
}
