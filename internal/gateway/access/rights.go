// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/util/webhook"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	// askers is how many reviews run at the same time.
	askers = 16
	// maxScopes is how many scopes are cached.
	maxScopes = 4096
	// scopeTimeout bounds the reviews of all namespaces together.
	scopeTimeout = 30 * time.Second
	// maxAnswers is how many answers of reviews are cached.
	maxAnswers = 8192
	// maxMatrices is how many matrices are asked for at the same time.
	maxMatrices = 2
	// maxSurveys is how many callers are asked about in all namespaces at the same time, with reviews of their own each.
	maxSurveys = 8
)

// Rights says what a caller may read from the stores. In doubt it says no: the API server is then asked as the caller.
type Rights struct {
	review reviewer
	// answers are those of reviews.
	answers *utilcache.LRUExpireCache
	scopes  *utilcache.LRUExpireCache
	asking  singleflight.Group
	// matrices are the requests for all rights at once, and surveys the questions about all namespaces.
	matrices *Turns
	surveys  *Turns
	ttl      time.Duration
	kinds    []view.Kind
	// namespaces returns those that a caller may have rights in.
	namespaces func() []string
	now        func() time.Time
}

// NewRights returns Rights that believe a review for the time to live, and one that says no for half of it. namespaces returns
// those that a caller may have rights in.
func NewRights(
	client authorizationclient.AuthorizationV1Interface, ttl time.Duration, kinds []view.Kind, namespaces func() []string, now func() time.Time,
) *Rights {
	return &Rights{
		kinds: kinds, namespaces: namespaces, now: now, review: reviewing(client), ttl: ttl,
		answers: utilcache.NewLRUExpireCache(maxAnswers), scopes: utilcache.NewLRUExpireCache(maxScopes), matrices: NewTurns(maxMatrices),
		surveys: NewTurns(maxSurveys),
	}
}

// request is what a caller wants to do.
type request struct {
	verb            string
	resource        schema.GroupVersionResource
	subresource     string
	namespace, name string
}

// reviewer asks the API server what it says about the request of a caller.
type reviewer func(ctx context.Context, who *Caller, what request) (authorizationv1.SubjectAccessReviewStatus, error)

// reviewing returns a reviewer that asks about the kubeconfig's user in their own name, and about others as the gateway.
func reviewing(client authorizationclient.AuthorizationV1Interface) reviewer {
	return func(ctx context.Context, who *Caller, what request) (out authorizationv1.SubjectAccessReviewStatus, err error) {
		about := &authorizationv1.ResourceAttributes{
			Verb: what.verb, Group: what.resource.Group, Version: what.resource.Version, Resource: what.resource.Resource,
			Subresource: what.subresource, Namespace: what.namespace, Name: what.name,
		}
		if who.Session {
			self := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: about}}
			if self, err = client.SelfSubjectAccessReviews().Create(ctx, self, metav1.CreateOptions{}); err != nil {
				return out, err
			}
			return self.Status, nil
		}
		extra := map[string]authorizationv1.ExtraValue{}
		for key, values := range who.User.GetExtra() {
			extra[key] = values
		}
		other := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: who.User.GetName(), UID: who.User.GetUID(), Groups: who.User.GetGroups(), Extra: extra, ResourceAttributes: about,
		}}
		if other, err = client.SubjectAccessReviews().Create(ctx, other, metav1.CreateOptions{}); err != nil {
			return out, err
		}
		return other.Status, nil
	}
}

// answerKey is what an answer is about.
type answerKey struct {
	who  string
	what request
}

// allowed reports whether the caller may do that. An error means that nobody knows: an API server whose authorizer fails, such as a webhook that it does not
// reach, says neither yes nor no.
func (r *Rights) allowed(ctx context.Context, who *Caller, what request) (bool, error) {
	key := answerKey{who.rightsKey(), what}
	if answer, ok := r.answers.Get(key); ok {
		allowed, ok := answer.(bool)
		return ok && allowed, nil
	}
	var says authorizationv1.SubjectAccessReviewStatus
	err := webhook.WithExponentialBackoff(ctx, *reviewBackoff(), func() (err error) {
		says, err = r.review(ctx, who, what)
		return err
	}, webhook.DefaultShouldRetry)
	switch allowed := says.Allowed && !says.Denied; {
	case err != nil:
		return false, err
	case allowed:
		r.answers.Add(key, true, r.ttl)
		return true, nil
	case !says.Denied && says.EvaluationError != "":
		return false, undecided(says.EvaluationError)
	default:
		r.answers.Add(key, false, r.ttl/2)
		return false, nil
	}
}

