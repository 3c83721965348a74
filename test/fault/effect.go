// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/test/rig"
)

// effect is a call by which the manager changes something outside of its process: a write to the API server, or a call of a driver
// or a tool. Two runs of a scenario do the same in another order, so a call is known by what it does to which object, and by how
// often that was done before in the run.
type effect struct {
	Verb string `json:"verb"`
	// Object is the resource with its group, the namespace and the name, and the subresource. For an event it is what the event is
	// about, and its reason: names of events are random.
	Object string `json:"object"`
	// Nth is 1 for the first call of this verb with this object.
	Nth int `json:"nth"`
	// Number is the place among all effects of the run.
	Number int `json:"number"`
	// Step is in which of the steps of the scenario it was made, counted from 1.
	Step int `json:"step"`
	// Path is where the request went to.
	Path string `json:"path"`
}

// String is what -effect takes.
func (e effect) String() string { return fmt.Sprintf("%s %s #%d", e.Verb, e.Object, e.Nth) }

// isSame reports whether two effects of different runs are the same one.
func (e effect) isSame(other effect) bool {
	return e.Verb == other.Verb && e.Object == other.Object && e.Nth == other.Nth
}

// isEvent reports whether the effect is an event.
func (e effect) isEvent() bool { return strings.HasPrefix(e.Object, "events.") }

// object returns the kind of what is changed, its name with the namespace, and the subresource.
func (e effect) object() (kind, name, part string) {
	kind, name, _ = strings.Cut(e.Object, "/")
	for sub := range strings.FieldsSeq("status eviction ephemeralcontainers") {
		if whole, ok := strings.CutSuffix(name, "/"+sub); ok {
			return kind, whole, sub
		}
	}
	return kind, name, ""
}

// isLike reports whether two effects are writes of one sort: they do the same to the same part of objects of one kind.
func (e effect) isLike(other effect) bool {
	kind, _, part := e.object()
	otherKind, _, otherPart := other.object()
	return e.Verb == other.Verb && kind == otherKind && part == otherPart
}

// requestReader tells effects from other requests to the API server.
type requestReader struct {
	infos  *request.RequestInfoFactory
	decode runtime.Decoder
}

func newRequestReader() *requestReader {
	return &requestReader{
		infos:  &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
		decode: serializer.NewCodecFactory(kube.NewScheme()).UniversalDeserializer(),
	}
}

// read returns the effect of a request, and false for one that changes nothing. The Lease of the election is no effect: it is
// written all the time, and a fault there is a fault of the election.
func (q *requestReader) read(r *http.Request, body []byte) (effect, bool) {
	info, err := q.infos.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest || r.URL.Query().Has("dryRun") {
		return effect{}, false
	}
	switch info.Verb {
	case "get", "list", "watch":
		return effect{}, false
	}
	if info.Resource == "leases" && info.Namespace == rig.Namespace {
		return effect{}, false
	}
	if info.APIGroup == "authorization.k8s.io" || info.APIGroup == "authentication.k8s.io" { // questions that are sent as POST
		return effect{}, false
	}
	if isRunning(info.Resource, info.Namespace, info.Name) { // whether it is written depends on how long a run takes
		return effect{}, false
	}
	object := info.Resource
	if info.APIGroup != "" {
		object += "." + info.APIGroup
	}
	if info.Namespace != "" && info.Resource != "namespaces" {
		object += "/" + info.Namespace
	}
	object += "/" + q.name(info, body)
	if info.Subresource != "" {
		object += "/" + info.Subresource
	}
	return effect{Verb: info.Verb, Object: object, Path: r.URL.Path}, true
}

// name returns the name of what is written, which a request that creates has in its body only.
func (q *requestReader) name(info *request.RequestInfo, body []byte) string {
	if info.Name != "" && info.Resource != "events" {
		return info.Name
	}
	object, _, err := q.decode.Decode(body, nil, nil)
	if err != nil { // a kind that the scheme does not know
		unknown := &unstructured.Unstructured{}
		if err := unknown.UnmarshalJSON(body); err != nil {
			return info.Name
		}
		object = unknown
	}
	switch event := object.(type) {
	case *corev1.Event:
		return event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name + "/" + event.Reason
	case *eventsv1.Event:
		return event.Regarding.Kind + "/" + event.Regarding.Name + "/" + event.Reason
	}
	if written, err := apimeta.Accessor(object); err == nil {
		return written.GetName() + written.GetGenerateName()
	}
	return info.Name
}
