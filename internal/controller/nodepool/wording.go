// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"slices"
	"strings"
)

// maxExamples is how many nodes, pods or keys a message names.
const maxExamples = 10

// maxUsers is how many of the pods that keep a pool its message names.
const maxUsers = 3

// examples names the first of the names.
func examples(names []string) string { return examplesOf(slices.Sorted(slices.Values(names)), ", ") }

func examplesOf(list []string, separator string) string {
	if len(list) <= maxExamples {
		return strings.Join(list, separator)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxExamples], separator), len(list)-maxExamples)
}

// firstUsers names the first of the pods that keep a pool, of which only these are known by name.
func firstUsers(names []string, users int32) string {
	list := strings.Join(names, ", ")
	if more := int(users) - len(names); more > 0 {
		return fmt.Sprintf("%s and %d more", list, more)
	}
	return list
}

// inPods is a number of pods in words.
func inPods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

// inNodes is a number of nodes in words.
func inNodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// nodesAre is a number of nodes, with the verb.
func nodesAre(n int) string {
	if n == 1 {
		return "1 node is"
	}
	return fmt.Sprintf("%d nodes are", n)
}

// toClean says what a pool that is being deleted waits for.
func toClean(nodes aggregate) string {
	return fmt.Sprintf("%s to be cleaned: %s", inNodes(len(nodes.carrying)), examples(nodes.carrying))
}

// clampInt32 returns n as the API has numbers.
func clampInt32(n int) int32 { return int32(min(max(n, 0), 1<<31-1)) }
