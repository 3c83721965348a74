// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Target returns how to reach the cluster that a kubeconfig describes. The kubeconfig comes from a tool or a Secret, so it may hold
// credentials and nothing else: one that would run a program, or read a file of this machine, is refused.
func Target(kubeconfig []byte) (*rest.Config, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, errors.New("cannot read kubeconfig: it is none") // the cause may quote it
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
		return nil, errors.New("cannot use kubeconfig: its current context is not complete")
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
