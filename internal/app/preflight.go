// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"fmt"
	"sync"
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

// learned is what a preflight found out.
type learned struct {
	// mapper finds the kinds of the controllers.
	mapper meta.RESTMapper
	// subject is the account of this process, as "kubectl create rolebinding" takes it.
	subject string
	// lacksNamespace is true where the namespace of the manifests is missing, which this account may create.
	lacksNamespace bool
}

// preflight asks the API server everything that would otherwise show as an endless row of log lines: whether it answers,
// knows our kinds, and grants what the controllers need. It waits for the kinds, and changes nothing.
func preflight(ctx context.Context, restConfig *rest.Config, conf *config.Config, list []controller, log logr.Logger) (learned, error) {
	finder, err := discovery.NewDiscoveryClientForConfig(restConfig)
	if err != nil {
		return learned{}, fmt.Errorf("cannot make a client for the API server at %s: %w", restConfig.Host, err)
	}
	asking, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	// By itself, because it opens the connection: questions that are asked at the same time then share that.
	if _, err := finder.ServerVersionWithContext(asking); err != nil {
		return learned{}, explain(restConfig, err)
	}
	scheme := kube.NewScheme()
	wanted := crds{restConfig: restConfig, finder: finder}
	if wanted.needed, err = neededKinds(list, scheme); err != nil {
		return learned{}, err
	}
	leaving, err := wanted.await(ctx, conf.HealthProbeBindAddress, log)
	if err != nil {
		return learned{}, err
	}
	if len(leaving) > 0 {
		// Continue: a controller has to clean up after their objects, whose finalizers would otherwise block the deletion.
		log.Info("CRDs are being deleted, and all of their objects with them; afterwards "+applyCRDs, "crds", leaving)
	}
	return checkAccount(ctx, restConfig, wanted.mapper, conf, list, log)
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

// checkAccount checks what this account may do and that it can keep the Lease, and returns what it found out besides the mapper that it is given. It asks
// all of that at the same time, because a takeover waits for the answers.
func checkAccount(
	ctx context.Context, restConfig *rest.Config, mapper meta.RESTMapper, conf *config.Config, list []controller, log logr.Logger,
) (found learned, err error) {
	ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	found.mapper = mapper
	if conf.OnlyGateway {
		found.subject, err = ownSubject(ctx, restConfig) // what its caches may not read, the HTTP API says itself
		return found, err
	}
	live, err := client.New(restConfig, client.Options{Scheme: kube.NewScheme(), Mapper: mapper})
	if err != nil {
		return found, explain(restConfig, err)
	}
	var unknown, denied, unleased error
	var asking sync.WaitGroup
	asking.Go(func() { found.subject, unknown = ownSubject(ctx, restConfig) })
	asking.Go(func() { denied = checkRights(ctx, restConfig, conf, list, log) })
	asking.Go(func() { unleased = tryLease(ctx, live, conf) })
	asking.Wait()
	if denied == nil && unleased != nil {
		// The rights may have been granted after it was tried.
		found.lacksNamespace, unleased = tryLeaseAgain(ctx, restConfig, live, conf)
	}
	return found, cmp.Or(denied, unleased, unknown)
}

// tryLease creates the Lease as a dry run: it must exist, or it must be possible to create it. Otherwise the election would never end.
func tryLease(ctx context.Context, live client.Writer, conf *config.Config) error {
	if !conf.LeaderElect {
		return nil
	}
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: conf.LeaseLockNamespace, Name: conf.LeaseLockName},
	}
	return client.IgnoreAlreadyExists(live.Create(ctx, lease, client.DryRunAll))
}

// tryLeaseAgain tries the Lease, and reports whether only the namespace of the manifests is missing, which this account may create.
func tryLeaseAgain(
	ctx context.Context, restConfig *rest.Config, live client.Writer, conf *config.Config,
) (lacksNamespace bool, err error) {
	err = tryLease(ctx, live, conf)
	switch {
	case err == nil:
		return false, nil
	case apierrors.IsNotFound(err) && conf.LeaseLockNamespace == config.DefaultNamespace:
		return true, createNamespace(ctx, live, conf.LeaseLockNamespace, client.DryRunAll)
	case apierrors.IsNotFound(err):
		return false, fmt.Errorf("the namespace %q of the Lease does not exist: create it, or name another with "+
			"--lease-lock-namespace", conf.LeaseLockNamespace)
	default:
		return false, explain(restConfig, err)
	}
}

// makeNamespace creates the namespace that the manifests would create, for an administrator who starts the manager outside of the cluster.
func makeNamespace(ctx context.Context, restConfig *rest.Config, found learned, conf *config.Config) error {
	if !found.lacksNamespace {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	live, err := client.New(restConfig, client.Options{Scheme: kube.NewScheme(), Mapper: found.mapper})
	if err != nil {
		return explain(restConfig, err)
	}
	return createNamespace(ctx, live, conf.LeaseLockNamespace)
}

// createNamespace creates a namespace. Without the right to, it says what to do.
func createNamespace(ctx context.Context, live client.Writer, name string, options ...client.CreateOption) error {
	err := live.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, options...)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the namespace %q of the Lease does not exist and cannot be created (%w): %s, or name another with "+
			"--lease-lock-namespace", name, err, applyRBAC)
	}
	return nil
}
