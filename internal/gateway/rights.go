// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

const (
	// askers is how many namespaces are asked about at the same time.
	askers = 16
	// scopeMemory is how many scopes are remembered.
	scopeMemory = 4096
	// selfMemory is how many answers about the kubeconfig's own rights are remembered.
	selfMemory = 8192
)

// rights says what a caller may read from the stores. When in doubt he may not: the API server is then asked as him.
type rights struct {
	hub    *hub
	review authorizer.UnconditionalAuthorizer
	self   authorizationclient.SelfSubjectAccessReviewInterface
	// answers are those about the kubeconfig's own rights; the reviews of others are remembered by the authorizer.
	answers *utilcache.LRUExpireCache
	scopes  *utilcache.LRUExpireCache
	ttl     time.Duration
	// known are asked about where the namespaces are not in a store.
	known []string
}

func newRights(h *hub, client authorizationclient.AuthorizationV1Interface, ttl time.Duration, known []string) (*rights, error) {
	review, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client, AllowCacheTTL: ttl, DenyCacheTTL: ttl / 2, WebhookRetryBackoff: reviewBackoff(),
	}.New()
	if err != nil {
		return nil, fmt.Errorf("cannot make the authorizer: %w", err)
	}
	return &rights{
		known: known,
		hub:   h, review: review, self: client.SelfSubjectAccessReviews(), ttl: ttl,
		answers: utilcache.NewLRUExpireCache(selfMemory), scopes: utilcache.NewLRUExpireCache(scopeMemory),
	}, nil
}

// request is what a caller wants to do.
type request struct {
	verb            string
	resource        schema.GroupVersionResource
	namespace, name string
}

// allowed reports whether the caller may do that.
func (r *rights) allowed(ctx context.Context, who *caller, what request) bool {
	if who.session {
		return r.selfAllowed(ctx, what)
	}
	decision, _, err := r.review.Authorize(ctx, authorizer.AttributesRecord{
		User: who.user, Verb: what.verb, Namespace: what.namespace, Name: what.name, ResourceRequest: true,
		APIGroup: what.resource.Group, APIVersion: what.resource.Version, Resource: what.resource.Resource,
	})
	return err == nil && decision == authorizer.DecisionAllow
}

// selfAllowed asks about the kubeconfig's own rights.
func (r *rights) selfAllowed(ctx context.Context, what request) bool {
	if answer, ok := r.answers.Get(what); ok {
		allowed, ok := answer.(bool)
		return ok && allowed
	}
	answer, err := r.self.Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: what.verb, Group: what.resource.Group, Version: what.resource.Version, Resource: what.resource.Resource,
			Namespace: what.namespace, Name: what.name,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false
	}
	r.answers.Add(what, answer.Status.Allowed, r.ttl)
	return answer.Status.Allowed
}

// may reports whether the caller may do all of the verbs to the kind in the namespace.
func (r *rights) may(ctx context.Context, who *caller, k *kind, namespace, name string, verbs ...string) bool {
	for _, verb := range verbs {
		if !r.allowed(ctx, who, request{verb: verb, resource: k.resource(), namespace: namespace, name: name}) {
			return false
		}
	}
	return true
}

// scopeOf returns what of the kind the caller may do all of the verbs to. With a namespace only that one is asked about.
func (r *rights) scopeOf(ctx context.Context, who *caller, k *kind, namespace string, verbs ...string) scope {
	switch {
	case namespace != "":
		if r.may(ctx, who, k, namespace, "", verbs...) {
			return scope{namespaces: map[string]struct{}{namespace: {}}}
		}
		return scope{}
	case r.may(ctx, who, k, "", "", verbs...):
		return scope{all: true}
	case k.namespaced:
		return r.within(ctx, who, k.plural+" "+strings.Join(verbs, ","), func(ctx context.Context, in string) bool {
			return r.may(ctx, who, k, in, "", verbs...)
		})
	case k.plural == namespacesPlural:
		verbs = append([]string{"get"}, without(verbs, "list")...)
		return r.within(ctx, who, k.plural+" "+strings.Join(verbs, ","), func(ctx context.Context, in string) bool {
			return r.may(ctx, who, k, in, in, verbs...)
		})
	default:
		return scope{}
	}
}

func without(verbs []string, left string) []string {
	var out []string
	for _, verb := range verbs {
		if verb != left {
			out = append(out, verb)
		}
	}
	return out
}

// visible returns the namespaces in which the caller may list something.
func (r *rights) visible(ctx context.Context, who *caller) scope {
	return r.within(ctx, who, "*", func(ctx context.Context, in string) bool {
		for i := range r.hub.kinds {
			k := &r.hub.kinds[i]
			if k.namespaced && r.may(ctx, who, k, in, "", "list") {
				return true
			}
		}
		return false
	})
}

// candidates returns the namespaces that there are, or that are known to be.
func (r *rights) candidates() []string {
	at, _ := byPlural(r.hub.kinds, namespacesPlural)
	items, _, ok := r.hub.stores[at].list()
	if !ok {
		return r.known
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		out = append(out, item.Name)
	}
	return out
}

// within asks about every namespace. The answer is remembered for a fifth of the time that single answers are, so that a
// list is not a thousand look-ups.
func (r *rights) within(ctx context.Context, who *caller, about string, check func(ctx context.Context, namespace string) bool) scope {
	key := who.key() + "\x00" + about
	if found, ok := r.scopes.Get(key); ok {
		if out, ok := found.(scope); ok {
			return out
		}
	}
	out := scope{namespaces: map[string]struct{}{}}
	var (
		asking sync.WaitGroup
		mu     sync.Mutex
		free   = make(chan struct{}, askers)
	)
	for _, name := range r.candidates() {
		free <- struct{}{}
		asking.Go(func() {
			defer func() { <-free }()
			if !check(ctx, name) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			out.namespaces[name] = struct{}{}
		})
	}
	asking.Wait()
	if ctx.Err() == nil { // or it is the answer of somebody who did not wait for it
		r.scopes.Add(key, out, r.ttl/5)
	}
	return out
}
