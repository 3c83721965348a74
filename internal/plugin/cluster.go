// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/kube"
)

// cluster is a cluster that is reached with the rights of the caller.
type cluster struct {
	client.WithWatch

	config *rest.Config
	// namespace is that of -n, else that of the context.
	namespace string
	// chosen is true if -n was given.
	chosen bool
	// sights are what was looked at, for those who watch; nil where nobody does.
	sights *[]*sight
}

// cluster returns how to reach the cluster. It sends no request.
func (p *plugin) cluster() (*cluster, error) {
	if err := p.access.actAs(); err != nil {
		return nil, err
	}
	loader := p.access.loader()
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, p.access.unusable(err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, p.access.unusable(err)
	}
	config.UserAgent = "kubectl-windlass/" + p.Version
	config.QPS = -1 // the API server's own priority and fairness orders better
	config.Wrap(tellCuts)
	warnings := rest.NewWarningWriter(p.Streams.Err, rest.WarningWriterOptions{Deduplicate: true})
	config.WarningHandler, p.access.warned = warnings, warnings.WarningCount
	through, err := client.NewWithWatch(config, client.Options{Scheme: kube.NewScheme(), Mapper: mapper()})
	if err != nil {
		return nil, fmt.Errorf("cannot use the kubeconfig: %w", err)
	}
	return &cluster{WithWatch: through, config: config, namespace: namespace, chosen: p.access.overrides.Context.Namespace != ""}, nil
}

// within returns the namespace of an object of the kind.
func (c *cluster) within(k *kind) string {
	if k.namespaced {
		return c.namespace
	}
	return ""
}

// read reads the object that an argument names.
func (c *cluster) read(ctx context.Context, of target) (client.Object, error) {
	object := of.object()
	if err := c.Get(ctx, client.ObjectKey{Namespace: c.within(of.kind), Name: of.name}, object); err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(of.gvk) // clients drop it
	return object, nil
}

// namespaces returns the namespaces for the shell, none if the caller may not list them.
func (p *plugin) namespaces(ctx context.Context) []string {
	reached, err := p.cluster()
	if err != nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, offerWithin)
	defer stop()
	list := &corev1.NamespaceList{}
	if reached.List(ctx, list, client.Limit(maxOffered)) != nil {
		return nil
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// maxOffered is how many names a shell is offered, and offerWithin how long a person who has pressed Tab waits for a cluster.
const (
	maxOffered  = 500
	offerWithin = 2 * time.Second
)

// completeObjects returns a function for the shell that offers kinds, and after a slash the objects of the kind.
func (p *plugin) completeObjects(among []*kind) func(ctx context.Context, typed string) []string {
	return func(ctx context.Context, typed string) []string {
		word, _, slash := strings.Cut(typed, "/")
		if !slash {
			out := make([]string, 0, len(among))
			for _, k := range among {
				out = append(out, k.singular()+"/")
			}
			return out
		}
		found, err := kindOf(word, among)
		if err != nil {
			return nil
		}
		return p.objectNames(ctx, found, word+"/")
	}
}

// objectNames returns the names of objects after a beginning.
func (p *plugin) objectNames(ctx context.Context, k *kind, before string) []string {
	reached, err := p.cluster()
	if err != nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, offerWithin)
	defer stop()
	list := metadataList(k)
	if reached.List(ctx, list, client.InNamespace(reached.within(k)), client.Limit(maxOffered)) != nil {
		return nil
	}
	out := make([]string, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, before+list.Items[i].Name)
	}
	return out
}
