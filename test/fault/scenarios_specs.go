// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// specScenarios apply specs that are generated from the schemas of all kinds, and change each into another one. The API server refuses
// a spec, or its status says what became of it; then nothing is written any more. After the end the nodes are as they were.
func specScenarios(specs int, seed uint64) []scenario {
	p := &specPlay{seed: seed, specs: specs}
	return []scenario{{
		name: "specs/generated", alone: true, given: []step{nodes("spec-a", "spec-b", "spec-c")},
		steps: []step{{"play specs", p.run}},
	}}
}

// specBatch is how many specs there are at a time.
const specBatch = 30

// specPlay plays specs. Each object gets two of them.
type specPlay struct {
	seed              uint64
	specs             int
	accepted, refused int
}

func (p *specPlay) run(ctx context.Context, s *stage) error {
	kinds, err := specKinds(s.Root)
	if err != nil {
		return err
	}
	before, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	for first := 0; first < p.specs; first += specBatch {
		if err := p.batch(ctx, s, kinds, first, min(first+specBatch, p.specs)); err != nil {
			return fmt.Errorf("specs %d to %d of seed %d: %w", first, min(first+specBatch, p.specs)-1, p.seed, err)
		}
		err := s.await(ctx, func(ctx context.Context) error {
			after, err := s.nodes(ctx)
			if diff := cmp.Diff(before, after); err == nil && diff != "" {
				err = fmt.Errorf("after specs %d and following the nodes differ (-want +got):\n%s", first, diff)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if p.accepted < p.specs/4 {
		return fmt.Errorf("only %d of %d specs were accepted: the others say little", p.accepted, p.specs)
	}
	return nil
}

// batch plays the specs of these numbers.
func (p *specPlay) batch(ctx context.Context, s *stage, kinds []specKind, from, to int) error {
	var objects []*unstructured.Unstructured
	for number := from; number < to; number += 2 {
		kind := &kinds[number/2%len(kinds)]
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.apiVersion, "kind": kind.kind}}
		object.SetName(fmt.Sprintf("spec-%d", number))
		if kind.namespaced {
			object.SetNamespace("default")
		}
		if err := p.put(ctx, s, object, kind, number); err != nil {
			return err
		}
		objects = append(objects, object)
	}
	if err := settle(ctx, s, objects); err != nil {
		return err
	}
	for i, object := range objects {
		number := from + 2*i + 1
		if err := p.put(ctx, s, object, &kinds[number/2%len(kinds)], number); err != nil {
			return err
		}
	}
	if err := settle(ctx, s, objects); err != nil {
		return err
	}
	for _, object := range objects {
		if err := client.IgnoreNotFound(s.Client.Delete(ctx, object, client.PropagationPolicy("Background"))); err != nil {
			return err
		}
	}
	return s.await(ctx, func(ctx context.Context) error {
		for _, object := range objects {
			if err := s.Client.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy()); !apierrors.IsNotFound(err) {
				return errors.Join(err, fmt.Errorf("%s %q is still there: %s", object.GetKind(), object.GetName(), conditionsOf(object)))
			}
		}
		return nil
	})
}

// put creates an object with a generated spec, or changes its spec.
func (p *specPlay) put(ctx context.Context, s *stage, object *unstructured.Unstructured, kind *specKind, number int) error {
	next := object.DeepCopy()
	next.Object["spec"] = newSpecGenerator(p.seed, uint64(number)).spec(kind) //nolint:gosec // a small number
	next.SetResourceVersion("")
	next.SetManagedFields(nil)
	delete(next.Object, "status")
	err := s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(next), person, client.ForceOwnership)
	switch {
	case err == nil:
		p.accepted++
		return nil
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed to create manager for"):
		p.refused++
		return nil
	case strings.Contains(err.Error(), "failed to create typed patch object"): // which is how a list with equal keys is refused
		p.refused++
		return nil
	}
	return fmt.Errorf("cannot apply spec %d to %s: %w", number, object.GetKind(), err)
}

// settle waits until each object that there is says what became of its spec, and nothing is written any more.
func settle(ctx context.Context, s *stage, objects []*unstructured.Unstructured) error {
	return s.await(ctx, func(ctx context.Context) error {
		for _, object := range objects {
			err := s.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err == nil {
				err = explained(object)
			}
			if err != nil {
				return err
			}
		}
		if still := s.effects.quiet(); still < restTime {
			return fmt.Errorf("the last write was %s ago", still)
		}
		return nil
	})
}

// explained says whether the status of an object is that of its spec, and complete: if it is not ready, something says why.
func explained(object *unstructured.Unstructured) error {
	complain := func(what string) error {
		return fmt.Errorf("%s %q %s: %s; its spec is %v", object.GetKind(), object.GetName(), what, conditionsOf(object), object.Object["spec"])
	}
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	ready, why := "", ""
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		if generation, ok := condition["observedGeneration"].(int64); !ok || generation != object.GetGeneration() {
			return complain("has conditions of an older generation")
		}
		text := fmt.Sprint(condition["reason"]) + fmt.Sprint(condition["message"])
		switch kind := fmt.Sprint(condition["type"]); {
		case kind == "Ready":
			ready = fmt.Sprint(condition["status"])
		case condition["status"] == string(corev1.ConditionTrue) && (kind == "Stalled" || kind == "Reconciling" || kind == "Paused"):
			why += text
		}
	}
	switch {
	case ready == "":
		return complain("says nothing")
	case ready != string(corev1.ConditionTrue) && why == "":
		return complain("is not ready and does not say why")
	}
	return nil
}

func conditionsOf(object *unstructured.Unstructured) any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	return conditions
}

// nodes returns what can be seen of all nodes.
func (s *stage) nodes(ctx context.Context) (map[string]map[string]string, error) {
	var list corev1.NodeList
	if err := s.Client.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("cannot list nodes: %w", err)
	}
	out := map[string]map[string]string{}
	for i := range list.Items {
		out[list.Items[i].Name] = visible(&list.Items[i])
	}
	return out, nil
}
