// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
)

// TakeAccount requests a token of a shipped ServiceAccount. It returns a configuration with that token alone, and the path
// of a kubeconfig with the same content.
func (c *Cluster) TakeAccount(ctx context.Context, name string) (config *rest.Config, kubeconfig string, err error) {
	config = rest.AnonymousClientConfig(c.Config)
	if config.BearerToken, err = c.Token(ctx, Namespace, name); err != nil {
		return nil, "", err
	}
	kubeconfig, err = c.AddKubeconfig("account-"+name, config)
	return config, kubeconfig, err
}

// Token requests a token of a ServiceAccount.
func (c *Cluster) Token(ctx context.Context, namespace, name string) (string, error) {
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = namespace, name
	// Longer than any test or campaign: the usual hour is over before a campaign is.
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 60 * 60)}}
	if err := c.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("cannot request a token of ServiceAccount %q: %w", namespace+"/"+name, err)
	}
	return request.Status.Token, nil
}

// AddKubeconfig writes a kubeconfig of that name into the directory of the cluster and returns its path.
func (c *Cluster) AddKubeconfig(name string, config *rest.Config) (path string, err error) {
	path = c.kubeconfig(name)
	return path, WriteKubeconfig(path, config)
}

func (c *Cluster) kubeconfig(name string) string { return filepath.Join(c.Dir, name+".kubeconfig") }

// WriteKubeconfig writes a configuration as a kubeconfig.
func WriteKubeconfig(path string, config *rest.Config) error {
	const name = "rig"
	written := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server: config.Host, CertificateAuthorityData: config.CAData, CertificateAuthority: config.CAFile,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			Token: config.BearerToken, ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
	if err := clientcmd.WriteToFile(written, path); err != nil {
		return fmt.Errorf("cannot write kubeconfig %q: %w", path, err)
	}
	return nil
}
