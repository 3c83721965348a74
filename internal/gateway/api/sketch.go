// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/boundedyaml"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// sketch is the part of an object that the gateway reads: what has to match the path of a write, and what tells whether a
// store has it.
type sketch struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name            string    `json:"name"`
		Namespace       string    `json:"namespace"`
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
	} `json:"metadata"`
	// Details are those of a Status, which answers a deletion.
	Details struct {
		UID types.UID `json:"uid"`
	} `json:"details"`
}

// mediaOf returns the media type of a body.
func mediaOf(contentType string) (string, error) {
	media, _, err := mime.ParseMediaType(cmp.Or(contentType, mediaJSON))
	if err != nil || media != mediaJSON && media != mediaYAML {
		return "", view.NewProblem(http.StatusUnsupportedMediaType, "UnsupportedMediaType",
			"The body must be application/json or application/yaml.").With(view.ParameterAllowed, mediaJSON+", "+mediaYAML)
	}
	return media, nil
}

// readSketch reads the part of a body that has to match the path. The API server validates everything else.
func readSketch(k *feed.Kind, media string, body []byte) (*sketch, error) {
	body, err := jsonOf(body, media)
	if err != nil {
		return nil, unreadable(err)
	}
	out := &sketch{}
	if err := json.Unmarshal(body, out); err != nil {
		return nil, unreadable(err)
	}
	if apiVersion := k.GVK.GroupVersion().String(); out.APIVersion != apiVersion || out.Kind != k.GVK.Kind {
		return nil, fieldErrors(&view.FieldError{
			Location: "body", Message: "must have apiVersion: " + apiVersion + " and kind: " + k.GVK.Kind,
		})
	}
	return out, nil
}

// jsonOf returns a body as JSON.
func jsonOf(body []byte, media string) ([]byte, error) {
	if media != mediaYAML {
		return body, nil
	}
	// The objects of the kinds that are served here have a few hundred nodes.
	return boundedyaml.ToJSON(body, boundedyaml.Limits{Bytes: maxBody, Nodes: 50_000, Depth: 64})
}

// unreadable returns the problem of a body that cannot be read.
func unreadable(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fieldErrors(&view.FieldError{Location: wrong.Field, Message: "has the wrong type: " + wrong.Value, Code: view.FieldType})
	}
	if _, ok := errors.AsType[*boundedyaml.LimitError](err); ok {
		return view.NewProblem(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "Cannot parse the body: "+err.Error()+".")
	}
	return view.NewProblem(http.StatusBadRequest, "BadRequest", "Cannot parse the body: "+err.Error())
}

func uidOf(object []byte) types.UID {
	var read sketch
	if json.Unmarshal(object, &read) != nil {
		return ""
	}
	return read.Metadata.UID
}

// versionOf returns the resourceVersion of an object. A dry run has that of the object that it was tried on.
func versionOf(object []byte) string {
	var of sketch
	if json.Unmarshal(object, &of) != nil {
		return ""
	}
	return of.Metadata.ResourceVersion
}
