// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/kube"
)

// preflightTimeout bounds all questions together.
const preflightTimeout = 15 * time.Second

// What to do about what a preflight finds missing.
const (
	applyCRDs = `apply the CRDs first with "kubectl apply --server-side -k config/crd"`
	applyRBAC = `apply the roles first with "kubectl apply --server-side -k config/rbac"`
)

// preflight asks the API server everything that would otherwise show as an endless row of log lines: whether it answers,
// knows our kinds, and lets us list what the caches hold and keep the Lease.
func preflight(ctx context.Context, restConfig *rest.Config, conf *config.Config, list []controller, log logr.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()

	finder, err := discovery.NewDiscoveryClientForConfig(restConfig)
	if err != nil {
		return fmt.Errorf("cannot make a client for the API server at %s: %w", restConfig.Host, err)
	}
	if _, err := finder.ServerVersionWithContext(ctx); err != nil {
		return explain(restConfig, err)
	}
	scheme := kube.NewScheme()
	needed := make([]schema.GroupVersionKind, 0, len(list))
	for _, object := range kinds(list) {
		gvk, err := apiutil.GVKForObject(object, scheme)
		if err != nil {
			return fmt.Errorf("cannot tell the kind of %T: %w", object, err)
		}
		needed = append(needed, gvk)
	}
	leaving, err := awaitCRDs(ctx, restConfig, finder, needed, log)
	if err != nil {
		return err
	}
	if len(leaving) > 0 {
		// Continue: a controller has to clean up after their objects, whose finalizers would otherwise block the deletion.
		log.Info("CRDs are being deleted, and all of their objects with them; afterwards "+applyCRDs, "crds", leaving)
	}
	live, err := client.New(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return explain(restConfig, err)
	}
	if err := checkRights(ctx, restConfig, live, needed); err != nil {
		return err
	}
	return checkLease(ctx, restConfig, live, conf)
}

// The patience with CRDs that were applied a moment ago: the API server serves them some time after it has taken them.
const (
	establishTimeout = 5 * time.Second
	establishPoll    = 250 * time.Millisecond
)

// awaitCRDs checks the CRDs until all are served, or long enough.
func awaitCRDs(
	ctx context.Context, restConfig *rest.Config, finder discovery.ServerResourcesInterfaceWithContext,
	needed []schema.GroupVersionKind, log logr.Logger,
) (leaving []string, err error) {
	for waited := time.Duration(0); ; waited += establishPoll {
		leaving, err = checkCRDs(ctx, restConfig, finder, needed)
		unknown, missing := errors.AsType[unknownKindsError](err)
		if !missing || waited >= establishTimeout {
			return leaving, err
		}
		if waited == 0 {
			log.Info("Waiting for the CRDs", "missing", unknown.kinds)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(establishPoll):
		}
	}
}

// unknownKindsError says which kinds the API server does not serve.
type unknownKindsError struct {
	host  string
	kinds []string
}

func (e unknownKindsError) Error() string {
	return fmt.Sprintf("the API server at %s does not know %s: %s", e.host, strings.Join(e.kinds, ", "), applyCRDs)
}

// checkCRDs asks once per API group of ours whether its kinds are served, and returns those that are served for the last time: of a CRD
// that is being deleted no object can be created any more.
func checkCRDs(
	ctx context.Context, restConfig *rest.Config, finder discovery.ServerResourcesInterfaceWithContext,
	needed []schema.GroupVersionKind,
) (leaving []string, err error) {
	ours := []string{
		appsv1alpha1.GroupName, cloudnativev1alpha1.GroupName, clusterprovisionerv1alpha1.GroupName, nodesv1.GroupName,
	}
	served := map[string]*metav1.APIResourceList{}
	var missing []string
	for _, gvk := range needed {
		if !slices.Contains(ours, gvk.Group) {
			continue
		}
		groupVersion := gvk.GroupVersion().String()
		if _, asked := served[groupVersion]; !asked {
			resources, err := finder.ServerResourcesForGroupVersionWithContext(ctx, groupVersion)
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, explain(restConfig, err)
			}
			served[groupVersion] = resources
		}
		plural, _ := apimeta.UnsafeGuessKindToResource(gvk)
		switch verbs := verbsOf(served[groupVersion], gvk.Kind); {
		case verbs == nil:
			missing = append(missing, plural.GroupResource().String())
		case !slices.Contains(verbs, "create"):
			leaving = append(leaving, plural.GroupResource().String())
		}
	}
	slices.Sort(leaving)
	if len(missing) == 0 {
		if missing, err = unmapped(restConfig, needed); len(missing) == 0 {
			return leaving, err
		}
	}
	slices.Sort(missing)
	return nil, unknownKindsError{host: restConfig.Host, kinds: missing}
}

