// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// keyUID is the field of the metadata that tells an object from a later one of the same name.
const keyUID = "uid"

// step is one of a JSON patch, and uidPath where it finds the UID.
type step struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

const uidPath = "/metadata/" + keyUID

// PinInput is a parameter of every write to an object that exists.
type PinInput struct {
	UID string `query:"uid" maxLength:"64" doc:"Write only to the object with this UID: 409 with the code Replaced if another one has its name by now"`
}

// OwnerInput is a parameter of every write of fields.
type OwnerInput struct {
	FieldManager string `query:"fieldManager" maxLength:"80" pattern:"^windlass-(api|console-[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$" doc:"Owner of the fields: windlass-api, which is the default, or windlass-console-NAME for a page or a button of its own"`
}

// manager returns the owner of what is written.
func (in *OwnerInput) manager() string { return cmp.Or(in.FieldManager, fieldManager) }

// mustRead reports whether a body has to be read before it is sent on. With a UID it always has to, because the write has to name the UID: so
// a caller who lacks the right is refused here.
func (a *API) mustRead(ctx context.Context, k *feed.Kind, of Target, uid, verb string) (bool, error) {
	if uid == "" {
		return a.mayWrite(ctx, k, of.namespace, of.name, verb), nil
	}
	who, err := access.CallerOf(ctx)
	if err != nil {
		return false, err
	}
	return true, a.require(ctx, who, k, view.Action{Verb: verb}, of)
}

// pinObject returns an object that the API server refuses if the one it is written to has another UID, and its media type. Without a UID it
// is as it came.
func pinObject(body []byte, media, uid string) ([]byte, string, error) {
	if uid == "" {
		return body, media, nil
	}
	body, err := withMetadata(body, media, func(metadata map[string]json.RawMessage) error {
		return setOwn(metadata, keyUID, uid)
	})
	return body, mediaJSON, err
}

// setOwn sets a field of the metadata. One that the body has already must be the same.
func setOwn(metadata map[string]json.RawMessage, key, value string) error {
	var own string
	if raw, has := metadata[key]; has && (json.Unmarshal(raw, &own) != nil || own != value) {
		return fieldErrors(&view.FieldError{Location: "body.metadata." + key, Message: "must be the one in the query, or left out"})
	}
	raw, err := json.Marshal(value)
	metadata[key] = raw
	return err
}

// pinPatch returns a patch that the API server refuses for an object with another UID.
func pinPatch(body []byte, media, uid string) ([]byte, error) {
	if media != string(types.JSONPatchType) {
		body, _, err := pinObject(body, mediaJSON, uid)
		return body, err
	}
	// The refusal of a test would not say what it was about.
	return withStep(body, step{"add", uidPath, uid})
}

// withStep returns a JSON patch with a last step, so that no other one has the last word on it.
func withStep(body []byte, last step) ([]byte, error) {
	var steps []json.RawMessage
	if err := json.Unmarshal(body, &steps); err != nil {
		return nil, unreadable(err)
	}
	raw, err := json.Marshal(last)
	if err != nil {
		return nil, err
	}
	return json.Marshal(append(steps, raw))
}

// withMetadata returns a body as JSON, with its metadata changed.
func withMetadata(body []byte, media string, change func(metadata map[string]json.RawMessage) error) ([]byte, error) {
	body, err := jsonOf(body, media)
	if err != nil {
		return nil, unreadable(err)
	}
	var object, metadata map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, unreadable(err)
	}
	if object == nil {
		return nil, unreadable(errors.New("it is empty"))
	}
	if raw, has := object["metadata"]; has {
		if err := json.Unmarshal(raw, &metadata); err != nil {
			return nil, unreadable(err)
		}
	}
	if metadata == nil {
		metadata = map[string]json.RawMessage{}
	}
	if err := change(metadata); err != nil {
		return nil, err
	}
	if object["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// pinVersion returns the body as JSON with the resourceVersion of the object that was seen, unless it has one of its own.
func pinVersion(body []byte, media string, seen []byte) ([]byte, error) {
	var of sketch
	if err := json.Unmarshal(seen, &of); err != nil {
		return nil, err
	}
	return withMetadata(body, media, func(metadata map[string]json.RawMessage) error {
		if _, own := metadata["resourceVersion"]; own {
			return nil
		}
		var err error
		metadata["resourceVersion"], err = json.Marshal(of.Metadata.ResourceVersion)
		return err
	})
}

// unlessReplaced returns the error of a write that was held to a UID. If that is why it was refused, it says so.
func (a *API) unlessReplaced(ctx context.Context, k *feed.Kind, of *Target, uid string, err error) error {
	refusal, refused := errors.AsType[*view.Problem](err)
	if uid == "" || !refused || refusal.Status != http.StatusConflict && refusal.Status != http.StatusUnprocessableEntity {
		return err
	}
	who, noCaller := access.CallerOf(ctx)
	if noCaller != nil {
		return noCaller
	}
	now, doubt := a.current(ctx, who, k, of)
	switch {
	case doubt == nil && string(uidOf(now)) != uid:
		return wasReplaced(string(uidOf(now)))
	case doubt != nil && strings.Contains(strings.ToLower(refusal.Detail), keyUID): // a caller who cannot read has the word of the API server
		return wasReplaced("")
	}
	return err
}

// wasReplaced is the problem of a write to an object that is gone. The UID is that of its successor; empty if there is none, or the caller cannot read it.
func wasReplaced(now string) *view.Problem {
	detail := "The object that you have seen is gone."
	if now != "" {
		detail = "The object is another one of the same name: its UID is " + now + "."
	}
	return view.NewProblem(http.StatusConflict, "Replaced", detail).With(view.ParameterUID, now)
}

// changedMeanwhile refuses a change of an object that is no longer what was decided on.
func changedMeanwhile() error {
	return view.NewProblem(http.StatusConflict, "Conflict", "Somebody has changed the object meanwhile. Look at it, and try again.")
}
