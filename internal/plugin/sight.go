// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
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

// sawOne remembers an object that was read by its name, nil if there is none. The watch begins with the object: its own version could
// be one that the API server has forgotten.
func (c *cluster) sawOne(k *kind, namespace, name string, object client.Object) {
	var shown []*standing
	if object != nil {
		shown = append(shown, standingOf(k, object))
	}
	byName := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", name)}
	c.saw(k, "", namespace, func(client.Object) bool { return true }, shown, byName)
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
