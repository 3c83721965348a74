// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// version is a version of a node in a history.
type version struct {
	ours   bool
	labels map[string]string
	record string
}

func TestJudge(t *testing.T) {
	t.Parallel()
	member := nodesv1.MemberLabel(neverPool)
	cases := map[string]struct {
		versions []version
		wrong    bool
	}{
		"Windlass puts on and takes off what is its own": {versions: []version{
			{}, {ours: true, labels: map[string]string{member: ""}, record: member}, {ours: true},
		}},
		"Windlass undoes an edit": {wrong: true, versions: []version{
			{}, {labels: map[string]string{"a": "1"}}, {ours: true},
		}},
		"Windlass loses an edit of what is its own by the policy Never": {wrong: true, versions: []version{
			{}, {labels: map[string]string{neverKey: "theirs"}}, {ours: true, labels: map[string]string{neverKey: "ours"}, record: neverKey},
		}},
		"Windlass repairs what it had first": {versions: []version{
			{},
			{ours: true, labels: map[string]string{neverKey: "ours"}, record: neverKey},
			{labels: map[string]string{neverKey: "theirs"}, record: neverKey},
			{ours: true, labels: map[string]string{neverKey: "ours"}, record: neverKey},
			{ours: true},
		}},
		"a replaced value is put back": {versions: []version{
			{},
			{labels: map[string]string{restoreKey: "theirs"}},
			{ours: true, labels: map[string]string{restoreKey: "ours"}, record: restoreKey},
			{ours: true, labels: map[string]string{restoreKey: "theirs"}},
		}},
		"a replaced value is not put back": {wrong: true, versions: []version{
			{},
			{labels: map[string]string{restoreKey: "theirs"}},
			{ours: true, labels: map[string]string{restoreKey: "ours"}, record: restoreKey},
			{ours: true},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &author{ours: map[string]bool{}}
			var nodes []*corev1.Node
			for i, v := range tc.versions {
				node := &corev1.Node{}
				node.Name, node.ResourceVersion, node.Labels = "n", strconv.Itoa(i), v.labels
				if v.record != "" {
					node.Annotations = map[string]string{nodesv1.AppliedAnnotation: v.record}
				}
				a.ours[node.ResourceVersion] = v.ours
				nodes = append(nodes, node)
			}
			if err := judge(nodes, a); (err != nil) != tc.wrong {
				t.Errorf("the judgement is %v", err)
			}
		})
	}
}
