// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import "encoding/json"

// Description is an object with what is around it.
type Description struct {
	// Object is the object.
	Object Related `json:"object" doc:"The object"`
	// Owners lead from the object up to the one that nothing owns.
	Owners []Related `json:"owners" nullable:"false" doc:"The objects that own it: first its own owner, then the owner of that one"`
	// Children are what it owns or has, each after its parent.
	Children []Related `json:"children" nullable:"false" doc:"What it owns or has, level by level: at most 200"`
	// LeftOut is how many more there are.
	LeftOut int `json:"leftOut" doc:"How many more children there are on the last level that was read"`
	// Events are about all of these objects.
	Events []RelatedEvent `json:"events" nullable:"false" doc:"Events about all of these objects, newest first: at most 100"`
	// Hidden says what the caller may not read.
	Hidden []string `json:"hidden" nullable:"false" doc:"What is missing because the caller may not read it" example:"you may not list replicasets in namespace shop"`
}

// Related is an object in a description.
type Related struct {
	Named

	// Kind as in the routes.
	Kind string `json:"kind" doc:"Kind, as in the routes"`
	// UID of the object, and Parent that of the object above it.
	UID    string `json:"uid" doc:"UID of the object"`
	Parent string `json:"parent,omitempty" doc:"UID of the object that owns or has it"`
	// State and Reason say whether it works.
	State  HealthState `json:"state" enum:"ready,pending,failed" doc:"Whether it works"`
	Reason string      `json:"reason,omitempty" doc:"Why it does not, in one word"`
}

// RelatedEvent is an event about one of the objects of a description.
type RelatedEvent struct {
	Named

	// Kind of the object.
	Kind string `json:"kind" doc:"Kind of the object, as in the routes"`
	// Type, Reason and Message of the event.
	Type    string `json:"type" doc:"Normal or Warning"`
	Reason  string `json:"reason" doc:"Reason in one word"`
	Message string `json:"message" doc:"What happened"`
	// Time is when it was last seen, and Count how often.
	Time  string `json:"time" doc:"When it was last seen" format:"date-time"`
	Count int    `json:"count" doc:"How often it was seen"`
}

// Relate returns an item as it stands in a description.
func Relate(plural string, item *Item, parent string) Related {
	return Related{
		Kind: plural, Named: Named{Namespace: item.Namespace, Name: item.Name}, UID: string(item.UID), Parent: parent,
		State: item.Health.State, Reason: item.Health.Reason,
	}
}

// RelateEvent returns an event about the object.
func RelateEvent(about Related, item *Item) (RelatedEvent, error) {
	var of struct {
		Type    string `json:"type"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Count   int    `json:"count"`
		Series  *struct {
			Count int `json:"count"`
		} `json:"series"`
	}
	if err := json.Unmarshal(item.JSON, &of); err != nil {
		return RelatedEvent{}, err
	}
	out := RelatedEvent{
		Kind: about.Kind, Named: about.Named, Type: of.Type, Reason: of.Reason, Message: of.Message, Count: max(of.Count, 1),
		Time: item.Created.UTC().Format("2006-01-02T15:04:05Z"),
	}
	if of.Series != nil {
		out.Count = max(out.Count, of.Series.Count)
	}
	return out, nil
}

// ChildKinds returns the kinds of objects that an object of the kind can own, as in the routes.
func ChildKinds(plural string) []string {
	switch plural {
	case "podsets":
		return []string{DeploymentsPlural}
	case DeploymentsPlural:
		return []string{"replicasets"}
	case "replicasets", "statefulsets", "daemonsets", "jobs":
		return []string{PodsPlural}
	case "clusters":
		return []string{"kubeconfigs"}
	}
	return nil
}
