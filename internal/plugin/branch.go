// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import "fmt"

// branch is an object in a tree, or many of them in a sentence, and what it owns and uses.
type branch struct {
	*standing

	// Text stands for objects that are not listed one by one.
	Text     string    `json:"text,omitempty"`
	Children []*branch `json:"children,omitempty"`

	how mood
}

func branchOf(s *standing) *branch { return &branch{standing: s, how: s.how} }

// sentence is a branch without an object.
func sentence(how mood, text string, args ...any) *branch {
	return &branch{Text: fmt.Sprintf(text, args...), how: how}
}

// thereOrNot is a branch for something that only has to exist.
func thereOrNot(k, name string, there bool) *branch {
	if there {
		return sentence(moodGood, "%s/%s", k, name)
	}
	return sentence(moodBad, "%s/%s  does not exist", k, name)
}
