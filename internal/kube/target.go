// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/windlass-operator/windlass/internal/boundedyaml"
)

// maxKubeconfig bounds a kubeconfig, in bytes: it has to fit into a Secret.
const maxKubeconfig = 1 << 20

// maxAnswer bounds what the cluster of a kubeconfig answers to a request, in bytes and after decompression. 250 nodes have some 4 MB.
const maxAnswer = 32 << 20

// Target returns how to reach the cluster that a kubeconfig describes. The kubeconfig comes from a tool or a Secret, so it must contain
// nothing but credentials: one that runs a program, or names a file of this machine, is refused. Who answers there is not trusted either:
// a client reads answers as a whole, so a longer one than maxAnswer fails.
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
	target.Wrap(boundAnswers)
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

// boundAnswers makes what comes back through a transport end with an error after maxAnswer.
func boundAnswers(next http.RoundTripper) http.RoundTripper {
	return transport(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil {
			response.Body = &answer{response.Body, maxAnswer}
		}
		return response, err
	})
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// errLongAnswer ends an answer that is longer than maxAnswer.
var errLongAnswer = fmt.Errorf("cannot read the answer of the cluster: it is longer than the limit of %d MiB", maxAnswer>>20)

// answer is the body of an answer.
type answer struct {
	io.ReadCloser

	// left is how many bytes can still come.
	left int64
}

// Read implements io.Reader. It reads one byte more than can come, because only then is it known that the answer goes on.
func (a *answer) Read(into []byte) (int, error) {
	n, err := a.ReadCloser.Read(into[:min(int64(len(into)), a.left+1)])
	if int64(n) > a.left {
		n, a.left = int(a.left), 0
		return n, errLongAnswer
	}
	a.left -= int64(n)
	return n, err
}
