// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import "strings"

// at returns what is at the path of an object, as in status.phase.
func at(object map[string]any, path string) any {
	for {
		key, rest, more := strings.Cut(path, ".")
		if !more {
			return object[key]
		}
		inner, ok := object[key].(map[string]any)
		if !ok {
			return nil
		}
		object, path = inner, rest
	}
}

// textAt returns the text at the path, and "" if there is none.
func textAt(object map[string]any, path string) string {
	text, _ := at(object, path).(string)
	return text
}

// listAt returns the objects in the list at the path.
func listAt(object map[string]any, path string) []map[string]any {
	list, _ := at(object, path).([]any)
	var out []map[string]any
	for _, element := range list {
		if inner, ok := element.(map[string]any); ok {
			out = append(out, inner)
		}
	}
	return out
}
