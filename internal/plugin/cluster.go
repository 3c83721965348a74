// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/kube"
)

// access is how to reach the cluster: what the flags of kubectl say, else what the kubeconfig says.
type access struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
}

// flagKubeconfig names the kubeconfig.
const flagKubeconfig = "kubeconfig"

// bind adds the flags of kubectl under their names.
func (a *access) bind(flags *pflag.FlagSet) {
	flags.StringVar(&a.kubeconfig, flagKubeconfig, "", "`file` with clusters, users and contexts")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.AuthOverrideFlags.Username.LongName, names.AuthOverrideFlags.Password.LongName = "", "" // as in kubectl
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	for text, flag := range map[string]*clientcmd.FlagInfo{
		"`name` of the context of the kubeconfig":                          &names.CurrentContext,
		"`name` of the cluster of the kubeconfig":                          &names.ContextOverrideFlags.ClusterName,
		"`name` of the user of the kubeconfig":                             &names.ContextOverrideFlags.AuthInfoName,
		"`name` of the namespace":                                          &names.ContextOverrideFlags.Namespace,
		"`URL` of the API server":                                          &names.ClusterOverrideFlags.APIServer,
		"`name` that the certificate of the API server must have":          &names.ClusterOverrideFlags.TLSServerName,
		"`file` with the certificate of the authority":                     &names.ClusterOverrideFlags.CertificateAuthority,
		"do not check the certificate of the API server: insecure":         &names.ClusterOverrideFlags.InsecureSkipTLSVerify,
		"`URL` of a proxy":                                                 &names.ClusterOverrideFlags.ProxyURL,
		"ask for answers without compression":                              &names.ClusterOverrideFlags.DisableCompression,
		"`file` with a client certificate":                                 &names.AuthOverrideFlags.ClientCertificate,
		"`file` with the key of the client certificate":                    &names.AuthOverrideFlags.ClientKey,
		"bearer `token`":                                                   &names.AuthOverrideFlags.Token,
		"`name` of a user to act as":                                       &names.AuthOverrideFlags.Impersonate,
		"`UID` of a user to act as":                                        &names.AuthOverrideFlags.ImpersonateUID,
		"`name` of a group to act as; can be repeated":                     &names.AuthOverrideFlags.ImpersonateGroups,
		"how long one request may take, as in 30s; `duration` 0: no limit": &names.Timeout,
	} {
		flag.Description = text
	}
	clientcmd.BindOverrideFlags(&a.overrides, flags, names)
}

func (a *access) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &a.overrides)
}

// contexts returns the contexts of the kubeconfig.
func (a *access) contexts() []string {
	raw, err := a.loader().RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

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
	config.WarningHandler = rest.NewWarningWriter(p.Streams.Err, rest.WarningWriterOptions{Deduplicate: true})
	through, err := client.NewWithWatch(config, client.Options{Scheme: kube.NewScheme(), Mapper: mapper()})
	if err != nil {
		return nil, fmt.Errorf("cannot use the kubeconfig: %w", err)
	}
	return &cluster{WithWatch: through, config: config, namespace: namespace, chosen: p.access.overrides.Context.Namespace != ""}, nil
}

// unusable says why there is no cluster.
func (a *access) unusable(err error) error {
	switch {
	case clientcmd.IsEmptyConfig(err):
		return errors.New("there is no cluster to talk to: give a kubeconfig with --kubeconfig, or set KUBECONFIG")
	case a.kubeconfig != "":
		return fmt.Errorf("cannot use kubeconfig %q: %w", a.kubeconfig, err)
	default:
		return fmt.Errorf("cannot use the kubeconfig: %w", err)
	}
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
