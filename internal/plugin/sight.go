// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// sight is a kind as a tree has shown it: which of its objects, and how they stood. A node whose heartbeat arrives stands as before.
type sight struct {
	kind    *kind
	options *client.ListOptions
	wanted  func(client.Object) bool
	lines   map[string]string
}

// saw remembers which objects of a list were shown.
func (c *cluster) saw(k *kind, version, namespace string, wanted func(client.Object) bool, shown []*standing, more ...client.ListOption) {
	if c.sights == nil {
		return
	}
	options := &client.ListOptions{Namespace: namespace, Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true}}
	options.ApplyOptions(more)
	lines := map[string]string{}
	for _, each := range shown {
		lines[each.key()] = each.line()
	}
	*c.sights = append(*c.sights, &sight{kind: k, options: options, wanted: wanted, lines: lines})
}

// beforeReading returns the version to watch an object from that is read next, empty if nothing is remembered. The object's own can be one
// that the API server has forgotten, and a watch from now on does not tell of a deletion since. Who may not list has no version, and
// may not watch either. It fails if there is no answer at all, so that the reader does not wait for another one as long again.
func (c *cluster) beforeReading(ctx context.Context, k *kind, namespace, name string) (string, error) {
	if c.sights == nil {
		return "", nil
	}
	list := k.list()
	err := c.List(ctx, list, client.InNamespace(namespace), byName(name))
	if _, answered := errors.AsType[*apierrors.StatusError](err); err != nil && !answered {
		return "", err
	}
	return list.GetResourceVersion(), nil
}

// sawOne remembers an object that was read by its name, or with nil that it is not there.
func (c *cluster) sawOne(k *kind, version, namespace, name string, object client.Object) {
	var shown []*standing
	if object != nil {
		shown = append(shown, standingOf(k, object))
	}
	c.saw(k, version, namespace, func(client.Object) bool { return true }, shown, byName(name))
}

func byName(name string) client.ListOption {
	return client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", name)}
}

// isOther reports whether an object stands otherwise than it was shown. Those that were shown may have ceased to be wanted.
func (s *sight) isOther(object client.Object, gone bool) bool {
	now := standingOf(s.kind, object)
	line, shown := s.lines[now.key()]
	if gone || !s.wanted(object) {
		return shown
	}
	return line != now.line()
}
