// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/kube"
)

// preflightTimeout bounds the questions to the API server, besides the wait for the CRDs.
const preflightTimeout = 15 * time.Second

// preflight asks the API server everything that would otherwise show as an endless row of log lines: whether it answers,
// knows our kinds, and grants what the controllers need. It waits for the kinds, and returns the mapper that finds them.
func preflight(ctx context.Context, restConfig *rest.Config, conf *config.Config, list []controller, log logr.Logger) (meta.RESTMapper, error) {
	finder, err := discovery.NewDiscoveryClientForConfig(restConfig)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for the API server at %s: %w", restConfig.Host, err)
	}
	asking, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	if _, err := finder.ServerVersionWithContext(asking); err != nil {
		return nil, explain(restConfig, err)
	}
	scheme := kube.NewScheme()
	wanted := crds{restConfig: restConfig, finder: finder}
	if wanted.needed, err = neededKinds(list, scheme); err != nil {
		return nil, err
	}
	leaving, err := wanted.await(ctx, conf.HealthProbeBindAddress, log)
	if err != nil {
		return nil, err
	}
	if len(leaving) > 0 {
		// Continue: a controller has to clean up after their objects, whose finalizers would otherwise block the deletion.
		log.Info("CRDs are being deleted, and all of their objects with them; afterwards "+applyCRDs, "crds", leaving)
	}
	return wanted.mapper, checkAccount(ctx, restConfig, wanted.mapper, conf, list, log)
}

// neededKinds returns the kinds that the controllers read.
func neededKinds(list []controller, scheme *runtime.Scheme) ([]schema.GroupVersionKind, error) {
	var out []schema.GroupVersionKind
	for _, object := range kinds(list) {
		gvk, err := apiutil.GVKForObject(object, scheme)
		if err != nil {
			return nil, fmt.Errorf("cannot tell the kind of %T: %w", object, err)
		}
		out = append(out, gvk)
	}
	return out, nil
}

// checkAccount checks what this account may do, and that it can keep the Lease.
func checkAccount(ctx context.Context, restConfig *rest.Config, mapper meta.RESTMapper, conf *config.Config, list []controller, log logr.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	if conf.OnlyGateway {
		return nil // what its caches may not read, the HTTP API says itself
	}
	if err := checkRights(ctx, restConfig, conf, list, log); err != nil {
		return err
	}
	return checkLease(ctx, restConfig, mapper, conf)
}

// checkLease creates the Lease as a dry run: it must exist, or it must be possible to create it. Otherwise the election would never
// end.
func checkLease(ctx context.Context, restConfig *rest.Config, mapper meta.RESTMapper, conf *config.Config) error {
	if !conf.LeaderElect {
		return nil
	}
	live, err := client.New(restConfig, client.Options{Scheme: kube.NewScheme(), Mapper: mapper})
	if err != nil {
		return explain(restConfig, err)
	}
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: conf.LeaseLockNamespace, Name: conf.LeaseLockName},
	}
	err = live.Create(ctx, lease, client.DryRunAll)
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
