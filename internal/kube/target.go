// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/windlass-operator/windlass/internal/boundedyaml"
)

// maxKubeconfig bounds a kubeconfig, in bytes: it has to fit into a Secret.
const maxKubeconfig = 1 << 20

// Target returns how to reach the cluster that a kubeconfig describes. The kubeconfig comes from a tool or a Secret, so it must contain
// nothing but credentials: one that runs a program, or names a file of this machine, is refused.
func Target(kubeconfig []byte) (*rest.Config, error) {
	if err := boundedyaml.Check(kubeconfig, boundedyaml.Limits{Bytes: maxKubeconfig, Nodes: 100_000, Depth: 100}); err != nil {
		return nil, fmt.Errorf("cannot parse kubeconfig: %w", err)
	}
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, errors.New("cannot parse kubeconfig: not a valid kubeconfig file") // the cause may quote a credential
	}
	for name, user := range config.AuthInfos {
		if reason := refusedUser(user); reason != "" {
			return nil, fmt.Errorf("cannot use user %q of the kubeconfig: %s", name, reason)
		}
	}
	for name, cluster := range config.Clusters {
		if cluster.CertificateAuthority != "" {
			return nil, fmt.Errorf("cannot use cluster %q of the kubeconfig: it names a file with the certificate authority", name)
		}
	}
	target, err := clientcmd.NewDefaultClientConfig(*config, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, errors.New("cannot use kubeconfig: its current context is incomplete")
	}
	return target, nil
}

func refusedUser(user *clientcmdapi.AuthInfo) string {
	switch {
	case user.Exec != nil:
		return "it runs a program"
	case user.AuthProvider != nil:
		return "it names an authentication provider"
	case user.ClientCertificate != "" || user.ClientKey != "" || user.TokenFile != "":
		return "it names files with credentials"
	}
	return ""
}
