// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"
	"unicode/utf8"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/why"
)

// sameWords compares, for the kinds of Windlass, what the engine says of the object with the condition, the event, the HTTP
// API and the plugin of kubectl.
func (r *trial) sameWords(ctx context.Context, subject why.Object) error {
	explain, ours := explainers()[subject.Kind]
	if !ours {
		return nil
	}
	object := explain.object()
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: subject.Namespace, Name: subject.Name}, object); err != nil {
		return err
	}
	path, err := r.path(ctx)
	if err != nil {
		return err
	}
	served, err := r.world.why(ctx, path)
	if err != nil {
		return err
	}
	engine := explain.why(object)
	cause, answer := engine.Failure(), served.Failure()
	if cause == nil || answer == nil || cause.Code != r.fault.code {
		return fmt.Errorf("the engine says %s and the HTTP API %s", said(engine), said(served))
	}
	if cause.Message != answer.Message || cause.Code != answer.Code || cause.Next.Text != answer.Next.Text || cause.Next.Command != answer.Next.Command {
		return fmt.Errorf("the engine says %s and the HTTP API %s", said(engine), said(served))
	}
	if err := r.samePlugin(ctx, subject, cause); err != nil {
		return err
	}
	conditions := object.GetConditions()
	if !slices.ContainsFunc(conditions, func(c metav1.Condition) bool {
		return wordsOf(c.Message) == wordsOf(cause.Message) && c.Reason == string(cause.Code)
	}) {
		return fmt.Errorf("no condition has the words %q: %+v", cause.Message, conditions)
	}
	return r.sameEvent(ctx, object, cause)
}

// samePlugin asks the plugin of kubectl, for programs and for people.
func (r *trial) samePlugin(ctx context.Context, subject why.Object, cause *why.Check) error {
	args := []string{"why", strings.ToLower(subject.Kind) + "/" + subject.Name}
	if subject.Namespace != "" {
		args = append(args, "-n", subject.Namespace)
	}
	done := r.world.Run(ctx, r.plugin, append(args, "-o", "json")...)
	if done.Code != 0 {
		return fmt.Errorf("the plugin: exit code %d: %s", done.Code, done.Err)
	}
	told := &why.Explanation{}
	if err := json.Unmarshal([]byte(done.Out), told); err != nil {
		return err
	}
	failure := told.Failure()
	if failure == nil || failure.Code != cause.Code || failure.Message != cause.Message || failure.Next.Text != cause.Next.Text || failure.Next.Command != cause.Next.Command {
		return fmt.Errorf("the plugin says %s, want %q", done.Out, cause.Message)
	}
	shown := unfolded(r.world.Run(ctx, r.plugin, args...).Out)
	parts := []string{cause.Message}
	if told.Because == nil || told.Because.Cause() == nil || !cause.Next.Heals { // otherwise the step is that of the object below
		parts = append(parts, cause.Next.Text, cause.Next.Command)
	}
	for _, part := range parts {
		if !strings.Contains(shown, unfolded(part)) {
			return fmt.Errorf("the plugin shows %q, want %q in it", shown, part)
		}
	}
	return nil
}

// unfolded is a text in one line: the plugin indents the further lines of a message.
func unfolded(text string) string { return strings.Join(strings.Fields(text), " ") }

// sameEvent looks at the events with the reason of the cause: one has its words, before which the cause can say what Windlass waits for. What
// changes while work goes on is not told again, so numbers can differ.
func (r *trial) sameEvent(ctx context.Context, object client.Object, cause *why.Check) error {
	list := &eventsv1.EventList{}
	if err := r.Client.List(ctx, list, client.InNamespace(eventNamespace(object))); err != nil {
		return err
	}
	var notes []string
	for i := range list.Items {
		if e := &list.Items[i]; e.Regarding.UID == object.GetUID() && e.Reason == string(cause.Code) {
			notes = append(notes, e.Note)
		}
	}
	told := func(note string) bool {
		return strings.Contains(numberless(cause.Message), numberless(note)) || causeIn(cause.Message) == causeIn(note)
	}
	if len(notes) == 0 && !cause.Next.Heals && !slices.Contains(ownDoing(), cause.Code) {
		return fmt.Errorf("no event has the reason %s, and a person must act", cause.Code)
	}
	if len(notes) == 0 {
		r.words.without.Add(1)
		return nil
	}
	if !slices.ContainsFunc(notes, told) {
		return fmt.Errorf("the events say %q, want %q", notes, cause.Message)
	}
	r.words.with.Add(1)
	return nil
}

// ownDoing are the causes that a person has asked for with this very object: nobody is told of what they have done themselves.
func ownDoing() []why.Code {
	return []why.Code{status.ReasonPaused, nodesv1.ReasonDryRun, appsv1alpha1.ReasonDeploymentPaused}
}

// words counts the causes that have an event to compare, and those that have none: what is on its way, and what a person has asked for.
type words struct{ with, without atomic.Int32 }

// compared fails the test if few causes had an event: then the comparison says nothing.
func (w *words) compared(t *testing.T) {
	t.Helper()
	with, without := w.with.Load(), w.without.Load()
	t.Logf("%d causes had an event with the same words, %d had none", with, without)
	if with < without {
		t.Error("too few causes had an event")
	}
}

func eventNamespace(object client.Object) string {
	if object.GetNamespace() != "" {
		return object.GetNamespace()
	}
	return metav1.NamespaceDefault
}

// wordsOf is a message without the capital letter and the full stop of a sentence.
func wordsOf(message string) string {
	message = strings.TrimSuffix(strings.TrimSpace(message), ".")
	first, size := utf8.DecodeRuneInString(message)
	return string(unicode.ToLower(first)) + message[size:]
}

var number = regexp.MustCompile(`\d+`)

// causeIn is a message without what it begins with: "waiting for 1 of 3 pods to be created: the cause", "gave up after 3 attempts: the cause".
func causeIn(message string) string {
	if _, cause, ok := strings.Cut(numberless(message), ": "); ok {
		return cause
	}
	return numberless(message)
}

func numberless(message string) string {
	return strings.ToLower(number.ReplaceAllString(wordsOf(message), "0"))
}
