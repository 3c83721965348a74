// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import "maps"

// Code names a cause. Codes are API, as the reasons of conditions are: most of them are such reasons.
type Code string

// names are what the texts of a code may name, by placeholder.
type names map[string]string

// with returns the names with more of them.
func (n names) with(more names) names {
	out := maps.Clone(n)
	maps.Copy(out, more)
	return out
}

// onNode names a node for the texts of a code.
func onNode(name string) names { return names{aNode: name} }

// row is what the table has of a code.
type row struct {
	// next is what to do, as a sentence, and command what does it or shows more. Both may have placeholders such as {name}.
	next, command string
	// heals is true if it heals by itself.
	heals bool
	// given is the row of the same cause once Windlass has given up, nil where that makes no difference.
	given *row
}

// waits returns the row of a cause that heals by itself.
func waits(next, command string) row { return row{next: next, command: command, heals: true} }

// gaveUp adds what to do about a cause that heals by itself only as long as Windlass tries again.
func (r row) gaveUp(next, command string) row {
	r.given = &row{next: next, command: command}
	return r
}

// asks returns the row of a cause that waits for a person.
func asks(next, command string) row { return row{next: next, command: command} }

// describeCommand shows an object with its events.
const describeCommand = "kubectl describe {kind} {name}{in}"

// inSystem begins commands about what is in the namespace of Windlass: the one of the manifests, until Explanation.RunsIn puts another one there.
const inSystem = "kubectl -n windlass-system "

// managerLog shows the logs of all instances of Windlass: that of a Deployment is the log of any one of them.
const managerLog = inSystem + "logs -l app.kubernetes.io/component=manager --prefix --tail=200"

// union returns the rows of both tables.
func union(shared, own map[Code]row) map[Code]row {
	out := maps.Clone(shared)
	maps.Copy(out, own)
	return out
}
