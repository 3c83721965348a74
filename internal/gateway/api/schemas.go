// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	_ "embed" // the schemas
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// published are the schemas of all kinds and of what they refer to, as the API server publishes them. TestSchemas writes them.
//
//go:embed schemas.json
var published []byte

// Names of schemas of Kubernetes, and of those that describe them.
const (
	schemaStatus = "Status"
	schemaScale  = "Scale"
	schemaTable  = "Table"
	// schemaKinds lists kinds.
	schemaKinds = "KindList"
	// schemaSummary counts objects.
	schemaSummary = "Summary"
	// schemaMeta is metadata of an object that exists, and schemaNamed that of one of which only the name may be known.
	schemaMeta, schemaNamed = "StoredObjectMeta", "NamedObjectMeta"
	// schemaKind is the name of a kind in the routes.
	schemaKind = "KindName"
	// schemaEvent is an event of a stream.
	schemaEvent = "WatchEvent"
)

// Keys of schemas and of events.
const (
	fieldType      = "type"
	keyDescription = "description"
	keyProperties  = "properties"
	keyRequired    = "required"
	typeString     = "string"
	typeArray      = "array"
	keyItems       = "items"
	keyName        = "name"
)

func schemaList(k *feed.Kind) string     { return k.GVK.Kind + "List" }
func schemaInput(k *feed.Kind) string    { return k.GVK.Kind + "Input" }
func schemaSnapshot(k *feed.Kind) string { return k.GVK.Kind + "Snapshot" }
func schemaUpsert(k *feed.Kind) string   { return k.GVK.Kind + "Upsert" }

// schemas returns the schemas of everything that is in the format of Kubernetes.
func schemas(kinds []*feed.Kind) (map[string]view.Schema, error) {
	out := map[string]view.Schema{}
	if err := json.Unmarshal(published, &out); err != nil {
		return nil, fmt.Errorf("cannot read the schemas of the kinds: %w", err)
	}
	out[schemaMeta] = view.Schema{
		keyDescription: "Metadata of an object that exists",
		"allOf":        []any{refTo("ObjectMeta")}, keyRequired: []string{keyName, "uid", "creationTimestamp"},
	}
	out[schemaNamed] = view.Schema{
		keyDescription: "Metadata of an object of which the caller may see the name only",
		"allOf":        []any{refTo("ObjectMeta")}, keyRequired: []string{keyName},
	}
	for _, name := range []string{schemaStatus, schemaScale} {
		version := "v1"
		if name == schemaScale {
			version = "autoscaling/v1"
		}
		out[name] = typed(out[name], version, name)
	}
	plurals := make([]any, 0, len(kinds))
	for _, k := range kinds {
		plurals = append(plurals, k.Plural)
		describeKind(out, k)
	}
	out[schemaKind] = view.Schema{fieldType: typeString, "enum": plurals, keyDescription: "A kind, as in the routes"}
	describeEvents(out, kinds)
	return out, nil
}

// typed returns the schema of an object that says what it is.
func typed(of view.Schema, apiVersion, kind string) view.Schema {
	out := maps.Clone(of)
	properties, _ := of[keyProperties].(map[string]any)
	properties = maps.Clone(properties)
	properties["apiVersion"] = view.Schema{fieldType: typeString, "const": apiVersion}
	properties[fieldKind] = view.Schema{fieldType: typeString, "const": kind}
	out[keyProperties] = properties
	required := []string{"apiVersion", fieldKind}
	if old, ok := of[keyRequired].([]any); ok {
		for _, one := range old {
			if name, ok := one.(string); ok && !slices.Contains(required, name) {
				required = append(required, name)
			}
		}
	}
	out[keyRequired] = required
	return out
}

// with returns a copy of an object's schema in which a property is another one, which is required.
func with(of view.Schema, name string, property view.Schema) view.Schema {
	out := maps.Clone(of)
	properties, _ := of[keyProperties].(map[string]any)
	properties = maps.Clone(properties)
	properties[name] = property
	out[keyProperties] = properties
	required, _ := of[keyRequired].([]string)
	if !slices.Contains(required, name) {
		out[keyRequired] = append(slices.Clone(required), name)
	}
	return out
}

// describeKind adds the schemas of a kind: an object as it is served, as it is written, and a list of them.
func describeKind(all map[string]view.Schema, k *feed.Kind) {
	kind, version := k.GVK.Kind, k.GVK.GroupVersion().String()
	object := typed(all[kind], version, kind)
	if k.Access == view.AccessFull {
		input := with(object, "metadata", refTo("ObjectMeta"))
		input[keyDescription] = "A " + kind + " to create, apply or replace"
		properties, _ := input[keyProperties].(map[string]any)
		delete(properties, "status") // which only controllers write
		all[schemaInput(k)] = input
	}
	meta := schemaMeta
	if k.Plural == view.NamespacesPlural {
		meta = schemaNamed
	}
	all[kind] = with(object, "metadata", refTo(meta))
	all[schemaList(k)] = objectOf("A page of "+k.About, view.Schema{
		"apiVersion": constant(version), fieldKind: constant(kind + "List"), "metadata": refTo("ListMeta"), keyItems: listOf(kind),
	})
}

