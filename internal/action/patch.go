// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Patch carries out an action on an object and returns what differs then, as a merge patch for the version that was read and no other
// one. On an object that is being deleted it carries out only actions that are for those.
func Patch[O metav1.Object](object O, forDeleted bool, change func(O) error) ([]byte, error) {
	if object.GetDeletionTimestamp() != nil && !forDeleted {
		return nil, refuse(CodeDeleting, "The object is being deleted.")
	}
	before, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if err := change(object); err != nil {
		return nil, err
	}
	after, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return difference(before, after, object)
}

// difference returns the merge patch between two states of an object.
func difference(before, after []byte, of metav1.Object) ([]byte, error) {
	raw, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		return nil, fmt.Errorf("cannot compare two states of %q: %w", of.GetName(), err)
	}
	var patch map[string]any
	if err := json.Unmarshal(raw, &patch); err != nil {
		return nil, fmt.Errorf("cannot read the change of %q: %w", of.GetName(), err)
	}
	if len(patch) == 0 {
		return nil, NothingToDo("The object is already as the action would make it.")
	}
	metadata, ok := patch["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		patch["metadata"] = metadata
	}
	metadata["uid"], metadata["resourceVersion"] = of.GetUID(), of.GetResourceVersion()
	return json.Marshal(patch)
}
