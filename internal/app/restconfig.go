// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// userAgent is the prefix of the user agent of every request, so that the API server's audit log and metrics show the
// requests of Windlass.
const userAgent = "windlass"

// restConfig finds out how to reach the cluster: the given kubeconfig, else those that $KUBECONFIG names, else the rights
// of the Pod, else ~/.kube/config.
func restConfig(kubeconfig string) (*rest.Config, error) {
	loaded, err := loadConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	loaded.UserAgent = userAgent + "/" + version
	// A limit on this side would only delay what the API server's own priority and fairness orders better.
	loaded.QPS = -1
	return loaded, nil
}

func loadConfig(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if kubeconfig != "" {
		rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	} else if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		inCluster, err := rest.InClusterConfig()
		if err == nil {
			return inCluster, nil
		}
		if !errors.Is(err, rest.ErrNotInCluster) {
			return nil, fmt.Errorf("cannot use the rights of this Pod: %w", err)
		}
	}
	loaded, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	switch {
	case err == nil:
		return loaded, nil
	case kubeconfig != "":
		return nil, fmt.Errorf("cannot use kubeconfig %q: %w: give another file with --kubeconfig", kubeconfig, cause(err))
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("there is no cluster to work on: give a kubeconfig with --kubeconfig, set KUBECONFIG, " +
			"or run in a Pod")
	default:
		return nil, fmt.Errorf("cannot use the kubeconfig that KUBECONFIG or ~/.kube/config names: %w: give another file "+
			"with --kubeconfig", cause(err))
	}
}

// cause returns what the operating system said, where it said something: what it is about is named already.
func cause(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

// contextNamespaces returns the namespace that the kubeconfig's context names, if there is one.
func contextNamespaces(kubeconfig string) []string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if kubeconfig != "" {
		rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	}
	namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).Namespace()
	if err != nil || namespace == "" {
		return nil
	}
	return []string{namespace}
}
