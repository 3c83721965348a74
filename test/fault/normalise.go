// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// This file has everything that two states may differ in. Each exception has its reason beside it.

// times are different in each run. That a time is there is compared.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)

// addresses of pods are handed out in the order in which pods start. This is devcluster's range.
var addresses = regexp.MustCompile(`\b10\.1(2[89]|[3-9]\d)\.\d+\.\d+\b|\b10\.2\d\d\.\d+\.\d+\b`)

// volumes of service account tokens have random names.
var volumes = regexp.MustCompile(`\bkube-api-access-[a-z0-9]{5}\b`)

// containers have random IDs, and addresses in the order in which they and their networks are made. The ranges are the default ones of engines,
// and the one of dockertest.
var (
	containers         = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	containerAddresses = regexp.MustCompile(`\b(172\.(1[6-9]|2\d|3[01])|10\.(6[4-9]|7\d))\.\d+\.\d+\b`)
)

// simulated machines are numbered from the start of the manager that simulates them.
var simulated = regexp.MustCompile(`\bsim-\d{6}\b`)

// tokens of ServiceAccounts are signed, and have the time in them.
var tokens = regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+\.[\w-]+`)

// exception is a field that is removed from the objects of a kind, or from all objects if the kind is empty.
type exception struct {
	kind string
	path []string
}

func exceptions() []exception {
	return []exception{
		{"", inMetadata("uid")},                         // random; references to it are compared, see names
		{"", inMetadata("resourceVersion")},             // counts the writes of the whole cluster
		{"Node", []string{"status", "daemonEndpoints"}}, // a free port of the machine, where the simulator listens
		// A run of a tool that failed is repeated, and its ID and its log are those of the last attempt.
		{"Cluster", []string{"status", "lastOperation", "id"}},
		{"Cluster", []string{"status", "lastOperation", "attempt"}},
		{"Secret", inMetadata("annotations", clusterprovisionerv1alpha1.OperationAnnotation)},
		{"ConfigMap", inMetadata("annotations", clusterprovisionerv1alpha1.OperationAnnotation)},
		// A controller that was away scales from the first number to the last, and not to those in between.
		{"ReplicaSet", inMetadata("generation")},
		{"ReplicaSet", []string{"status", "observedGeneration"}},
		{"Lease", []string{"spec", "holderIdentity"}}, // for nodes it is the simulator with a random name
		// An outage that takes longer than a Lease ends it, and then it is taken once more. A busy machine decides whether it does.
		{"Lease", []string{"spec", "leaseTransitions"}},
	}
}

// inMetadata returns the path of a field in an object's metadata.
func inMetadata(path ...string) []string { return append([]string{"metadata"}, path...) }

// normalise returns the content of an object without what may differ.
func (n *names) normalise(object *unstructured.Unstructured) any {
	content := object.DeepCopy().Object
	for _, e := range exceptions() {
		if e.kind == "" || e.kind == object.GetKind() {
			unstructured.RemoveNestedField(content, e.path...)
		}
	}
	n.owners(content)
	conditions(object, content)
	hash(object, content)
	issued(object, content)
	attempts(object, content)
	native(object, content)
	walked := n.walk(content)
	if object.GetKind() == "ConfigMap" && object.GetName() == retained {
		return anonymous(walked)
	}
	if pod, ok := walked.(map[string]any); ok && object.GetKind() == "Pod" {
		ofTools(pod)
	}
	return walked
}

// native replaces the UID in the name that a machine has on its host.
func native(object *unstructured.Unstructured, content map[string]any) {
	name, found, err := unstructured.NestedString(content, "status", "server", "name")
	if object.GetKind() == "VirtualMachine" && found && err == nil {
		_ = unstructured.SetNestedField(content, nameOfRun(name), "status", "server", "name")
	}
}

// attemptNumber is the end of the ID of a run, which counts the attempts.
var attemptNumber = regexp.MustCompile(`-\d+$`)

// attempts leaves only those that succeeded of the runs that are kept of a Cluster: a run that failed is repeated, and the fault decides how
// many did.
func attempts(object *unstructured.Unstructured, content map[string]any) {
	const logs = "log."
	data, found, err := unstructured.NestedStringMap(content, "data")
	var runs []map[string]any
	if object.GetKind() != "ConfigMap" || !found || err != nil || json.Unmarshal([]byte(data["runs"]), &runs) != nil {
		return
	}
	for _, run := range runs {
		id, _ := run["id"].(string)
		text, kept := data[logs+id]
		delete(data, logs+id)
		run["id"] = attemptNumber.ReplaceAllString(id, "")
		if kept && run["phase"] == ranWell {
			data[fmt.Sprint(logs, run["id"])] = text
		}
	}
	raw, err := json.Marshal(slices.DeleteFunc(runs, func(run map[string]any) bool { return run["phase"] != ranWell }))
	if err != nil {
		return
	}
	data["runs"] = string(raw)
	_ = unstructured.SetNestedStringMap(content, data, "data")
	entries, _, _ := unstructured.NestedSlice(content, "metadata", "managedFields")
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		if owned, found, err := unstructured.NestedMap(fields, "fieldsV1", "f:data"); found && err == nil {
			maps.DeleteFunc(owned, func(key string, _ any) bool { return strings.HasPrefix(key, "f:"+logs) })
			_ = unstructured.SetNestedMap(fields, owned, "fieldsV1", "f:data")
		}
	}
	_ = unstructured.SetNestedSlice(content, entries, "metadata", "managedFields")
}

// ranWell is the phase of a run that did what it was to do.
const ranWell = "Succeeded"

// issued replaces the tokens in a Secret, which are others each time that one is issued.
func issued(object *unstructured.Unstructured, content map[string]any) {
	data, found, err := unstructured.NestedMap(content, "data")
	if object.GetKind() != "Secret" || !found || err != nil {
		return
	}
	for key, value := range data {
		text, err := base64.StdEncoding.DecodeString(fmt.Sprint(value))
		if err == nil && tokens.Match(text) {
			data[key] = tokens.ReplaceAllString(string(text), "<token>")
		}
	}
	_ = unstructured.SetNestedMap(content, data, "data")
}

// retained is the list of machines that stay without their objects.
const retained = "windlass-retained-machines"

// anonymous replaces the UIDs in the list of retained machines: it has them of objects that are gone, so that no name is known for them.
func anonymous(value any) any {
	raw, err := json.Marshal(value)
	if err != nil {
		return value
	}
	return uids.ReplaceAllString(string(raw), "<uid>")
}

// ofTools replaces the UID of a debugging tool that is gone, which its containers keep as long as their pod.
func ofTools(pod map[string]any) {
	containers, _, _ := unstructured.NestedFieldNoCopy(pod, "spec", "ephemeralContainers")
	for _, container := range list(containers) {
		env, _, _ := unstructured.NestedFieldNoCopy(container, "env")
		for _, variable := range list(env) {
			if value, ok := variable["value"].(string); ok && variable["name"] == appsv1alpha1.EnvToolUID {
				variable["value"] = uids.ReplaceAllString(value, "<uid>")
			}
		}
	}
}

// list returns the objects of a list.
func list(value any) []map[string]any {
	items, _ := value.([]any)
	var out []map[string]any
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}

// owners keeps the entries of managedFields that are Windlass' own, in an order of their own: the API server sorts them by time. What
// others own depends on which of the cluster's controllers was first to write what all of them agree on. The taints of a node are one
// field, and belong to the one that wrote them last: Windlass, or the controller that takes the taint off a new node.
func (n *names) owners(content map[string]any) {
	entries, found, err := unstructured.NestedSlice(content, "metadata", "managedFields")
	if !found || err != nil {
		return
	}
	entries = slices.DeleteFunc(entries, func(entry any) bool { return !strings.HasPrefix(owner(entry), string(patch.FieldOwner)) })
	slices.SortFunc(entries, func(a, b any) int { return cmp.Compare(owner(a), owner(b)) })
	for _, entry := range entries {
		if fields, ok := entry.(map[string]any); ok && content["kind"] == "Node" {
			disown(fields, "fieldsV1", "f:spec", "f:taints")
		}
	}
	_ = unstructured.SetNestedSlice(content, entries, "metadata", "managedFields")
}

// disown removes a field from an entry, and what is empty without it.
func disown(entry map[string]any, path ...string) {
	unstructured.RemoveNestedField(entry, path...)
	parent := path[:len(path)-1]
	if left, found, err := unstructured.NestedMap(entry, parent...); found && err == nil && len(left) == 0 {
		unstructured.RemoveNestedField(entry, parent...)
	}
}

// conditions sorts those of a Deployment: they are in the order in which its controller first came to them.
func conditions(object *unstructured.Unstructured, content map[string]any) {
	entries, found, err := unstructured.NestedSlice(content, "status", "conditions")
	if object.GetKind() != "Deployment" || !found || err != nil {
		return
	}
	kind := func(entry any) string {
		condition, _ := entry.(map[string]any)
		return fmt.Sprint(condition["type"])
	}
	slices.SortFunc(entries, func(a, b any) int { return cmp.Compare(kind(a), kind(b)) })
	_ = unstructured.SetNestedSlice(content, entries, "status", "conditions")
}

// hash removes the hash of what was applied last, if that contains the UID of an owner.
func hash(object *unstructured.Unstructured, content map[string]any) {
	if len(object.GetOwnerReferences()) > 0 {
		unstructured.RemoveNestedField(content, "metadata", "annotations", patch.AppliedHashAnnotation)
	}
}

func owner(entry any) string {
	fields, ok := entry.(map[string]any)
	if !ok {
		return ""
	}
	return fmt.Sprintln(fields["manager"], fields["operation"], fields["subresource"], fields["apiVersion"])
}

func (n *names) walk(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range value {
			out[n.replace(key)] = n.walk(inner)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, inner := range value {
			out[i] = n.walk(inner)
		}
		return out
	case string:
		return n.replace(value)
	default:
		return value
	}
}

// names gives random names and UIDs the same text in each run.
type names struct{ replacer *strings.Replacer }

// newNames reads the names and UIDs of snapshots. A UID becomes the name of its object, so that a reference to an object that was
// deleted and created again is a difference. The UID of an object that is gone stays as it is, which is one too.
func newNames(snapshots ...snapshot) *names {
	all := snapshot{}
	for _, s := range slices.Backward(snapshots) {
		maps.Copy(all, s)
	}
	generated := all.generated()
	pairs := slices.Clone(generated)
	given := strings.NewReplacer(generated...)
	for key, object := range all {
		pairs = append(pairs, string(object.GetUID()), "uid of "+given.Replace(key))
	}
	return &names{strings.NewReplacer(pairs...)}
}

// generated returns pairs of a generated name and its replacement. Objects with the same beginning are numbered in the order of
// what is in them.
func (s snapshot) generated() []string {
	groups := map[string][]*unstructured.Unstructured{}
	for key, object := range s {
		if prefix := object.GetGenerateName(); prefix != "" {
			group := strings.TrimSuffix(key, strings.TrimPrefix(object.GetName(), prefix))
			groups[group] = append(groups[group], object)
		}
	}
	var pairs []string
	for _, group := range groups {
		slices.SortFunc(group, func(a, b *unstructured.Unstructured) int { return cmp.Compare(essence(a), essence(b)) })
		for i, object := range group {
			pairs = append(pairs, object.GetName(), fmt.Sprintf("%s(%d)", object.GetGenerateName(), i))
		}
	}
	return pairs
}

// essence is what objects with generated names are sorted by: what they are to be, and what they are called if that is the same.
func essence(object *unstructured.Unstructured) string {
	raw, err := json.Marshal([]any{object.Object["spec"], object.GetLabels(), object.GetDeletionTimestamp(), object.GetName()})
	if err != nil {
		return object.GetName()
	}
	return volumes.ReplaceAllString(string(raw), "<volume>")
}

func (n *names) replace(text string) string {
	text = times.ReplaceAllString(n.replacer.Replace(text), "<time>")
	text = simulated.ReplaceAllString(volumes.ReplaceAllString(text, "<volume>"), "<machine>")
	text = containers.ReplaceAllString(containerAddresses.ReplaceAllString(text, "<address>"), "<container>")
	return addresses.ReplaceAllString(text, "<address>")
}
