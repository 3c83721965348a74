// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Explanation says why an object is as it is: the checks in the order in which an engineer would make them. The first failed
// check names the cause.
type Explanation struct {
	// Subject is the object that is explained.
	Subject Object `json:"subject" doc:"The object that is explained"`
	// Pool is the pool that a node is checked against, empty for everything else.
	Pool string `json:"pool,omitempty" doc:"The pool that a node is checked against"`
	// Summary is one sentence: the message of the failed check, or that every check has passed.
	Summary string `json:"summary" doc:"One sentence: the message of the failed check, or that none has failed"`
	// Checks in their order. At most one has failed.
	Checks []Check `json:"checks" nullable:"false" doc:"The checks in their order; at most one has failed"`
	// Origins say who has set the labels, annotations and taints of a node.
	Origins []Origin `json:"origins,omitempty" nullable:"false" doc:"Who has set the labels, annotations and taints of a node"`
	// Because explains the object that the subject waits for.
	Because *Explanation `json:"because,omitempty" doc:"The explanation of an object that the subject waits for, such as one of its pods"`
}

// Object names an object.
type Object struct {
	// Kind, Namespace and Name of the object. Cluster-scoped objects have no namespace.
	Kind      string `json:"kind" doc:"Kind of the object" example:"Pod"`
	Namespace string `json:"namespace,omitempty" doc:"Namespace of the object"`
	Name      string `json:"name" doc:"Name of the object"`
}

// ObjectOf names an object of the kind.
func ObjectOf(kind string, object metav1.Object) Object {
	return Object{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
}

// State is what became of a check.
type State string

// States of checks.
const (
	// Passed checks found nothing.
	Passed State = "Passed"
	// Failed is the check that found the cause.
	Failed State = "Failed"
	// NotLookedAt is a check that was not made: an earlier one failed, or the objects that it needs could not be read.
	NotLookedAt State = "NotLookedAt"
)

// Check is one step of an explanation.
type Check struct {
	// ID names what is asked, for programs.
	ID CheckID `json:"id" doc:"Names what is checked, for programs" example:"PoolNodeReady"`
	// Title is what the check is about, as a statement that is true if it passes.
	Title string `json:"title" doc:"What is checked: a statement that is true if the check has passed" example:"A node of the pool is ready"`
	// State is what became of it.
	State State `json:"state" enum:"Passed,Failed,NotLookedAt" doc:"What became of the check"`
	// Code names the cause. Only failed checks have one.
	Code Code `json:"code,omitempty" doc:"The cause, for programs; the guide lists all codes. Only failed checks have one" example:"PoolCordoned"`
	// Message is a sentence: the cause, why the check was not made, or what it saw.
	Message string `json:"message,omitempty" doc:"A sentence: the cause, why the check was not made, or what it has seen"`
	// Evidence are the fields that prove the cause.
	Evidence []Evidence `json:"evidence,omitempty" nullable:"false" doc:"The fields that prove the cause"`
	// Next is what to do about a cause.
	Next *Step `json:"next,omitempty" doc:"What to do about the cause"`
}

// Evidence is a field of an object that proves a cause.
type Evidence struct {
	// Object that has the field.
	Object Object `json:"object" doc:"The object that has the field"`
	// Field is its path, and Value what it had.
	Field string `json:"field" doc:"Path of the field" example:"spec.unschedulable"`
	Value string `json:"value" doc:"Value of the field" example:"true"`
	// ResourceVersion is the version of the object that had it.
	ResourceVersion string `json:"resourceVersion,omitempty" doc:"The version of the object"`
}

// Step is what to do next.
type Step struct {
	// Text is a sentence.
	Text string `json:"text" doc:"A sentence" example:"Uncordon one of the nodes."`
	// Command can be pasted into a shell.
	Command string `json:"command,omitempty" doc:"A command that does it or shows more" example:"kubectl uncordon worker-01"`
	// Heals is true where nobody has to do anything.
	Heals bool `json:"heals" doc:"Whether it heals by itself: the step is then for those who wait too long"`
	// At is when Windlass tries again, if that is known.
	At *metav1.Time `json:"at,omitempty" doc:"When Windlass tries again, if that is known"`
}

// RunsIn puts the namespace that Windlass runs in into the commands of the explanation and of those of what it waits for; nothing, if it is not known.
func (e *Explanation) RunsIn(system string) {
	for i := range e.Checks {
		if next := e.Checks[i].Next; next != nil {
			next.RunsIn(system)
		}
	}
	if e.Because != nil {
		e.Because.RunsIn(system)
	}
}

// RunsIn puts the namespace that Windlass runs in into the command.
func (s *Step) RunsIn(system string) {
	if rest, about := strings.CutPrefix(s.Command, inSystem); about && system != "" {
		s.Command = "kubectl -n " + quoted(system) + " " + rest
	}
}

// Failure returns the failed check, nil if none has failed.
func (e *Explanation) Failure() *Check {
	at := slices.IndexFunc(e.Checks, func(c Check) bool { return c.State == Failed })
	if at < 0 {
		return nil
	}
	return &e.Checks[at]
}

// Cause returns the failed check of the last object in the chain of explanations that has one, nil if none has failed.
func (e *Explanation) Cause() *Check {
	if e.Because != nil {
		if deeper := e.Because.Cause(); deeper != nil {
			return deeper
		}
	}
	return e.Failure()
}
