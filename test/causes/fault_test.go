// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/why"
	"github.com/windlass-operator/windlass/test/rig"
)

// fault is something that is wrong, and the wanted explanation. In its texts, $ is its id.
type fault struct {
	// name says in plain English what is wrong, and id names its objects: a DNS label.
	name, id string
	// steps make it so.
	steps []step
	// ask is what is explained, as kind/namespace/name or kind/name; with * as name, the first pod of the namespace.
	ask string
	// code is the wanted cause.
	code why.Code
	// evidence is the field that has to prove it: kind/name field.
	evidence string
	// message has to be a part of the cause's message.
	message string
	// shows has to be in the output of the pasted command, and cures says that the cause is gone after it.
	shows string
	cures bool
	// top says that the cause is that of the object, whatever one of its pods says.
	top bool
	// real says that it needs the real node, and elsewhere that its command needs more than the tests have.
	real      bool
	elsewhere string
}

// table has the faults of a kind.
type table struct {
	kind   string
	faults []fault
}

// tables are all faults, in the order of the page.
func tables() []table {
	return []table{
		{"Pods that wait for a node", podFaults()},
		{"Containers that do not run", containerFaults()},
		{"Deployments, StatefulSets, DaemonSets and Jobs", ownerFaults()},
		{"Nodes", nodeFaults()},
		{"NodePools", poolFaults()},
		{"PodSets", podSetFaults()},
		{"PodBuggerTools", toolFaults()},
		{"VirtualMachines", machineFaults()},
		{"Clusters and Kubeconfigs", clusterFaults()},
	}
}

// TestFaults: of each fault the explanation names the true cause, points at the object that proves it, and gives a command that works.
func TestFaults(t *testing.T) {
	t.Parallel()
	if shared.world == nil {
		t.Skip(shared.skip)
	}
	for _, of := range tables() {
		for _, f := range of.faults {
			t.Run(f.id, func(t *testing.T) {
				t.Parallel()
				if f.real && shared.lacking != "" {
					t.Skip(shared.lacking)
				}
				r := &trial{world: shared.world, T: t, fault: f}
				r.play()
			})
		}
	}
}

// trial is a fault that is being induced.
type trial struct {
	*testing.T
	*world

	fault fault
}

func (r *trial) play() {
	r.must("make the namespace", r.namespace)
	for _, s := range r.fault.steps {
		r.must(s.does, func(ctx context.Context) error { return s.take(ctx, r) })
	}
	var answer *why.Explanation
	var path string
	r.must("explain "+r.fault.name, func(ctx context.Context) (err error) {
		if path, err = r.path(ctx); err != nil {
			return err
		}
		if answer, err = r.world.why(ctx, path); err != nil {
			return err
		}
		return r.right(answer)
	})
	cause := r.cause(answer)
	if r.fault.top || answer.Because == nil {
		r.must("say it in the same words everywhere", func(ctx context.Context) error { return r.sameWords(ctx, answer.Subject) })
	}
	r.paste(cause, path)
}

// must repeats what is to be done until it is.
func (r *trial) must(what string, do func(ctx context.Context) error) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if err := rig.Until(ctx, interval, do); err != nil {
		r.Fatalf("not within %s: %s: %v", patience, what, err)
	}
}

// fill puts the id into a text, and the directory for configurations.
func (r *trial) fill(text string) string {
	return strings.NewReplacer("$", r.fault.id, "CONFIGS", r.configs).Replace(text)
}

// path returns the path of what is asked about.
func (r *trial) path(ctx context.Context) (string, error) {
	path := r.fill(r.fault.ask)
	if !strings.HasSuffix(path, "/*") {
		return path, nil
	}
	pod, err := r.firstPod(ctx)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(path, "*") + pod, nil
}

// cause returns the failed check that has to name the cause.
func (r *trial) cause(of *why.Explanation) *why.Check {
	if r.fault.top {
		return of.Failure()
	}
	return of.Cause()
}