// May reports whether the caller may do all of the verbs to the kind in the namespace. An error means that nobody knows.
func (r *Rights) May(ctx context.Context, who *Caller, k *view.Kind, namespace, name string, verbs ...string) (bool, error) {
	for _, verb := range verbs {
		allowed, err := r.allowed(ctx, who, request{verb: verb, resource: k.Resource(), namespace: namespace, name: name})
		if !allowed {
			return false, err
		}
	}
	return true, nil
}

// ScopeOf returns the part of the kind that the caller may do all of the verbs to. With a namespace it asks about that one
// only. With an error the scope is the part of it that is known.
func (r *Rights) ScopeOf(ctx context.Context, who *Caller, k *view.Kind, namespace string, verbs ...string) (view.Scope, error) {
	allowed, err := r.May(ctx, who, k, namespace, "", verbs...)
	switch {
	case allowed && namespace != "":
		return view.InNamespaces(namespace), nil
	case allowed:
		return view.Scope{All: true}, nil
	case err != nil || namespace != "":
		return view.Scope{}, err
	case k.Namespaced:
		return r.within(ctx, who, k.Plural+" "+strings.Join(verbs, ","), func(ctx context.Context, in string) (bool, error) {
			return r.May(ctx, who, k, in, "", verbs...)
		})
	case k.Plural == view.NamespacesPlural:
		verbs = append([]string{"get"}, without(verbs, "list")...)
		return r.within(ctx, who, k.Plural+" "+strings.Join(verbs, ","), func(ctx context.Context, in string) (bool, error) {
			return r.May(ctx, who, k, in, in, verbs...)
		})
	default:
		return view.Scope{}, nil
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

// Visible returns the namespaces in which the caller may list something. An error means that nobody knows.
func (r *Rights) Visible(ctx context.Context, who *Caller) (view.Scope, error) {
	return r.within(ctx, who, "*", func(ctx context.Context, in string) (bool, error) {
		for i := range r.kinds {
			k := &r.kinds[i]
			if !k.Namespaced {
				continue
			}
			if allowed, err := r.May(ctx, who, k, in, "", "list"); allowed || err != nil {
				return allowed, err
			}
		}
		return false, nil
	})
}

// within asks about every namespace. The answer is cached for a fifth of the time to live of single answers, so that a list
// is not a thousand reviews, and for at least four times as long as it took. Concurrent requests for the same answer share one
// call. A caller has one such question at a time, whatever it is about and with whichever of their tokens: however many
// namespaces there are and however often they ask, the API server has as many reviews at the same time as for one list.
func (r *Rights) within(
	ctx context.Context, who *Caller, about string, check func(ctx context.Context, namespace string) (bool, error),
) (view.Scope, error) {
	key := who.rightsKey() + "\x00" + about
	if found, ok := r.scopes.Get(key); ok {
		if out, ok := found.(view.Scope); ok {
			return out, nil
		}
	}
	answers := r.asking.DoChan(key, func() (any, error) {
		// The first caller may leave while others still wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), scopeTimeout)
		defer cancel()
		leave, err := r.surveys.Enter(ctx, who)
		if err != nil {
			return view.Scope{}, err
		}
		defer leave()
		begun := r.now()
		out, err := r.ask(ctx, check)
		if err == nil {
			r.scopes.Add(key, out, max(r.ttl/5, 4*r.now().Sub(begun)))
		}
		return out, err
	})
	select {
	case <-ctx.Done():
		return view.Scope{}, ctx.Err()
	case answer := <-answers:
		out, _ := answer.Val.(view.Scope)
		return out, answer.Err
	}
}

// ask asks about every namespace, some at a time.
func (r *Rights) ask(ctx context.Context, check func(ctx context.Context, namespace string) (bool, error)) (view.Scope, error) {
	var (
		out    = view.Scope{Namespaces: map[string]struct{}{}}
		failed error
		asking sync.WaitGroup
		mu     sync.Mutex
		free   = make(chan struct{}, askers)
	)
	for _, name := range r.namespaces() {
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
				out.Namespaces[name] = struct{}{}
			}
		})
	}
	asking.Wait()
	return out, failed
}
