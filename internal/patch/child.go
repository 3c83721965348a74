// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AppliedHashAnnotation is on every child and holds a hash of what Windlass applied last. It shows that a field has been
// dropped from the desired state, which the child itself cannot show.
const AppliedHashAnnotation = "windlass.io/applied-hash"

// absentVersion is the resourceVersion of no object: the first revision of a store holds none. The API server creates an applied object that
// carries it, and answers with a conflict if an object of that name exists, even if it is equal.
const (
	absentVersion = "1"
	absent        = `{"metadata":{"resourceVersion":"` + absentVersion + `"}}`
)

// Create creates a child that is not there yet. Should an object of that name have appeared in the meantime, the API server answers
// with a conflict and the object stays as it is: the next pass sees whose it is. It is an apply and no POST, so that later applies
// own the fields and can take them away again.
func Create(ctx context.Context, c client.Client, child runtime.ApplyConfiguration) error {
	if err := json.Unmarshal([]byte(absent), child); err != nil {
		return fmt.Errorf("cannot prepare %T: %w", child, err)
	}
	return c.Apply(ctx, child, FieldOwner)
}

// CreateUnstructured is Create for a child of any kind, which is afterwards what the API server has made of it.
func CreateUnstructured(ctx context.Context, c client.Client, child *unstructured.Unstructured) error {
	child.SetResourceVersion(absentVersion)
	return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(child), FieldOwner)
}

// Apply applies a child that is known to be owned, and takes its fields back from others who changed them.
func Apply(ctx context.Context, c client.Client, child runtime.ApplyConfiguration) error {
	return c.Apply(ctx, child, FieldOwner, client.ForceOwnership)
}

// Write creates a child of which none was seen, and applies one that was seen and is known to be owned. Where the name is another object's by now,
// the API server refuses the write and that object stays as it is.
func Write[T applicable[T]](ctx context.Context, c client.Client, child T, seen types.UID) error {
	if seen == "" {
		return Create(ctx, c, child)
	}
	return Apply(ctx, c, child.WithUID(seen))
}

// applicable is an apply configuration of an object.
type applicable[T any] interface {
	runtime.ApplyConfiguration

	// WithUID has the write reach the object with that UID only.
	WithUID(uid types.UID) T
}

// Hash returns a short hash of the desired state of a child, for AppliedHashAnnotation.
func Hash(desired any) (string, error) {
	raw, err := json.Marshal(desired)
	if err != nil {
		return "", fmt.Errorf("cannot hash %T: %w", desired, err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}

// Covers reports whether live has every field of desired with the same value. Fields that live has besides, such as
// defaults of the API server and what other writers own, do not matter. An empty object counts: a selector that selects everything
// differs from none. List entries are matched by name where they have one, else by position.
func Covers(live, desired any) (bool, error) {
	liveTree, err := tree(live)
	if err != nil {
		return false, err
	}
	desiredTree, err := tree(desired)
	if err != nil {
		return false, err
	}
	return covers(liveTree, desiredTree, ""), nil
}

func tree(object any) (any, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("cannot compare %T: %w", object, err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("cannot compare %T: %w", object, err)
	}
	return out, nil
}

func covers(live, desired any, field string) bool {
	switch want := desired.(type) {
	case nil:
		return true
	case map[string]any:
		have, there := live.(map[string]any)
		return there && coversMap(have, want, atomicMap(field))
	case []any:
		have, _ := live.([]any)
		if orderedList(field) {
			return coversInOrder(have, want)
		}
		return coversList(have, want, keyedList(field))
	default:
		return reflect.DeepEqual(live, desired)
	}
}

// atomicMap reports whether server-side apply replaces the map in that field as a whole, so that an extra key is drift.
func atomicMap(field string) bool { return field == "nodeSelector" || field == "matchLabels" }

// keyedList reports whether server-side apply merges the list in that field by a key other than a name, so that an entry of
// somebody else's is no drift.
func keyedList(field string) bool {
	return field == "ports" || field == "topologySpreadConstraints" || field == "hostAliases"
}

// orderedList reports whether the order of the named entries in that field has a meaning: init containers run one after the other, and $(NAME) means
// a variable that comes before.
func orderedList(field string) bool { return field == "initContainers" || field == "env" }

func coversMap(have, want map[string]any, exact bool) bool {
	if exact && len(have) != len(want) {
		return false
	}
	for key, value := range want {
		if !covers(have[key], value, key) {
			return false
		}
	}
	return true
}

func coversList(have, want []any, keyed bool) bool {
	if keyed || named(want) {
		return !slices.ContainsFunc(want, func(entry any) bool { return !anyCovers(have, entry) })
	}
	if len(have) != len(want) {
		return false
	}
	for i := range want {
		if !covers(have[i], want[i], "") {
			return false
		}
	}
	return true
}

// coversInOrder lets others have entries between the wanted ones.
func coversInOrder(have, want []any) bool {
	for _, entry := range want {
		i := slices.IndexFunc(have, func(other any) bool { return nameOf(other) == nameOf(entry) && covers(other, entry, "") })
		if i < 0 {
			return false
		}
		have = have[i+1:]
	}
	return true
}

func named(list []any) bool {
	for _, entry := range list {
		if nameOf(entry) == "" {
			return false
		}
	}
	return len(list) > 0
}

// anyCovers checks every entry of that name: a volume, for one, may be mounted more than once. To one without, such as a port, others may have added
// one.
func anyCovers(list []any, wanted any) bool {
	name := nameOf(wanted)
	return slices.ContainsFunc(list, func(entry any) bool {
		return (name == "" || nameOf(entry) == name) && covers(entry, wanted, "")
	})
}

func nameOf(entry any) string {
	object, _ := entry.(map[string]any)
	name, _ := object["name"].(string)
	return name
}