// unmapped returns the kinds that the manager's clients would not find yet.
func unmapped(restConfig *rest.Config, needed []schema.GroupVersionKind) ([]string, error) {
	kinds, err := kube.Unmapped(restConfig, needed...)
	if err != nil {
		return nil, explain(restConfig, err)
	}
	var names []string
	for _, gvk := range kinds {
		plural, _ := apimeta.UnsafeGuessKindToResource(gvk)
		names = append(names, plural.GroupResource().String())
	}
	return names, nil
}

// verbsOf returns the verbs for the objects of a kind, nil if the kind is not served. Subresources have the same kind, so the first
// resource that is not a subresource counts.
func verbsOf(list *metav1.APIResourceList, kind string) metav1.Verbs {
	if list == nil {
		return nil
	}
	for _, resource := range list.APIResources {
		if resource.Kind == kind && !strings.Contains(resource.Name, "/") {
			return resource.Verbs
		}
	}
	return nil
}

// checkRights lists one object of each kind: a cache that may not list never fills, and says so only in the log.
func checkRights(
	ctx context.Context, restConfig *rest.Config, live client.Reader, needed []schema.GroupVersionKind,
) error {
	for _, gvk := range needed {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := live.List(ctx, list, client.Limit(1)); err != nil {
			return explain(restConfig, err)
		}
	}
	return nil
}

// checkLease creates the Lease as a dry run: it must exist, or it must be possible to create it. Otherwise the election would never
// end.
func checkLease(ctx context.Context, restConfig *rest.Config, live client.Writer, conf *config.Config) error {
	if !conf.LeaderElect {
		return nil
	}
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: conf.LeaseLockNamespace, Name: conf.LeaseLockName},
	}
	err := live.Create(ctx, lease, client.DryRunAll)
	switch {
	case err == nil || apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.IsNotFound(err) && conf.LeaseLockNamespace == config.DefaultNamespace:
		return createNamespace(ctx, live, conf.LeaseLockNamespace)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the namespace %q of the Lease does not exist: create it, or name another with "+
			"--lease-lock-namespace", conf.LeaseLockNamespace)
	default:
		return explain(restConfig, err)
	}
}

// createNamespace creates the namespace that the manifests would create, for an administrator who starts the manager outside of the
// cluster. Without the right to, it says what to do.
func createNamespace(ctx context.Context, live client.Writer, name string) error {
	err := live.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the namespace %q of the Lease does not exist and cannot be created (%w): %s, or name another with "+
			"--lease-lock-namespace", name, err, applyRBAC)
	}
	return nil
}

// explain turns an answer of the API server, or its silence, into a sentence that says what to do.
func explain(restConfig *rest.Config, err error) error {
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server at %s does not accept the credentials: check the user in the kubeconfig",
			restConfig.Host)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the API server at %s refuses what Windlass needs: %w: %s", restConfig.Host, err, applyRBAC)
	}
	if urlError, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the API server at %s cannot be reached: %w: check that the cluster runs and that the kubeconfig "+
			"is for it", restConfig.Host, urlError.Err)
	}
	return fmt.Errorf("the API server at %s cannot be used: %w", restConfig.Host, err)
}
