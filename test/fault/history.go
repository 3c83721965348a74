// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// author knows which versions of nodes the manager has written: the API server tells it in its answers.
type author struct {
	next http.Handler

	mutex sync.Mutex
	ours  map[string]bool
}

// newAuthor puts an author into a proxy whose manager has not started.
func newAuthor(p *proxy) *author {
	a := &author{next: p.forward, ours: map[string]bool{}}
	p.forward = a
	return a
}

// ServeHTTP implements http.Handler.
func (a *author) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPatch || !strings.HasPrefix(r.URL.Path, "/api/v1/nodes/") {
		a.next.ServeHTTP(w, r)
		return
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Accept-Encoding", "identity")
	kept := &copied{ResponseWriter: w}
	a.next.ServeHTTP(kept, r)
	var written metav1.PartialObjectMetadata
	if json.Unmarshal(kept.body.Bytes(), &written) == nil && written.ResourceVersion != "" {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.ours[written.ResourceVersion] = true
	}
}

func (a *author) wrote(node *corev1.Node) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.ours[node.ResourceVersion]
}

// copied keeps a copy of an answer.
type copied struct {
	http.ResponseWriter

	body bytes.Buffer
}

// Write implements http.ResponseWriter.
func (c *copied) Write(p []byte) (int, error) {
	c.body.Write(p)
	return c.ResponseWriter.Write(p)
}

// nodeHistory is every version of every node, in order.
type nodeHistory struct {
	mutex    sync.Mutex
	versions map[string][]*corev1.Node
}

// watchNodes begins to note versions. It ends with ctx, and goes on when the API server ends a watch, which it does after half an hour to an hour.
func watchNodes(ctx context.Context, c client.WithWatch) (*nodeHistory, error) {
	var first corev1.NodeList
	if err := c.List(ctx, &first); err != nil {
		return nil, fmt.Errorf("cannot list nodes: %w", err)
	}
	h := &nodeHistory{versions: map[string][]*corev1.Node{}}
	for i := range first.Items {
		h.add(&first.Items[i])
	}
	seen, err := watchtools.NewRetryWatcherWithContext(ctx, first.ResourceVersion, nodeWatcher{c})
	if err != nil {
		return nil, fmt.Errorf("cannot watch nodes: %w", err)
	}
	go func() {
		defer seen.Stop()
		for event := range seen.ResultChan() {
			if node, ok := event.Object.(*corev1.Node); ok {
				h.add(node)
			}
		}
	}()
	return h, nil
}

// nodeWatcher watches nodes. It is a cache.WatcherWithContext.
type nodeWatcher struct{ client client.WithWatch }

// WatchWithContext implements cache.WatcherWithContext.
func (w nodeWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return w.client.Watch(ctx, &corev1.NodeList{}, &client.ListOptions{Raw: &options})
}

func (h *nodeHistory) add(node *corev1.Node) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.versions[node.Name] = append(h.versions[node.Name], node)
}

// judge waits until the history is complete, and returns what is wrong in it.
func (h *nodeHistory) judge(ctx context.Context, s *stage, a *author) error {
	var live corev1.NodeList
	err := s.await(ctx, func(ctx context.Context) error {
		if err := s.Client.List(ctx, &live); err != nil {
			return err
		}
		return h.reaches(live.Items)
	})
	if err != nil {
		return err
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(h.versions)) {
		errs = append(errs, judge(h.versions[name], a))
	}
	return errors.Join(errs...)
}

// reaches returns an error if the history of a node does not end with this version of it.
func (h *nodeHistory) reaches(nodes []corev1.Node) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for i := range nodes {
		versions := h.versions[nodes[i].Name]
		if len(versions) == 0 || versions[len(versions)-1].ResourceVersion != nodes[i].ResourceVersion {
			return fmt.Errorf("the history of node %q is not complete", nodes[i].Name)
		}
	}
	return nil
}

// judge follows a node through its versions, beside a shadow that only others have written.
func judge(versions []*corev1.Node, a *author) error {
	shadow := visible(versions[0])
	taken := map[string]bool{} // what the pools had before the others wanted it: it was theirs to repair, and to remove
	var errs []error
	for i, after := range versions[1:] {
		before, now := visible(versions[i]), visible(after)
		if !a.wrote(after) {
			for key := range changed(before, now) {
				taken[key] = strings.Contains(versions[i].Annotations[nodesv1.AppliedAnnotation], strings.TrimPrefix(key, "label "))
				if value, ok := now[key]; ok {
					shadow[key] = value
				} else {
					delete(shadow, key)
				}
			}
			continue
		}
		for key := range changed(before, now) {
			if owned(key) && (key != "label "+neverKey || before[key] == "" || before[key] == "ours" || taken[key]) {
				continue
			}
			errs = append(errs, fmt.Errorf("version %s of node %q, which Windlass wrote, has %s=%q, and before it was %q",
				after.ResourceVersion, after.Name, key, now[key], before[key]))
		}
	}
	last := visible(versions[len(versions)-1])
	maps.DeleteFunc(shadow, func(key string, _ string) bool { return taken[key] })
	maps.DeleteFunc(last, func(key string, _ string) bool { return taken[key] })
	if diff := cmp.Diff(shadow, last); diff != "" {
		errs = append(errs, fmt.Errorf("node %q is not what the others have made of it (-want +got):\n%s", versions[0].Name, diff))
	}
	return errors.Join(errs...)
}

// visible returns the labels, annotations and taints of a node, each under a name of its own.
func visible(node *corev1.Node) map[string]string {
	out := map[string]string{}
	for key, value := range node.Labels {
		out["label "+key] = value
	}
	for key, value := range node.Annotations {
		out["annotation "+key] = value
	}
	for _, taint := range node.Spec.Taints {
		out["taint "+taint.Key+":"+string(taint.Effect)] = taint.Value
	}
	return out
}

// changed returns the keys that differ.
func changed(before, after map[string]string) map[string]bool {
	out := map[string]bool{}
	for key, value := range before {
		if now, ok := after[key]; !ok || now != value {
			out[key] = true
		}
	}
	for key := range after {
		if _, ok := before[key]; !ok {
			out[key] = true
		}
	}
	return out
}

// owned says whether Windlass may write a key.
func owned(key string) bool {
	_, name, _ := strings.Cut(key, " ")
	name, _, _ = strings.Cut(name, ":")
	_, member := nodesv1.CutMemberLabel(name)
	return member || slices.Contains([]string{
		neverKey, restoreKey, "example.com/note", "example.com/" + neverPool, "example.com/" + restorePool, nodesv1.AppliedAnnotation,
	}, name) || name == nodesv1.RoleLabel(neverPool) || name == nodesv1.RoleLabel(restorePool)
}
