// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
)

// access is how to reach the cluster: what the flags of kubectl say, else what the kubeconfig says.
type access struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
	// extra are what --as-user-extra says: key=value.
	extra []string
	// strict is true if a warning of the API server is to be an error, and warned counts warnings.
	strict bool
	warned func() int
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
	flags.StringArrayVar(&a.extra, "as-user-extra", nil, "`key=value` that the user to act as has in addition; can be repeated")
	flags.BoolVar(&a.strict, "warnings-as-errors", false, "exit with 1 if the API server warns of something")
}

// errWarned ends a command with --warnings-as-errors.
var errWarned = errors.New("the API server has warned of something, which --warnings-as-errors takes for an error")

// check returns an error for warnings, if they are to be one.
func (a *access) check() error {
	if a.strict && a.warned != nil && a.warned() > 0 {
		return errWarned
	}
	return nil
}

// actAs enters what the user to act as has in addition.
func (a *access) actAs() error {
	extra := map[string][]string{}
	for _, each := range a.extra {
		key, value, ok := strings.Cut(each, "=")
		if !ok || key == "" {
			return misused("--as-user-extra must be key=value, and is %q", each)
		}
		extra[key] = append(extra[key], value)
	}
	if len(extra) > 0 {
		a.overrides.AuthInfo.ImpersonateUserExtra = extra
	}
	return nil
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

// context returns the name of the context in use, or an empty string if there is none.
func (a *access) context() string {
	if a.overrides.CurrentContext != "" {
		return a.overrides.CurrentContext
	}
	raw, err := a.loader().RawConfig()
	if err != nil {
		return ""
	}
	return raw.CurrentContext
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
