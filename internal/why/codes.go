// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"maps"
	"slices"
	"strings"
)

// table has the codes of each kind, and under "" those that every kind shares.
func table() map[string]map[Code]row {
	return map[string]map[Code]row{
		"": sharedCodes(), kindPod: podCodes(), kindNode: nodeCodes(), kindPool: poolCodes(), kindPodSet: podSetCodes(), kindTool: toolCodes(),
		kindMachine: machineCodes(), kindCluster: clusterCodes(), kindKubeconfig: kubeconfigCodes(), kindDeployment: union(foreignCodes(), deploymentCodes()),
		kindReplicaSet: replicaSetCodes(), kindStatefulSet: statefulSetCodes(), kindDaemonSet: daemonSetCodes(), kindJob: jobCodes(), kindCronJob: cronJobCodes(),
	}
}

// Codes returns the codes that objects of the kind can have, in order: those of its own and those that every kind shares.
func Codes(kind string) []Code {
	all := table()
	return slices.Sorted(maps.Keys(union(all[""], all[kind])))
}

// step returns what to do about the code for an object of the kind. What Windlass has given up does not heal by itself. A reason that
// is not in the table comes from a newer version or from Kubernetes: its object says more.
func (c Code) step(kind string, with names, gaveUp bool) *Step {
	all := table()
	found, known := all[kind][c]
	if !known {
		found, known = all[""][c]
	}
	if !known {
		found = asks(unknownStep, describeCommand)
	}
	if gaveUp && found.given != nil {
		found = *found.given
	}
	return &Step{Text: with.fill(found.next), Command: with.fill(found.command), Heals: found.heals && !gaveUp}
}

// fill replaces the placeholders of a text. Values come from names of objects, keys and numbers, none of which a shell reads as
// anything else; one that a shell would is quoted.
func (n names) fill(text string) string {
	if n["in"] == "" && n["namespace"] != "" {
		n = n.with(names{"in": " -n " + n["namespace"]})
	}
	options := []string{"in", "previous"} // parts of commands, which begin with a space
	pairs := []string{}
	for _, key := range options {
		pairs = append(pairs, "{"+key+"}", n[key])
	}
	for _, key := range slices.Sorted(maps.Keys(n)) {
		if !slices.Contains(options, key) {
			pairs = append(pairs, "{"+key+"}", quoted(n[key]))
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// quoted returns the value as a shell reads it as one word.
func quoted(value string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if strings.IndexFunc(value, func(r rune) bool { return !plain(r) }) < 0 {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
