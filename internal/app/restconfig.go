// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// userAgent is the prefix of the user agent of every request, so that the API server's audit log and metrics show the
// requests of Windlass.
const userAgent = "windlass"

// restConfig finds out how to reach the cluster: the given kubeconfig, else those that $KUBECONFIG names, else the rights
// of the Pod, else ~/.kube/config, else that of an administrator on a control plane. A master replaces the server in it.
func restConfig(kubeconfig, master string) (*rest.Config, error) {
	loaded, err := loadConfig(kubeconfig, master)
	if err != nil {
		return nil, err
	}
	loaded.UserAgent = userAgent + "/" + version
	// The list that a watch begins with would be packed by the API server and unpacked here: at 5,000 nodes, a start would take a third longer. The
	// controller manager and the scheduler of Kubernetes do without, too.
	loaded.DisableCompression = true
	// A limit on this side would only delay what the API server's own priority and fairness orders better.
	loaded.QPS = -1
	return loaded, nil
}

func loadConfig(kubeconfig, master string) (*rest.Config, error) {
	if kubeconfig == "" && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		inCluster, err := rest.InClusterConfig()
		switch {
		case err == nil:
			inCluster.Host = cmp.Or(master, inCluster.Host)
			return inCluster, nil
		case !errors.Is(err, rest.ErrNotInCluster):
			return nil, fmt.Errorf("cannot use the rights of this Pod: %w", err)
		}
	}
	overrides := &clientcmd.ConfigOverrides{ClusterInfo: clientcmdapi.Cluster{Server: master}}
	loaded, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loadingRules(kubeconfig), overrides).ClientConfig()
	switch {
	case err == nil:
		return loaded, nil
	case kubeconfig != "":
		return nil, fmt.Errorf("cannot use kubeconfig %q: %w: give another file with --kubeconfig", kubeconfig, cause(err))
	case len(missingKubeconfigs()) > 0:
		return nil, fmt.Errorf("KUBECONFIG names %s, which does not exist: correct it, or give a file with --kubeconfig",
			strings.Join(missingKubeconfigs(), ", "))
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("there is no cluster to work on: give a kubeconfig with --kubeconfig, set KUBECONFIG, " +
			"or run in a Pod")
	default:
		return nil, fmt.Errorf("cannot use the kubeconfig that KUBECONFIG or ~/.kube/config names: %w: give another file "+
			"with --kubeconfig", cause(err))
	}
}

// adminKubeconfig is what kubeadm leaves for the administrator of a control plane.
const adminKubeconfig = "/etc/kubernetes/admin.conf"

// loadingRules returns where to look for kubeconfigs.
func loadingRules(kubeconfig string) *clientcmd.ClientConfigLoadingRules {
	if kubeconfig != "" {
		return &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		rules.Precedence = append(rules.Precedence, adminKubeconfig)
	}
	return rules
}

// missingKubeconfigs returns the files that KUBECONFIG names, if none of them exists: client-go skips those that do not.
func missingKubeconfigs() []string {
	var missing []string
	for _, path := range filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)) {
		if _, err := os.Stat(path); err == nil { //nolint:gosec // because the user who starts the program chooses the files that it reads
			return nil
		}
		missing = append(missing, strconv.Quote(path))
	}
	return missing
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
	namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loadingRules(kubeconfig), nil).Namespace()
	if err != nil || namespace == "" {
		return nil
	}
	return []string{namespace}
}

// contextName returns the name of the current context of the kubeconfig, or an empty string if it has none.
func contextName(kubeconfig string) string {
	raw, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loadingRules(kubeconfig), nil).RawConfig()
	if err != nil {
		return ""
	}
	return raw.CurrentContext
}
