// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// auditPolicy makes the API server note every write, without its content, when it has been answered. Nothing sits between
// a client and the API server that way, reads cost nothing at all, and a write costs one line in a file. The probes
// of clusters are the only reads that are noted: when they come is measured.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["bench:probes"]
  nonResourceURLs: ["/readyz"]
- level: None
  verbs: [get, list, watch]
- level: None # questions about rights and identity are sent as POST and change nothing
  resources: [{group: authentication.k8s.io}, {group: authorization.k8s.io}]
- level: None
  nonResourceURLs: ["*"]
- level: Metadata
`

// auditLog is the API server's audit log.
type auditLog struct{ path string }

// write is one kind of write: who sent what, and how it was answered.
type write struct {
	Agent    string `json:"agent"`
	Verb     string `json:"verb"`
	Resource string `json:"resource"`
	Code     int    `json:"code"`
}

// writes counts writes.
type writes map[write]int

// auditEvent is what is read of a line.
type auditEvent struct {
	Verb      string `json:"verb"`
	UserAgent string `json:"userAgent"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	Status struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// mark returns the present end of the log.
func (a *auditLog) mark() (int64, error) {
	info, err := os.Stat(a.path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the audit log: %w", err)
	}
	return info.Size(), nil
}

// since counts the writes from a mark on. A mark may lie in the middle of a line, because the file grows page by page under a write:
// that line was begun before it, and does not count.
func (a *auditLog) since(mark int64) (writes, error) {
	file, err := os.Open(a.path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(max(mark-1, 0), io.SeekStart); err != nil {
		return nil, fmt.Errorf("cannot read the audit log: %w", err)
	}
	reader := bufio.NewReader(file)
	if mark > 0 {
		if _, err := reader.ReadBytes('\n'); errors.Is(err, io.EOF) {
			return writes{}, nil
		} else if err != nil {
			return nil, fmt.Errorf("cannot read the audit log: %w", err)
		}
	}
	return countWrites(reader)
}

func countWrites(reader *bufio.Reader) (writes, error) {
	counts := writes{}
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return counts, nil // what comes after the last line end is still being written
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the audit log: %w", err)
		}
		var event auditEvent
		if err := json.Unmarshal(bytes.TrimSpace(line), &event); err != nil {
			return nil, fmt.Errorf("cannot read line %q of the audit log: %w", line, err)
		}
		if event.Verb == "get" {
			continue // a probe
		}
		agent, _, _ := strings.Cut(event.UserAgent, "/")
		resource := event.ObjectRef.Resource
		if event.ObjectRef.Subresource != "" {
			resource += "/" + event.ObjectRef.Subresource
		}
		counts[write{Agent: agent, Verb: event.Verb, Resource: resource, Code: event.Status.Code}]++
	}
}

// quiet waits until the agent has written nothing but its lease for the given time, and returns the mark from before.
func (a *auditLog) quiet(ctx context.Context, agent string, silence time.Duration) error {
	for {
		mark, err := a.mark()
		if err != nil {
			return err
		}
		if err := pause(ctx, silence); err != nil {
			return err
		}
		counts, err := a.since(mark)
		if err != nil {
			return err
		}
		if counts.sum(by(agent), besidesLease) == 0 {
			return nil
		}
	}
}

// by chooses the writes of an agent.
func by(agent string) func(write) bool { return func(w write) bool { return w.Agent == agent } }

// to chooses the writes to a resource, which may name a subresource.
func to(resource string) func(write) bool {
	return func(w write) bool { return w.Resource == resource }
}

// besidesLease drops what keeps the leadership.
func besidesLease(w write) bool { return w.Resource != "leases" }

// sum counts the writes that all filters choose.
func (c writes) sum(filters ...func(write) bool) int {
	total := 0
	for w, count := range c {
		if !slices.ContainsFunc(filters, func(chooses func(write) bool) bool { return !chooses(w) }) {
			total += count
		}
	}
	return total
}

// text lists the writes that all filters choose, the most frequent first.
func (c writes) text(filters ...func(write) bool) string {
	chosen := maps.Clone(c)
	maps.DeleteFunc(chosen, func(w write, _ int) bool {
		return slices.ContainsFunc(filters, func(chooses func(write) bool) bool { return !chooses(w) })
	})
	keys := slices.SortedFunc(maps.Keys(chosen), func(a, b write) int {
		return cmp.Or(cmp.Compare(chosen[b], chosen[a]), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Verb, b.Verb),
			cmp.Compare(a.Code, b.Code))
	})
	parts := make([]string, 0, len(keys))
	for _, w := range keys {
		part := fmt.Sprintf("%d %s %s", chosen[w], w.Verb, w.Resource)
		if w.Code >= 300 {
			part += fmt.Sprintf(" (%d)", w.Code)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// agents returns who wrote, sorted.
func (c writes) agents() []string {
	seen := map[string]bool{}
	for w := range c {
		seen[w.Agent] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// pause waits for a time, or until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
