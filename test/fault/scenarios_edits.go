// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// editScenarios let others change nodes while Windlass does, that many times: at random, and held at the instant of each of its writes.
// A node's history shows every version of it. No write of Windlass may change what is not its own, and after the pools are gone each
// node must be what the writes of the others alone have made of it.
func editScenarios(edits int) []scenario {
	return []scenario{edited("edits/natural", edits, false), edited("edits/held", edits, true)}
}

const (
	// neverPool leaves what others have set, restorePool puts it back.
	neverPool, restorePool = "keep", "back"
	// neverKey and restoreKey are labels that both the pools and others want.
	neverKey, restoreKey = "example.com/env", "example.com/tier"
	editedNodes          = 10
	editors              = 6
)

func edited(name string, edits int, held bool) scenario {
	e := &editing{edits: edits, held: held}
	var names []string
	for i := range editedNodes {
		names = append(names, editedNode(i))
	}
	pools := []step{
		apply(pool(neverPool, allRed, "overwrite: Never"), pool(restorePool, allRed, "overwrite: Restore")),
		merge("nodepools/"+neverPool, fmt.Sprintf(`{"spec":{"labels":{%q:"ours"}}}`, neverKey)),
		merge("nodepools/"+restorePool, fmt.Sprintf(`{"spec":{"labels":{%q:"ours"},"annotations":{"example.com/note":"ours"}}}`, restoreKey)),
	}
	return scenario{
		name: name, alone: true, given: []step{nodes(names...)}, setUp: e.setUp,
		steps: []step{
			{"watch the nodes", func(ctx context.Context, s *stage) (err error) {
				ctx, e.unwatch = context.WithCancel(ctx)
				e.history, err = watchNodes(ctx, s.Client)
				return err
			}},
			inParallel(pools, step{"edit the nodes", e.run}),
			until("nodepools/"+neverPool, "Reconciling=False"), until("nodepools/"+restorePool, "Ready=True"),
			remove("nodepools/"+neverPool, "nodepools/"+restorePool), gone("nodepools/"+neverPool, "nodepools/"+restorePool),
			{"look at the history of the nodes", func(ctx context.Context, s *stage) error { return e.history.judge(ctx, s, e.author) }},
		},
	}
}

func editedNode(i int) string { return fmt.Sprintf("edited-%d", i) }

// inParallel takes steps one after another while another step is under way.
func inParallel(steps []step, beside step) step {
	return step{beside.name, func(ctx context.Context, s *stage) error {
		done := make(chan error, 1)
		go func() { done <- beside.do(ctx, s) }()
		var errs []error
		for _, each := range steps {
			errs = append(errs, each.do(ctx, s))
		}
		return errors.Join(append(errs, <-done)...)
	}}
}

// editing is what changes the nodes of a run.
type editing struct {
	edits int
	held  bool

	author  *author
	history *nodeHistory
	// unwatch ends the history.
	unwatch context.CancelFunc
	begun   atomic.Int64
}

func (e *editing) setUp(s *stage) (func() error, error) {
	e.author = newAuthor(s.proxy)
	if e.held {
		s.effects.before = append(s.effects.before, func(f effect) { e.between(context.Background(), s, f) })
	}
	e.unwatch = func() {}
	return func() error {
		e.unwatch()
		return nil
	}, nil
}

// between edits a node between the manager's read and its write, two times out of three: then it is the manager's turn.
func (e *editing) between(ctx context.Context, s *stage, f effect) {
	name, ok := strings.CutPrefix(f.Object, "nodes/")
	if f.Verb != "patch" || !ok || f.Nth%3 == 0 || e.begun.Load() >= int64(e.edits) {
		return
	}
	if err := edit(ctx, s, name, int(e.begun.Add(1))); err != nil {
		s.fail(err)
	}
}

// run edits until there have been enough edits, and lets the pools change all the time.
func (e *editing) run(ctx context.Context, s *stage) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make(chan error, editors+1)
	for i := range editors {
		go func() { errs <- e.editor(ctx, s, uint64(i)) }() //nolint:gosec // a small number
	}
	go func() { errs <- e.change(ctx, s) }()
	var all []error
	for range editors + 1 {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// editor edits nodes at random.
func (e *editing) editor(ctx context.Context, s *stage, seed uint64) error {
	if e.held {
		return nil
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for {
		number := int(e.begun.Add(1))
		if number > e.edits {
			return nil
		}
		if err := edit(ctx, s, editedNode(random.IntN(editedNodes)), number); err != nil {
			return err
		}
	}
}

// change changes the pools until there have been enough edits, so that Windlass has something to write.
func (e *editing) change(ctx context.Context, s *stage) error {
	for round := 1; e.begun.Load() < int64(e.edits); round++ {
		for _, name := range []string{neverPool, restorePool} {
			patch := fmt.Sprintf(`{"spec":{"labels":{"example.com/%[1]s":"%[2]d"},"taints":[{"key":"example.com/%[1]s","value":"%[2]d","effect":"PreferNoSchedule"}]}}`, name, round)
			if err := client.IgnoreNotFound(s.patch(ctx, "nodepools/"+name, patch)); err != nil {
				return err
			}
		}
		if err := pause(settled).do(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// edit changes a node as one of many people and programs does: labels and annotations by a patch, taints by writing the whole list
// against the version that was read. The first edits set the keys that the pools want as well.
func edit(ctx context.Context, s *stage, name string, number int) error {
	switch number % 4 {
	case 0:
		return s.patch(ctx, "nodes/"+name, fmt.Sprintf(`{"metadata":{"annotations":{"example.com/foreign-%d":"%d"}}}`, number%7, number))
	case 1:
		return addTaint(ctx, s, name, number)
	case 2:
		if key := contested(number); key != "" {
			return contest(ctx, s, name, key)
		}
	}
	return s.patch(ctx, "nodes/"+name, fmt.Sprintf(`{"metadata":{"labels":{"example.com/foreign-%d":"%d"}}}`, number%7, number))
}

// contested returns the key that an edit takes from the pools, if it is an early one.
func contested(number int) string {
	switch {
	case number > 20*editedNodes:
		return ""
	case number%8 == 2:
		return neverKey
	}
	return restoreKey
}

// contest sets a key that nobody has set.
func contest(ctx context.Context, s *stage, name, key string) error {
	return rewrite(ctx, s, name, func(node *corev1.Node) bool {
		if _, set := node.Labels[key]; set {
			return false
		}
		node.Labels[key] = "theirs"
		return true
	})
}

func addTaint(ctx context.Context, s *stage, name string, number int) error {
	return rewrite(ctx, s, name, func(node *corev1.Node) bool {
		taint := corev1.Taint{Key: fmt.Sprintf("example.com/foreign-%d", number%3), Value: strconv.Itoa(number), Effect: corev1.TaintEffectPreferNoSchedule}
		for i := range node.Spec.Taints {
			if node.Spec.Taints[i].Key == taint.Key {
				node.Spec.Taints[i] = taint
				return true
			}
		}
		node.Spec.Taints = append(node.Spec.Taints, taint)
		return true
	})
}

// rewrite reads a node and writes it back, again until nobody else has written in between.
func rewrite(ctx context.Context, s *stage, name string, do func(*corev1.Node) bool) error {
	for {
		node := &corev1.Node{}
		if err := s.Client.Get(ctx, types.NamespacedName{Name: name}, node); err != nil {
			return err
		}
		if !do(node) {
			return nil
		}
		if err := s.Client.Update(ctx, node, person); !apierrors.IsConflict(err) {
			return err
		}
	}
}
