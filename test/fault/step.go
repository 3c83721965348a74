// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/test/rig"
)

// step is one thing that a person does, or waits for, in a scenario. References are "resource/name" or "resource/namespace/name",
// as in "nodepools/a".
type step struct {
	name string
	do   func(ctx context.Context, s *stage) error
}

// waits reports whether a person does nothing in the step but to wait.
func (s step) waits() bool { return strings.HasPrefix(s.name, "wait ") }

// person is the field manager of what steps write.
const person = client.FieldOwner("person")

// apply applies manifests, separated by "---".
func apply(manifests ...string) step {
	return step{"apply", func(ctx context.Context, s *stage) error {
		for manifest := range strings.SplitSeq(strings.Join(manifests, "\n---\n"), "\n---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
				return fmt.Errorf("cannot read the manifest %q: %w", manifest, err)
			}
			if err := s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), person, client.ForceOwnership); err != nil {
				return fmt.Errorf("cannot apply %s %q: %w", object.GetKind(), object.GetName(), err)
			}
		}
		return nil
	}}
}

// again repeats a step until it succeeds, like a controller that creates pods: the API server learns of admission policies a moment
// after they were written.
func again(once step) step {
	return step{once.name, func(ctx context.Context, s *stage) error {
		return s.await(ctx, func(ctx context.Context) error { return once.do(ctx, s) })
	}}
}

// merge patches an object with a JSON merge patch.
func merge(ref, patch string) step {
	return step{"patch " + ref, func(ctx context.Context, s *stage) error {
		return s.patch(ctx, ref, patch)
	}}
}

func (l *lane) patch(ctx context.Context, ref, patch string) error {
	object, err := l.object(ref)
	if err != nil {
		return err
	}
	return l.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)), person)
}

// remove deletes objects, one right after the other.
func remove(refs ...string) step {
	return step{"delete " + strings.Join(refs, " "), func(ctx context.Context, s *stage) error {
		for _, ref := range refs {
			object, err := s.object(ref)
			if err != nil {
				return err
			}
			if err := s.Client.Delete(ctx, object, client.PropagationPolicy("Background")); err != nil {
				return fmt.Errorf("cannot delete %s: %w", ref, err)
			}
		}
		return nil
	}}
}

// restart ends the manager in order and starts it again.
func restart() step {
	return step{"restart the manager", func(ctx context.Context, s *stage) error { return s.restart(ctx) }}
}

// gone waits until objects are gone.
func gone(refs ...string) step {
	return step{"wait until " + strings.Join(refs, " ") + " is gone", func(ctx context.Context, s *stage) error {
		return s.await(ctx, func(ctx context.Context) error {
			for _, ref := range refs {
				if _, err := s.get(ctx, ref); !apierrors.IsNotFound(err) {
					return errors.Join(err, fmt.Errorf("%s is still there", ref))
				}
			}
			return nil
		})
	}}
}

// none waits until a namespace has no object of a resource any more.
func none(resource, namespace string) step {
	return step{"wait until " + namespace + " has no " + resource, func(ctx context.Context, s *stage) error {
		kind, err := s.Client.RESTMapper().KindFor(schema.ParseGroupResource(resource).WithVersion(""))
		if err != nil {
			return fmt.Errorf("cannot find the kind of %s: %w", resource, err)
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		return s.await(ctx, func(ctx context.Context) error {
			if err := s.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			if len(list.Items) > 0 {
				return fmt.Errorf("%s still has %d %s", namespace, len(list.Items), resource)
			}
			return nil
		})
	}}
}

// until waits until all of an object is as wanted: "Ready=True" is a condition, "Ready.reason=InUse" its reason, ".status.nodeCount=3" a
// field, and ".spec.taints#=2" the length of one. What the status says of an older generation does not count.
func until(ref string, wants ...string) step {
	return step{"wait until " + ref + " has " + strings.Join(wants, " "), func(ctx context.Context, s *stage) error {
		return s.await(ctx, func(ctx context.Context) error {
			object, err := s.get(ctx, ref)
			if err != nil {
				return err
			}
			observed, found, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
			if found && observed != object.GetGeneration() && slices.ContainsFunc(wants, isOfStatus) {
				return fmt.Errorf("%s: the status is that of generation %d", ref, observed)
			}
			for _, want := range wants {
				name, value, _ := strings.Cut(want, "=")
				if got := lookUp(object, name); got != value {
					return fmt.Errorf("%s: %s is %q, want %q", ref, name, got, value)
				}
			}
			return nil
		})
	}}
}

// isOfStatus says whether what is wanted of an object is in its status.
func isOfStatus(want string) bool {
	return !strings.HasPrefix(want, ".") || strings.HasPrefix(want, ".status.")
}

// await repeats a check until it succeeds.
func (s *stage) await(ctx context.Context, check func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return rig.UntilLater(ctx, 50*time.Millisecond, check)
}

// lookUp returns the status of a condition, or with the suffix ".reason" its reason. With a dot in front the name is the path of a
// field, and with the suffix "#" it is the number of its entries.
func lookUp(object *unstructured.Unstructured, name string) string {
	if path, ok := strings.CutPrefix(name, "."); ok {
		path, count := strings.CutSuffix(path, "#")
		value, _, _ := unstructured.NestedFieldNoCopy(object.Object, fields(path)...)
		entries, isList := value.([]any)
		switch {
		case count && isList:
			return strconv.Itoa(len(entries))
		case count:
			return "0"
		case value == nil:
			return ""
		default:
			return fmt.Sprint(value)
		}
	}
	kind, isReason := strings.CutSuffix(name, ".reason")
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range conditions {
		condition, ok := each.(map[string]any)
		switch {
		case !ok || condition["type"] != kind:
		case isReason:
			return fmt.Sprint(condition["reason"])
		default:
			return fmt.Sprint(condition["status"])
		}
	}
	return ""
}

// object returns an empty object of a reference.
func (l *lane) object(ref string) (*unstructured.Unstructured, error) {
	parts := strings.Split(ref, "/")
	kind, err := l.Client.RESTMapper().KindFor(schema.ParseGroupResource(parts[0]).WithVersion(""))
	if err != nil {
		return nil, fmt.Errorf("cannot find the kind of %s: %w", ref, err)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetName(parts[len(parts)-1])
	if len(parts) == 3 {
		object.SetNamespace(parts[1])
	}
	return object, nil
}

func (l *lane) get(ctx context.Context, ref string) (*unstructured.Unstructured, error) {
	object, err := l.object(ref)
	if err != nil {
		return nil, err
	}
	return object, l.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
}

// fields splits a path at its dots. A dot that belongs to a name has a backslash before it.
func fields(path string) []string {
	const dot = "\x00"
	parts := strings.Split(strings.ReplaceAll(path, `\.`, dot), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], dot, ".")
	}
	return parts
}
