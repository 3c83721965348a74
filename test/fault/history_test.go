// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/test/rig"
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

// An API server ends each watch after half an hour to an hour. On a slow machine a history ended with it, and was not complete any more.
func TestAHistoryGoesOnWhenTheAPIServerEndsTheWatch(t *testing.T) {
	t.Parallel()
	l := startBareLane(t)
	var watches atomic.Int32
	short := interceptor.NewClient(l.Client, interceptor.Funcs{
		Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
			watches.Add(1)
			all := (&client.ListOptions{}).ApplyOptions(options).AsListOptions()
			all.TimeoutSeconds = new(int64(1))
			return c.Watch(ctx, list, &client.ListOptions{Raw: all})
		},
	})
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if err := l.Client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	history, err := watchNodes(t.Context(), short)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(3) {
		node.Labels = map[string]string{"change": strconv.Itoa(int(i))}
		if err := l.Client.Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := rig.Until(ctx, 10*time.Millisecond, func(context.Context) error {
			if err := history.reaches([]corev1.Node{*node}); err != nil {
				return err
			}
			if watches.Load() <= i+1 {
				return errors.New("the API server has not ended the watch")
			}
			return nil
		})
		cancel()
		if err != nil {
			t.Fatalf("after %d watches: %v", watches.Load(), err)
		}
	}
	if got, want := len(history.versions["a"]), 4; got != want {
		t.Errorf("the history has %d versions, want %d", got, want)
	}
}
