// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"slices"
	"testing"
	"time"

	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Two tokens of one user can have different groups and extra fields, as those of OpenID Connect do. One used to get the namespaces of the
// other from the cache.
func TestAttackScopeOfAnotherTokenOfTheUser(t *testing.T) {
	t.Parallel()
	r := &Rights{
		scopes: utilcache.NewLRUExpireCache(maxScopes), ttl: time.Hour, now: time.Now, namespaces: func() []string { return []string{"a"} },
	}
	callers := map[string]*user.DefaultInfo{
		"in the group":          {Name: "me", UID: "1", Groups: []string{"admins"}},
		"in no group":           {Name: "me", UID: "1"},
		"in groups of its name": {Name: "me", UID: "1", Groups: []string{"adm", "ins"}},
		"with a scope":          {Name: "me", UID: "1", Extra: map[string][]string{"scopes": {"admins"}}},
	}
	for _, name := range []string{"in the group", "in no group", "in groups of its name", "with a scope"} {
		who := callers[name]
		got, err := r.within(t.Context(), &Caller{User: who}, "pods list", func(context.Context, string) (bool, error) {
			return slices.Contains(who.Groups, "admins"), nil
		})
		if admitted := got.Admits("a"); err != nil || admitted != (name == "in the group") {
			t.Errorf("%s: the caller sees the namespace: %t, %v", name, admitted, err)
		}
	}
}