// right compares an explanation with the wanted one.
func (r *trial) right(got *why.Explanation) error {
	cause := r.cause(got)
	switch {
	case cause == nil:
		return fmt.Errorf("it names no cause: %s", said(got))
	case cause.Code != r.fault.code:
		return fmt.Errorf("it says %s, want %s: %s", cause.Code, r.fault.code, said(got))
	case !strings.Contains(strings.ToLower(cause.Message), strings.ToLower(r.fill(r.fault.message))):
		return fmt.Errorf("it says %q, want %q", cause.Message, r.fill(r.fault.message))
	case cause.Next == nil || cause.Next.Text == "":
		return fmt.Errorf("it says not what to do: %s", said(got))
	}
	var have []string
	for _, e := range cause.Evidence {
		have = append(have, e.Object.Kind+"/"+e.Object.Name+" "+e.Field)
		if e.ResourceVersion == "" {
			return fmt.Errorf("the evidence %s has no version", have[len(have)-1])
		}
	}
	if want := r.fill(r.fault.evidence); want != "" && !slices.ContainsFunc(have, func(e string) bool { return like(e, want) }) {
		return fmt.Errorf("its evidence is %q, want %q", have, want)
	}
	return nil
}

// like compares with a text in which * is anything.
func like(text, pattern string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(text)
}

func said(of *why.Explanation) string {
	raw, err := json.MarshalIndent(of, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// sameWords compares, for the kinds of Windlass, what the engine says of the object with the condition, the event, the HTTP
// API and the plugin of kubectl.
func (r *trial) sameWords(ctx context.Context, subject why.Object) error {
	explain, ours := engines()[subject.Kind]
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
		return words(c.Message) == words(cause.Message) && c.Reason == string(cause.Code)
	}) {
		return fmt.Errorf("no condition has the words %q: %+v", cause.Message, conditions)
	}
	return r.sameEvent(ctx, object, cause)
}

// samePlugin asks the plugin of kubectl.
func (r *trial) samePlugin(ctx context.Context, subject why.Object, cause *why.Check) error {
	if subject.Kind == "PodSet" {
		return nil // which the plugin does not explain
	}
	args := []string{"why", strings.ToLower(subject.Kind) + "/" + subject.Name, "-o", "json"}
	if subject.Namespace != "" {
		args = append(args, "-n", subject.Namespace)
	}
	done := r.world.Run(ctx, r.plugin, args...)
	if done.Code != 0 {
		return fmt.Errorf("the plugin: exit code %d: %s", done.Code, done.Err)
	}
	told := &why.Explanation{}
	if err := json.Unmarshal([]byte(done.Out), told); err != nil {
		return err
	}
	if failure := told.Failure(); failure == nil || failure.Code != cause.Code || failure.Message != cause.Message {
		return fmt.Errorf("the plugin says %s, want %q", done.Out, cause.Message)
	}
	return nil
}

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
	if len(notes) > 0 && !slices.ContainsFunc(notes, told) {
		return fmt.Errorf("the events say %q, want %q", notes, cause.Message)
	}
	return nil
}

func eventNamespace(object client.Object) string {
	if object.GetNamespace() != "" {
		return object.GetNamespace()
	}
	return metav1.NamespaceDefault
}

// words is a message without the capital letter and the full stop of a sentence.
func words(message string) string {
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
	return strings.ToLower(number.ReplaceAllString(words(message), "0"))
}

// paste runs the command of the next step as it is.
func (r *trial) paste(cause *why.Check, path string) {
	command := cause.Next.Command
	if r.fault.elsewhere != "" {
		return
	}
	if command == "" {
		r.Errorf("there is no command to paste: %+v", cause.Next)
		return
	}
	r.must("run "+command, func(ctx context.Context) error {
		done := r.sh(ctx, command)
		if done.Code != 0 {
			return fmt.Errorf("exit code %d: %s%s", done.Code, done.Out, done.Err)
		}
		if want := r.fill(r.fault.shows); !strings.Contains(done.Out+done.Err, want) {
			return fmt.Errorf("it does not show %q: %s%s", want, done.Out, done.Err)
		}
		return nil
	})
	if !r.fault.cures {
		return
	}
	r.must("be cured by "+command, func(ctx context.Context) error {
		now, err := r.world.why(ctx, path)
		if err != nil {
			return err
		}
		if still := r.cause(now); still != nil && still.Code == r.fault.code {
			return errors.New("the cause is still there: " + said(now))
		}
		return nil
	})
}
