// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
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
	// scopeTimeout bounds how long all namespaces are asked about.
	scopeTimeout = 30 * time.Second
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
	asking  singleflight.Group
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

// allowed reports whether the caller may do that. With an error nobody knows.
func (r *rights) allowed(ctx context.Context, who *caller, what request) (bool, error) {
	if who.session {
		return r.selfAllowed(ctx, what)
	}
	decision, _, err := r.review.Authorize(ctx, authorizer.AttributesRecord{
		User: who.user, Verb: what.verb, Namespace: what.namespace, Name: what.name, ResourceRequest: true,
		APIGroup: what.resource.Group, APIVersion: what.resource.Version, Resource: what.resource.Resource,
	})
	return err == nil && decision == authorizer.DecisionAllow, err
}

// selfAllowed asks about the kubeconfig's own rights.
func (r *rights) selfAllowed(ctx context.Context, what request) (bool, error) {
	if answer, ok := r.answers.Get(what); ok {
		allowed, ok := answer.(bool)
		return ok && allowed, nil
	}
	answer, err := r.self.Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: what.verb, Group: what.resource.Group, Version: what.resource.Version, Resource: what.resource.Resource,
			Namespace: what.namespace, Name: what.name,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	r.answers.Add(what, answer.Status.Allowed, r.ttl)
	return answer.Status.Allowed, nil
}

// may reports whether the caller may do all of the verbs to the kind in the namespace.
func (r *rights) may(ctx context.Context, who *caller, k *kind, namespace, name string, verbs ...string) (bool, error) {
	for _, verb := range verbs {
		allowed, err := r.allowed(ctx, who, request{verb: verb, resource: k.resource(), namespace: namespace, name: name})
		if !allowed {
			return false, err
		}
	}
	return true, nil
}

// scopeOf returns what of the kind the caller may do all of the verbs to. With a namespace only that one is asked about. With an
// error the scope is what is known to be in it.
func (r *rights) scopeOf(ctx context.Context, who *caller, k *kind, namespace string, verbs ...string) (scope, error) {
	allowed, err := r.may(ctx, who, k, namespace, "", verbs...)
	switch {
	case allowed && namespace != "":
		return scope{namespaces: map[string]struct{}{namespace: {}}}, nil
	case allowed:
		return scope{all: true}, nil
	case err != nil || namespace != "":
		return scope{}, err
	case k.namespaced:
		return r.within(ctx, who, k.plural+" "+strings.Join(verbs, ","), func(ctx context.Context, in string) (bool, error) {
			return r.may(ctx, who, k, in, "", verbs...)
		})
	case k.plural == namespacesPlural:
		verbs = append([]string{"get"}, without(verbs, "list")...)
		return r.within(ctx, who, k.plural+" "+strings.Join(verbs, ","), func(ctx context.Context, in string) (bool, error) {
			return r.may(ctx, who, k, in, in, verbs...)
		})
	default:
		return scope{}, nil
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
	out, _ := r.within(ctx, who, "*", func(ctx context.Context, in string) (bool, error) {
		for i := range r.hub.kinds {
			k := &r.hub.kinds[i]
			if !k.namespaced {
				continue
			}
			if allowed, err := r.may(ctx, who, k, in, "", "list"); allowed || err != nil {
				return allowed, err
			}
		}
		return false, nil
	})
	return out // in doubt he may not
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

// within asks about every namespace. The answer is remembered for a fifth of the time that single answers are, so that a list is
// not a thousand look-ups, and at least for four times as long as it took to find: however many namespaces there are and however
// often a caller comes, the API server is asked for him a fifth of the time. Who wants to know the same at the same time waits
// for the same answer.
func (r *rights) within(
	ctx context.Context, who *caller, about string, check func(ctx context.Context, namespace string) (bool, error),
) (scope, error) {
	key := who.key() + "\x00" + about
	if found, ok := r.scopes.Get(key); ok {
		if out, ok := found.(scope); ok {
			return out, nil
		}
	}
	answers := r.asking.DoChan(key, func() (any, error) {
		// Whoever came first may leave; the others still want to know.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), scopeTimeout)
		defer cancel()
		begun := time.Now() //nolint:forbidigo // because it is how long the API server takes, which no clock of a test knows
		out, err := r.ask(ctx, check)
		if err == nil {
			r.scopes.Add(key, out, max(r.ttl/5, 4*time.Since(begun))) //nolint:forbidigo // for the same reason
		}
		return out, err
	})
	select {
	case <-ctx.Done():
		return scope{}, ctx.Err()
	case answer := <-answers:
		out, _ := answer.Val.(scope)
		return out, answer.Err
	}
}

// ask asks about every namespace, a few at a time.
func (r *rights) ask(ctx context.Context, check func(ctx context.Context, namespace string) (bool, error)) (scope, error) {
	var (
		out    = scope{namespaces: map[string]struct{}{}}
		failed error
		asking sync.WaitGroup
		mu     sync.Mutex
		free   = make(chan struct{}, askers)
	)
	for _, name := range r.candidates() {
		free <- struct{}{}
		asking.Go(func() {
			defer func() { <-free }()
			allowed, err := check(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				failed = err
			case allowed:
				out.namespaces[name] = struct{}{}
			}
		})
	}
	asking.Wait()
	return out, failed
}