// describeEvents adds the events of a stream. Type tells one from another, and kind tells what an object is.
func describeEvents(all map[string]view.Schema, kinds []*feed.Kind) {
	var names []string
	text := view.Schema{fieldType: typeString}
	for _, k := range kinds {
		if k.Uncached {
			continue
		}
		all[schemaSnapshot(k)] = objectOf("A part of the existing "+k.About, view.Schema{
			fieldType: constant("snapshot"), fieldKind: constant(k.Plural), keyItems: listOf(k.GVK.Kind),
			"more": view.Schema{fieldType: "boolean", keyDescription: "Whether the kind has further parts"},
		})
		all[schemaUpsert(k)] = objectOf("A new or changed "+k.GVK.Kind, view.Schema{
			fieldType: constant("upsert"), fieldKind: constant(k.Plural), "object": refTo(k.GVK.Kind),
		})
		names = append(names, schemaSnapshot(k), schemaUpsert(k))
	}
	maps.Copy(all, countSchemas())
	for name, schema := range map[string]view.Schema{
		"SummaryChanged": objectOf("Counts of all kinds, whenever one has changed", view.Schema{
			fieldType: constant("summary"),
			"kinds": view.Schema{
				fieldType: typeArray, keyItems: refTo("KindCounts"),
				keyDescription: "Kinds of which the caller may list something, the one with the most failed objects first",
			},
			"hidden": view.Schema{fieldType: typeArray, keyItems: refTo(schemaKind), keyDescription: "Kinds that are not counted"},
		}),
		"SnapshotComplete": objectOf("The end of a snapshot of all kinds", view.Schema{
			fieldType: constant("complete"), "done": view.Schema{fieldType: "boolean", "const": true},
		}),
		"ObjectDeleted": objectOf("An object that is gone", view.Schema{
			fieldType: constant("delete"), fieldKind: refTo(schemaKind), keyName: text, "uid": text,
			"namespace": view.Schema{fieldType: typeString, keyDescription: "Empty for a cluster-scoped object"},
		}),
		"StreamResync": objectOf("Forget everything: a snapshot follows", view.Schema{fieldType: constant("resync")}),
		"KindDenied": objectOf("What the caller may not see, or no longer", view.Schema{
			fieldType: constant("denied"), fieldKind: refTo(schemaKind),
			"namespaces": view.Schema{
				fieldType: []any{typeArray, "null"}, keyItems: text, keyDescription: "Namespaces that are denied; null for all of them",
			},
		}),
		"StreamStale": objectOf("What the caller has of these kinds may be old: the API server does not answer. Nothing new comes until it does", view.Schema{
			fieldType: constant("stale"), "behind": view.Schema{fieldType: typeArray, keyItems: refTo(schemaKind)},
			"since": view.Schema{fieldType: typeString, "format": "date-time", keyDescription: "Since when the API server has not answered"},
		}),
		"StreamFresh":   objectOf("Nothing is old any more", view.Schema{fieldType: constant("fresh")}),
		"StreamBeat":    objectOf("The stream lives: it comes every 15 seconds", view.Schema{fieldType: constant("beat")}),
		"StreamExpired": objectOf("The token is no longer accepted, and the stream ends", view.Schema{fieldType: constant("expired")}),
	} {
		all[name] = schema
		names = append(names, name)
	}
	slices.Sort(names)
	union := make([]any, 0, len(names))
	for _, name := range names {
		union = append(union, refTo(name))
	}
	all[schemaEvent] = view.Schema{
		keyDescription: "The data of an event of a stream. type tells what it is; that of an event named snapshot is complete at its end",
		"oneOf":        union,
	}
}

// countSchemas returns the schemas of counts in a stream.
func countSchemas() map[string]view.Schema {
	number := view.Schema{fieldType: "integer"}
	return map[string]view.Schema{
		"KindCounts": objectOf("The number of objects of a kind by state", view.Schema{
			fieldKind: refTo(schemaKind), "total": number, "ready": number, "pending": number, "failed": number,
			"reasons": view.Schema{
				fieldType: typeArray, keyItems: refTo("ReasonTally"),
				keyDescription: "Reasons of objects that are not ready: failed before pending, the most frequent first, at most 32",
			},
		}),
		"ReasonTally": objectOf("The number of objects with a reason", view.Schema{
			"reason": view.Schema{fieldType: typeString}, "state": view.Schema{fieldType: typeString, "enum": []any{"pending", "failed"}}, "count": number,
		}),
	}
}

// refTo returns a reference to a schema.
func refTo(name string) view.Schema { return view.Schema{"$ref": "#/components/schemas/" + name} }

// constant returns the schema of one text.
func constant(value string) view.Schema { return view.Schema{fieldType: typeString, "const": value} }

// listOf returns the schema of a list.
func listOf(name string) view.Schema { return view.Schema{fieldType: typeArray, keyItems: refTo(name)} }

// objectOf returns the schema of an object all of whose properties are always there.
func objectOf(about string, properties view.Schema) view.Schema {
	return view.Schema{
		fieldType: "object", keyDescription: about, keyProperties: properties, keyRequired: slices.Sorted(maps.Keys(properties)),
	}
}
