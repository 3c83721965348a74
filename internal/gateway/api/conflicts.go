// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/diff"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/kube"
)

// ConflictInput is a parameter of writes that change single fields. The API server refuses conflicts only of applies.
type ConflictInput struct {
	RefuseConflicts bool `query:"refuseConflicts" doc:"Change no field that another field manager has set to another value: 409 with an entry in errors for each. The managers of this API do not conflict with each other. Takes the right to read the object"`
}

// conflicts returns the problem of a change of fields that others have set; nothing if there are none. A field that is removed is no conflict,
// as in an apply.
func conflicts(before, after []byte) error {
	told, err := diff.Between(before, after)
	if err != nil {
		return err
	}
	var fields []view.FieldError
	for i := range told.Changes {
		if change := &told.Changes[i]; len(change.Before) > 0 && len(change.After) > 0 {
			fields = append(fields, conflictsAt(change)...)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return view.NewProblem(http.StatusConflict, "Conflict", "Other managers have set what this would change.", fields...)
}

// conflictsAt returns a conflict for each manager that has set a field.
func conflictsAt(change *diff.FieldChange) []view.FieldError {
	var out []view.FieldError
	for i := range change.Owners {
		owner := &change.Owners[i]
		// Nobody else has set what windlass-api and the buttons of the console own.
		if owner.Manager == fieldManager || strings.HasPrefix(owner.Manager, fieldManagerOfButtons) {
			continue
		}
		parameters := map[string]string{"manager": owner.Manager, "operation": owner.Operation, "value": string(change.Before)}
		if owner.Time != nil {
			parameters["since"] = owner.Time.Format(time.RFC3339)
		}
		out = append(out, view.FieldError{
			Location: change.Path, Message: fmt.Sprintf("conflict with %q", owner.Manager), Code: view.FieldConflict, Parameters: parameters,
		})
	}
	return out
}

// conflictsOfMerge is the same for a merge patch.
func conflictsOfMerge(before, patch []byte) error {
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return fmt.Errorf("cannot apply a change: %w", err)
	}
	return conflicts(before, after)
}

// patchUnlessSet sends a patch that changes nothing that others have set. The API server tries it first, because only it knows what a patch
// comes to; it is written to the version that it was tried on.
func (a *API) patchUnlessSet(ctx context.Context, k *feed.Kind, in *patchInput, media string) (access.Call, *access.Result, error) {
	c := access.Call{Method: http.MethodPatch, Path: k.Path(in.namespace, in.name, ""), Query: in.parameters(), ContentType: media}
	who, err := access.CallerOf(ctx)
	if err != nil {
		return c, nil, err
	}
	var answer *access.Result
	sees := versionOf(in.RawBody) != "" // and wants that version alone
	err = kube.DecideAnew(func() (outdated bool, err error) {
		before, err := a.current(ctx, who, k, &in.Target)
		if err != nil {
			return false, err
		}
		if c.Body = in.RawBody; before != nil {
			if c.Body, err = pinSeen(in.RawBody, media, in.UID, before); err != nil {
				return false, err
			}
		}
		answer, err = a.tryPatch(ctx, who, c, before)
		switch {
		case err != nil:
		case before == nil: // it has appeared since, and may be another one
			answer, err = nil, wasReplaced("")
		case in.DryRun == "":
			answer, err = a.Upstream.Do(ctx, who, c)
		}
		return isOutdated(err) && !sees, err
	})
	a.audit(ctx, who, k, in.namespace, in.name, c, answer, err)
	return c, answer, err
}

// tryPatch has the API server try a patch, and refuses what others have set.
func (a *API) tryPatch(ctx context.Context, who *access.Caller, c access.Call, before []byte) (*access.Result, error) {
	c.Query = maps.Clone(c.Query)
	c.Query.Set("dryRun", dryRunAll)
	answer, err := a.Upstream.Do(ctx, who, c)
	if err != nil || before == nil {
		return answer, err
	}
	if err := conflicts(before, answer.Body); err != nil {
		return nil, err
	}
	return answer, nil
}

// pinSeen returns a patch that the API server refuses for an object with another UID, and for another version than the one that was seen.
func pinSeen(body []byte, media, uid string, seen []byte) ([]byte, error) {
	var of sketch
	if err := json.Unmarshal(seen, &of); err != nil {
		return nil, err
	}
	if uid != "" && string(of.Metadata.UID) != uid {
		return nil, wasReplaced(string(of.Metadata.UID))
	}
	var err error
	if media == string(types.JSONPatchType) {
		body, err = withStep(body, step{"add", "/metadata/resourceVersion", of.Metadata.ResourceVersion})
	} else {
		body, err = pinVersion(body, mediaJSON, seen)
	}
	if err != nil || uid == "" {
		return body, err
	}
	return pinPatch(body, media, uid)
}

// sizeUnlessSet returns the size that an object has, as its Scale has it, and the problem of a caller who would change what others have set it to.
func (a *API) sizeUnlessSet(ctx context.Context, k *feed.Kind, in *scaleInput) (json.RawMessage, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	before, err := a.current(ctx, who, k, &in.Target)
	if err != nil || before == nil {
		return nil, err
	}
	if in.UID != "" && string(uidOf(before)) != in.UID {
		return nil, wasReplaced(string(uidOf(before)))
	}
	var of struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(before, &of); err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", in.name, err)
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{k.Size: in.Body.Replicas}})
	if err != nil {
		return nil, err
	}
	seen := of.Spec[k.Size]
	if string(seen) == "0" { // which a Scale leaves out: a test finds nothing there
		seen = json.RawMessage("null")
	}
	return seen, conflictsOfMerge(before, patch)
}
