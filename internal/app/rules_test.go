// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/config"
)

// authorizer is an API server that answers what an account may do.
type authorizer struct {
	*httptest.Server

	// listed are the rules by namespace, note is what it adds to them, and allowed is its answer to each single question.
	listed  map[string][]authorizationv1.ResourceRule
	note    string
	code    int
	allowed bool

	mutex sync.Mutex
	// asked are the namespaces whose rules were asked for, and singles are the single questions.
	asked   []string
	singles []string
}

func newAuthorizer(t *testing.T) *authorizer {
	t.Helper()
	a := &authorizer{listed: map[string][]authorizationv1.ResourceRule{}}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

// ServeHTTP implements http.Handler.
func (a *authorizer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	decoder, encoder := json.NewDecoder(r.Body), json.NewEncoder(w)
	if strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
		var review authorizationv1.SelfSubjectAccessReview
		_ = decoder.Decode(&review)
		a.singles = append(a.singles, review.Spec.ResourceAttributes.Verb+" "+resourceOf(review.Spec.ResourceAttributes))
		review.Status.Allowed = a.allowed
		_ = encoder.Encode(&review) //nolint:errchkjson // the times in it are empty
		return
	}
	if a.code != 0 {
		w.WriteHeader(a.code)
		return
	}
	var review authorizationv1.SelfSubjectRulesReview
	_ = decoder.Decode(&review)
	a.asked = append(a.asked, review.Spec.Namespace)
	review.Status = authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: a.listed[review.Spec.Namespace], Incomplete: a.note != "", EvaluationError: a.note,
	}
	_ = encoder.Encode(&review) //nolint:errchkjson // the times in it are empty
}

// grantEverything grants all that the controllers need in the whole cluster, and all in the namespace of the Lease.
func (a *authorizer) grantEverything() {
	all := []authorizationv1.ResourceRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	a.listed[nowhere], a.listed["windlass-system"] = all, all
}

// check asks for all rights of the manager.
func (a *authorizer) check(t *testing.T) error {
	t.Helper()
	conf := config.Default(controllerNames()...)
	conf.LeaseLockNamespace = "windlass-system"
	return checkRights(t.Context(), speakingJSON(a.URL), &conf, controllers(), logr.Discard())
}

// speakingJSON returns the way to an API server of a test.
func speakingJSON(url string) *rest.Config {
	return &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"}}
}

// Each start of a manager asked the API server 116 questions.
func TestAStartAsksForItsRightsOnceANamespace(t *testing.T) {
	t.Parallel()
	for sentence, note := range map[string]string{"all authorizers list their rules": "", "only that of kubelets does not": nodesOnly} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			a := newAuthorizer(t)
			a.note = note
			a.grantEverything()
			if err := a.check(t); err != nil {
				t.Fatal(err)
			}
			slices.Sort(a.asked)
			if diff := cmp.Diff([]string{nowhere, "windlass-system"}, a.asked); diff != "" || len(a.singles) > 0 {
				t.Errorf("asked for the rules in (-want +got):\n%s and asked %d single questions", diff, len(a.singles))
			}
		})
	}
}

// A list of rules that somebody else can overrule proves nothing.
func TestRightsAreAskedForOneByOneWhereTheListOfRulesIsNotReliable(t *testing.T) {
	t.Parallel()
	for sentence, prepare := range map[string]func(a *authorizer){
		"a webhook may deny what RBAC grants": func(a *authorizer) { a.note = "webhook authorizer does not support user rule resolution" },
		"a webhook beside the one of kubelets": func(a *authorizer) {
			a.note = "[" + nodesOnly + ", webhook authorizer does not support user rule resolution]"
		},
		"the account may not ask for a list": func(a *authorizer) { a.code = http.StatusForbidden },
		"nothing is listed":                  func(a *authorizer) { a.listed = nil },
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			a := newAuthorizer(t)
			a.allowed = true
			a.grantEverything()
			prepare(a)
			if err := a.check(t); err != nil {
				t.Fatal(err)
			}
			if len(a.singles) < 100 {
				t.Errorf("asked %d single questions, want one for each right", len(a.singles))
			}
		})
	}
}

// A RoleBinding in one namespace grants nothing in the others, and a rule with a name nothing on other objects.
func TestOnlyWhatIsNotListedIsAskedFor(t *testing.T) {
	t.Parallel()
	a := newAuthorizer(t)
	a.grantEverything()
	a.listed[nowhere] = []authorizationv1.ResourceRule{
		{APIGroups: []string{"*"}, Resources: []string{"*", "*/status"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch"}},
		{APIGroups: []string{"node.k8s.io"}, Resources: []string{"runtimeclasses"}, ResourceNames: []string{"a"}, Verbs: []string{"*"}},
	}
	a.allowed = true
	if err := a.check(t); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(a.singles, "delete runtimeclasses.node.k8s.io") {
		t.Errorf("asked %q, want the right to delete all RuntimeClasses too", a.singles)
	}
	for _, single := range a.singles {
		if !strings.HasPrefix(single, "delete ") {
			t.Errorf("asked %q, which is listed", single)
		}
	}
}
