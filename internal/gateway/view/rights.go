// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

// RightsMatrix is what a caller may do with each kind.
type RightsMatrix struct {
	// Everywhere is what they may do in the whole cluster.
	Everywhere map[string]Actions `json:"everywhere" nullable:"false" doc:"For each kind what the caller may do in the whole cluster: in every namespace, for kinds that have one"`
	// Namespaces is what they may do in some namespaces.
	Namespaces map[string]map[string]Actions `json:"namespaces" nullable:"false" doc:"The same for the namespaces of the query, for kinds that have one"`
}

// Actions says for each action whether a caller may do it.
type Actions map[string]bool

// Action is something that a caller may do with objects of a kind, and the right that it needs.
type Action struct {
	// Name of the action.
	Name string
	// Verb and Subresource of the right.
	Verb, Subresource string
}

// Verbs of rights to objects and to parts of them.
const verbGet, verbCreate = "get", "create"

// Actions returns what the API can do with objects of the kind.
func (k *Kind) Actions() []Action {
	out := []Action{{Name: verbGet, Verb: verbGet}, {Name: "list", Verb: "list"}}
	if !k.Uncached {
		out = append(out, Action{Name: "watch", Verb: "watch"})
	}
	if k.Access == AccessFull {
		out = append(out, Action{Name: verbCreate, Verb: verbCreate}, Action{Name: "update", Verb: "update"}, Action{Name: "patch", Verb: "patch"})
	}
	if k.Access != AccessRead {
		out = append(out, Action{Name: "delete", Verb: "delete"})
	}
	if k.Size != "" {
		out = append(out, Action{Name: "scale", Verb: "patch", Subresource: "scale"})
	}
	if k.Plural == PodsPlural {
		out = append(out, ReadLog(), Action{Name: "evict", Verb: verbCreate, Subresource: "eviction"},
			Action{Name: "exec", Verb: verbCreate, Subresource: "exec"}, Action{Name: "attach", Verb: verbCreate, Subresource: "attach"},
			Action{Name: "debug", Verb: "patch", Subresource: "ephemeralcontainers"})
	}
	if k.Plural == MachinesPlural {
		out = append(out, ReadConsole(), OpenConsole())
	}
	if k.Plural == ClustersPlural {
		out = append(out, ReadRuns())
	}
	return out
}

// ReadLog is reading the log of a container.
func ReadLog() Action { return Action{Name: "logs", Verb: verbGet, Subresource: "log"} }

// ReadConsole is reading what a machine has written to its console.
func ReadConsole() Action { return Action{Name: "output", Verb: verbGet, Subresource: "console"} }

// OpenConsole is typing into the console of a machine, and reading what it answers.
func OpenConsole() Action { return Action{Name: "console", Verb: verbCreate, Subresource: "console"} }

// ReadRuns is reading which runs of a tool a cluster had, and their logs.
func ReadRuns() Action { return Action{Name: "log", Verb: verbGet, Subresource: "log"} }
