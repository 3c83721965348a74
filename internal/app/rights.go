// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	shipped "github.com/windlass-operator/windlass/config/rbac"
	"github.com/windlass-operator/windlass/internal/config"
)

// right is one verb on one resource.
type right struct {
	// needer is what needs it, as messages call it.
	needer string
	asked  authorizationv1.ResourceAttributes
}

// The patience with roles that were applied a moment ago: the API server knows them some time after it has taken them.
const (
	grantTimeout = 5 * time.Second
	grantPoll    = 500 * time.Millisecond
	// concurrentReviews bounds the questions that are asked at the same time.
	concurrentReviews = 8
)

// checkRights asks the API server for the rights of the shipped roles that this configuration needs. What is missing would otherwise show
// as an endless row of log lines, or only on the day when the right is used.
func checkRights(ctx context.Context, restConfig *rest.Config, conf *config.Config, list []controller, log logr.Logger) error {
	needed, err := neededRights(conf, list)
	if err != nil {
		return err
	}
	asker, err := authorizationclient.NewForConfig(restConfig)
	if err != nil {
		return fmt.Errorf("cannot make a client for the API server at %s: %w", restConfig.Host, err)
	}
	for began := time.Now(); ; {
		missing, err := unlisted(ctx, asker.SelfSubjectRulesReviews(), needed)
		if err == nil {
			missing, err = ungranted(ctx, asker.SelfSubjectAccessReviews(), missing)
		}
		switch {
		case apierrors.IsForbidden(err):
			log.Info("This account may not ask what it may do: its rights are not checked", "cause", err.Error())
			return nil
		case err != nil:
			return explain(restConfig, err)
		case len(missing) == 0:
			return nil
		case time.Since(began) >= grantTimeout:
			return missingRights(restConfig.Host, missing)
		case len(missing) < len(needed):
			needed = missing // what is granted need not be asked for again
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(grantPoll):
		}
	}
}

// neededRights reads the shipped roles of the controllers, of the Lease and of the options that need more.
func neededRights(conf *config.Config, list []controller) ([]right, error) {
	type role struct{ needer, pattern string }
	var roles []role
	for _, c := range list {
		roles = append(roles, role{fmt.Sprintf("controller %q", c.name), "controllers/" + c.name + "/*role.yaml"})
	}
	if conf.LeaderElect {
		roles = append(roles, role{"the election of a leader", "leader_election_role.yaml"})
	}
	if conf.MetricsSecure {
		roles = append(roles, role{"--metrics-secure", "metrics/roles.yaml"})
	}
	if conf.Enabled("cluster") && conf.Clusters.ToolRunner == config.ToolRunnerJob {
		roles = append(roles, role{"--tool-runner=job", "tools-as-jobs/role.yaml"})
	}
	var out []right
	for _, of := range roles {
		files, err := fs.Glob(shipped.Roles, of.pattern)
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("cannot find the shipped role %s: %w", of.pattern, errors.Join(err, fs.ErrNotExist))
		}
		for _, file := range files {
			granted, err := rightsIn(file, of.needer, conf)
			if err != nil {
				return nil, err
			}
			out = append(out, granted...)
		}
	}
	return out, nil
}

// rightsIn returns what the roles in a file grant. A Role is in the namespace of the Lease, where Windlass keeps what is its own.
func rightsIn(file, needer string, conf *config.Config) ([]right, error) {
	raw, err := shipped.Roles.Open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the shipped role %s: %w", file, err)
	}
	defer func() { _ = raw.Close() }()
	var out []right
	for documents := utilyaml.NewYAMLOrJSONDecoder(raw, 4096); ; {
		var role rbacv1.ClusterRole // a Role has the same fields
		switch err := documents.Decode(&role); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("cannot read the shipped role %s: %w", file, err)
		}
		namespace := ""
		if role.Kind == "Role" {
			namespace = conf.LeaseLockNamespace
		}
		for i := range role.Rules {
			for _, asked := range questions(&role.Rules[i], namespace, conf.LeaseLockName) {
				out = append(out, right{needer: needer, asked: asked})
			}
		}
	}
}

// questions turns a rule into one question for each verb on each resource.
func questions(rule *rbacv1.PolicyRule, namespace, lease string) []authorizationv1.ResourceAttributes {
	names := rule.ResourceNames
	if slices.Contains(rule.Resources, "leases") && len(names) > 0 {
		names = []string{lease} // which --lease-lock-name can change
	} else if len(names) == 0 {
		names = []string{""}
	}
	var out []authorizationv1.ResourceAttributes
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			resource, subresource, _ := strings.Cut(resource, "/")
			for _, verb := range rule.Verbs {
				for _, name := range names {
					out = append(out, authorizationv1.ResourceAttributes{
						Group: group, Resource: resource, Subresource: subresource, Verb: verb, Namespace: namespace, Name: name,
					})
				}
			}
		}
	}
	return out
}

// ungranted returns those rights that this account does not have, in their order.
func ungranted(ctx context.Context, asker authorizationclient.SelfSubjectAccessReviewInterface, needed []right) ([]right, error) {
	allowed := make([]bool, len(needed))
	var asking errgroup.Group
	asking.SetLimit(concurrentReviews)
	for i := range needed {
		asking.Go(func() error {
			review := &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &needed[i].asked},
			}
			answer, err := asker.Create(ctx, review, metav1.CreateOptions{})
			if err == nil {
				allowed[i] = answer.Status.Allowed
			}
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		return nil, err
	}
	var missing []right
	for i := range needed {
		if !allowed[i] {
			missing = append(missing, needed[i])
		}
	}
	return missing, nil
}

// missingRights is a line for each resource, with the verbs that are missing on it, and one that says what to do.
func missingRights(host string, missing []right) error {
	type subject struct{ needer, on string }
	verbs := map[subject][]string{}
	var order []subject
	for _, one := range missing {
		about := subject{one.needer, resourceOf(&one.asked)}
		if verbs[about] == nil {
			order = append(order, about)
		}
		verbs[about] = append(verbs[about], one.asked.Verb)
	}
	var errs []error
	for _, about := range order {
		slices.Sort(verbs[about])
		errs = append(errs, fmt.Errorf("%s needs the right to %s %s, which this account does not have on the API server at %s",
			about.needer, strings.Join(slices.Compact(verbs[about]), ", "), about.on, host))
	}
	return errors.Join(append(errs, errors.New(applyRBAC+", or switch off what needs them"))...)
}

// resourceOf names a resource as kubectl does.
func resourceOf(asked *authorizationv1.ResourceAttributes) string {
	name := asked.Resource
	if asked.Group != "" {
		name += "." + asked.Group
	}
	if asked.Subresource != "" {
		name += "/" + asked.Subresource
	}
	if asked.Name != "" {
		name += fmt.Sprintf(" %q", asked.Name)
	}
	if asked.Namespace != "" {
		name += fmt.Sprintf(" in the namespace %q", asked.Namespace)
	}
	return name
}
