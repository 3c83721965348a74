// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/kube"
)

// How often the API server is asked for CRDs that it does not serve: soon at first, because they are usually being applied, and not often
// later, because somebody may have forgotten them.
const (
	crdPollFirst = 250 * time.Millisecond
	crdPollLast  = 5 * time.Second
)

// crds looks for the kinds of Windlass.
type crds struct {
	restConfig *rest.Config
	finder     discovery.ServerResourcesInterfaceWithContext
	needed     []schema.GroupVersionKind
	// mapper is for clients. It finds all kinds once await has returned.
	mapper apimeta.RESTMapper
}

// await waits until all kinds are served, which it says once, and returns those that are being deleted. While it waits, the process is alive
// and not ready: a kubelet that restarted it would gain nothing. Where the context ends, it returns which kinds are still missing.
func (c *crds) await(ctx context.Context, probes string, log logr.Logger) (leaving []string, err error) {
	stop := func() {}
	defer func() { stop() }()
	for period, waiting := crdPollFirst, false; ; period = min(2*period, crdPollLast) {
		asking, cancel := context.WithTimeout(ctx, preflightTimeout)
		leaving, err = c.check(asking)
		cancel()
		unknown, missing := errors.AsType[unknownKindsError](err)
		if !missing {
			return leaving, err
		}
		if !waiting {
			waiting = true
			log.Info("Waiting for the CRDs: "+applyCRDs, "missing", unknown.kinds)
			if stop, err = serveWaiting(ctx, probes); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, unknown
		case <-time.After(period):
		}
	}
}

// serveWaiting answers the probes of a process that is alive and waits. The manager takes the address over afterwards.
func serveWaiting(ctx context.Context, address string) (stop func(), err error) {
	none := func() {}
	if address == "0" {
		return none, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return none, fmt.Errorf("cannot listen on %s: %w", address, cause(err))
	}
	answers := http.NewServeMux()
	answers.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	answers.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "waiting for the CRDs", http.StatusServiceUnavailable)
	})
	server := &http.Server{Handler: answers, ReadHeaderTimeout: preflightTimeout}
	go func() { _ = server.Serve(listener) }()
	return func() { _ = server.Close() }, nil
}

// unknownKindsError says which kinds the API server does not serve.
type unknownKindsError struct {
	host  string
	kinds []string
}

func (e unknownKindsError) Error() string {
	return fmt.Sprintf("the API server at %s does not know %s: %s", e.host, strings.Join(e.kinds, ", "), applyCRDs)
}

// check asks for each API group of ours whether its kinds are served, and returns those that are served for the last time: of a CRD that is
// being deleted no object can be created any more.
func (c *crds) check(ctx context.Context) (leaving []string, err error) {
	ours := []string{
		appsv1alpha1.GroupName, cloudnativev1alpha1.GroupName, clusterprovisionerv1alpha1.GroupName, nodesv1.GroupName,
	}
	needed := slices.DeleteFunc(slices.Clone(c.needed), func(gvk schema.GroupVersionKind) bool { return !slices.Contains(ours, gvk.Group) })
	served, unmapped, err := c.ask(ctx, needed)
	if err != nil {
		return nil, explain(c.restConfig, err)
	}
	var missing []string
	for _, gvk := range needed {
		switch verbs := verbsOf(served[gvk.GroupVersion()], gvk.Kind); {
		case verbs == nil:
			missing = append(missing, resourceName(gvk))
		case !slices.Contains(verbs, "create"):
			leaving = append(leaving, resourceName(gvk))
		}
	}
	if len(missing) == 0 {
		missing = unmapped
	}
	if len(missing) == 0 {
		slices.Sort(leaving)
		return leaving, nil
	}
	slices.Sort(missing)
	return nil, unknownKindsError{host: c.restConfig.Host, kinds: missing}
}

// ask asks at the same time what the API server serves of the groups of these kinds, and which kinds clients would not find.
func (c *crds) ask(ctx context.Context, kinds []schema.GroupVersionKind) (
	served map[schema.GroupVersion]*metav1.APIResourceList, unmapped []string, err error,
) {
	var asking errgroup.Group
	asking.Go(func() (err error) {
		served, err = c.served(ctx, kinds)
		return err
	})
	asking.Go(func() (err error) {
		unmapped, err = c.unmapped()
		return err
	})
	return served, unmapped, asking.Wait()
}

// served returns what the API server serves of the groups of these kinds. It is asked for all of them at the same time, and a group that it does
// not know is missing.
func (c *crds) served(ctx context.Context, kinds []schema.GroupVersionKind) (map[schema.GroupVersion]*metav1.APIResourceList, error) {
	lists := map[schema.GroupVersion]*metav1.APIResourceList{}
	var adding sync.Mutex
	asking, ctx := errgroup.WithContext(ctx)
	for _, version := range groupVersions(kinds) {
		asking.Go(func() error {
			list, err := c.finder.ServerResourcesForGroupVersionWithContext(ctx, version.String())
			adding.Lock()
			defer adding.Unlock()
			lists[version] = list
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
	return lists, asking.Wait()
}

// groupVersions returns the versions of groups that the kinds are of, each once.
func groupVersions(kinds []schema.GroupVersionKind) []schema.GroupVersion {
	var out []schema.GroupVersion
	for _, gvk := range kinds {
		if version := gvk.GroupVersion(); !slices.Contains(out, version) {
			out = append(out, version)
		}
	}
	return out
}

// unmapped returns the kinds that the manager's clients would not find yet.
func (c *crds) unmapped() ([]string, error) {
	mapper, kinds, err := kube.NewMapper(c.restConfig, c.needed...)
	if err != nil {
		return nil, err
	}
	c.mapper = mapper
	var names []string
	for _, gvk := range kinds {
		names = append(names, resourceName(gvk))
	}
	return names, nil
}

// resourceName names the resource of a kind as kubectl does.
func resourceName(gvk schema.GroupVersionKind) string {
	plural, _ := apimeta.UnsafeGuessKindToResource(gvk)
	return plural.GroupResource().String()
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
