// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// lag makes what a manager sees of the cluster old, as an API server does whose watch cache is behind. Reads of single objects, lists
// that have to be of the present and writes are not affected: they ask the storage.
type lag struct {
	next http.Handler

	mutex sync.Mutex
	// held says of which paths watches are held back, nil for none.
	held func(path string) bool
	// asOf is the version that lists show, empty for the present one.
	asOf    string
	streams map[*stream]bool
}

// newLag puts a lag into a proxy whose manager has not started.
func newLag(p *proxy) *lag {
	l := &lag{next: p.forward, streams: map[*stream]bool{}}
	p.forward = l
	return l
}

// hold keeps all events of watches back.
func (l *lag) hold() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.held = everything
}

// travel keeps all events of watches back and lets lists show an older version.
func (l *lag) travel(version string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.held, l.asOf = everything, version
}

// catchUp lets lists show the present, and watches of all kinds but those of Windlass go on: a manager that sees what has become of the others, and not yet
// why, may do once more what was done.
func (l *lag) catchUp() {
	l.mutex.Lock()
	l.held, l.asOf = isOurs, ""
	streams := slices.Collect(maps.Keys(l.streams))
	l.mutex.Unlock()
	for _, s := range streams {
		if !isOurs(s.path) {
			s.flush(false)
		}
	}
}

func everything(string) bool { return true }

// isOurs says whether a path is that of a kind of Windlass.
func isOurs(path string) bool {
	group, _, _ := strings.Cut(strings.TrimPrefix(path, "/apis/"), "/")
	return slices.Contains([]string{
		nodesv1.GroupName, appsv1alpha1.GroupName, cloudnativev1alpha1.GroupName, clusterprovisionerv1alpha1.GroupName,
	}, group)
}

// release lets everything go on. If merged, only the last of the events that were kept back of each object is sent.
func (l *lag) release(merged bool) {
	l.mutex.Lock()
	l.held, l.asOf = nil, ""
	streams := slices.Collect(maps.Keys(l.streams))
	l.mutex.Unlock()
	for _, s := range streams {
		s.flush(merged)
	}
}

func (l *lag) holds(path string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.held != nil && l.held(path)
}

// ServeHTTP implements http.Handler.
func (l *lag) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	watches := query.Get("watch") == "true" || query.Get("watch") == "1"
	l.mutex.Lock()
	asOf := l.asOf
	l.mutex.Unlock()
	switch {
	case r.Method != http.MethodGet || single(r):
		l.next.ServeHTTP(w, r)
	case !watches:
		if asOf != "" && query.Get("resourceVersion") == "0" { // any version will do; other lists ask the storage
			query.Set("resourceVersion", asOf)
			query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
			r.URL.RawQuery = query.Encode()
		}
		l.next.ServeHTTP(w, r)
	case asOf != "" && query.Has("sendInitialEvents"):
		refuseWatchList(w) // then the client lists, which can be answered from an older version
	default:
		l.watch(w, r)
	}
}

// single says whether a request reads something other than a collection. The manager watches single objects by a field selector.
func single(r *http.Request) bool {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api":
		parts = parts[1:]
	case parts[0] == "apis" && len(parts) > 2:
		parts = parts[2:]
	default:
		return true
	}
	// version, resource; or version, "namespaces", namespace, resource
	return len(parts) != 2 && (len(parts) != 4 || parts[1] != "namespaces")
}

// refuseWatchList answers as an API server that does not know lists by watch.
func refuseWatchList(w http.ResponseWriter) {
	makeUp(w, http.StatusUnprocessableEntity, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: "sendInitialEvents is not supported",
	})
}

// watch passes a watch on, event by event. That takes JSON, which has one event in each line, and is not compressed.
func (l *lag) watch(w http.ResponseWriter, r *http.Request) {
	r.Header.Set("Accept", onlyJSON(r.Header.Get("Accept")))
	r.Header.Set("Accept-Encoding", "identity")
	s := &stream{ResponseWriter: w, lag: l, path: r.URL.Path}
	l.mutex.Lock()
	l.streams[s] = true
	l.mutex.Unlock()
	defer func() {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		delete(l.streams, s)
	}()
	defer s.end()
	l.next.ServeHTTP(s, r)
}

// onlyJSON leaves the JSON of what a client accepts.
func onlyJSON(accept string) string {
	for part := range strings.SplitSeq(accept, ",") {
		if part = strings.TrimSpace(part); strings.HasPrefix(part, "application/json") {
			return part
		}
	}
	return "application/json"
}

// stream is a watch under way.
type stream struct {
	http.ResponseWriter

	lag   *lag
	path  string
	mutex sync.Mutex
	// ended is set when nobody listens any more.
	ended bool
	// part is the beginning of a line.
	part []byte
	kept [][]byte
}

// Write implements http.ResponseWriter.
func (s *stream) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.part = append(s.part, p...)
	for {
		end := bytes.IndexByte(s.part, '\n')
		if end < 0 {
			return len(p), nil
		}
		line := bytes.Clone(s.part[:end+1])
		s.part = s.part[end+1:]
		if s.lag.holds(s.path) || len(s.kept) > 0 { // what was kept back goes first
			s.kept = append(s.kept, line)
			continue
		}
		if _, err := s.ResponseWriter.Write(line); err != nil {
			return len(p), err
		}
	}
}

// end keeps a release from writing into an answer that is complete.
func (s *stream) end() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.ended = true
}

// FlushError implements what http.ResponseController looks for.
func (s *stream) FlushError() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// flush sends what was kept back. A manager that does not listen any more is not an error.
func (s *stream) flush(merged bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.ended {
		return
	}
	if merged {
		s.kept = lastOfEach(s.kept)
	}
	for _, line := range s.kept {
		_, _ = s.ResponseWriter.Write(line)
	}
	s.kept = nil
	_ = http.NewResponseController(s.ResponseWriter).Flush()
}

// lastOfEach leaves the last event of each object, and its order. The watcher never hears of an object that came and went.
func lastOfEach(lines [][]byte) [][]byte {
	type watched struct {
		Type   string `json:"type"`
		Object struct {
			Metadata struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"metadata"`
		} `json:"object"`
	}
	events := make([]watched, len(lines))
	first, last := map[string]int{}, map[string]int{}
	name := func(e *watched) string { return e.Object.Metadata.Namespace + "/" + e.Object.Metadata.Name }
	for i, line := range lines {
		if json.Unmarshal(line, &events[i]) != nil {
			return lines
		}
		if key := name(&events[i]); events[i].Type != "BOOKMARK" {
			if _, seen := first[key]; !seen {
				first[key] = i
			}
			last[key] = i
		}
	}
	var out [][]byte
	for i, line := range lines {
		e := &events[i]
		key := name(e)
		isNew := e.Type != "BOOKMARK" && events[first[key]].Type == "ADDED"
		switch {
		case e.Type == "BOOKMARK":
			out = append(out, line)
		case last[key] != i || e.Type == "DELETED" && isNew:
		case e.Type == "MODIFIED" && isNew:
			out = append(out, bytes.Replace(line, []byte(`"MODIFIED"`), []byte(`"ADDED"`), 1))
		case e.Type == "ADDED" && !isNew: // deleted and created again: a watcher that missed it sees another object
			out = append(out, bytes.Replace(line, []byte(`"ADDED"`), []byte(`"MODIFIED"`), 1))
		default:
			out = append(out, line)
		}
	}
	return out
}
