// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
)

const (
	// recheckSecret is how often a machine that waits for a Secret looks for it. A watch would be woken up at once, and needs the
	// right to list every Secret of the cluster, which is too much for so little.
	recheckSecret = 15 * time.Second
	// defaultSecretKey is the key of user data in a Secret.
	defaultSecretKey = "userData"
	// dockerHub is how container engines write the registry of images that name none.
	dockerHub = "https://index.docker.io/v1/"
)

// secretError says why a Secret cannot be used. It never holds what is in the Secret.
type secretError struct{ reason, text string }

// Error implements error.
func (p *secretError) Error() string { return p.text }

// readSecrets reads the Secrets that the spec names, past the cache: the manager may get a Secret whose name it knows, and watch
// none.
func (r *Reconciler) readSecrets(ctx context.Context, vm *cloudnativev1alpha1.VirtualMachine) (secrets, error) {
	var held secrets
	if ref := vm.Spec.Image.PullSecret; ref != nil && ref.Name != "" {
		raw, err := r.readSecret(ctx, vm.Namespace, ref.Name, corev1.DockerConfigJsonKey)
		if err != nil {
			return held, err
		}
		if held.registry, err = registryAuth(raw, cmp.Or(vm.Spec.Image.Name, cloudnativev1alpha1.DefaultImage)); err != nil {
			return held, &secretError{
				reason: cloudnativev1alpha1.ReasonSecretInvalid, text: fmt.Sprintf("cannot use Secret %q: %v", ref.Name, err),
			}
		}
	}
	if init := vm.Spec.CloudInit; init != nil && init.UserDataSecretRef != nil {
		ref := init.UserDataSecretRef
		raw, err := r.readSecret(ctx, vm.Namespace, ref.Name, cmp.Or(ref.Key, defaultSecretKey))
		if err != nil {
			return held, err
		}
		held.userData = string(raw)
	}
	return held, nil
}

func (r *Reconciler) readSecret(ctx context.Context, namespace, name, key string) ([]byte, error) {
	var secret corev1.Secret
	err := r.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &secret)
	if apierrors.IsNotFound(err) {
		return nil, &secretError{
			reason: cloudnativev1alpha1.ReasonSecretNotFound, text: fmt.Sprintf("Secret %q to be created", name),
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read Secret %q: %w", name, err)
	}
	raw, ok := secret.Data[key]
	if !ok {
		return nil, &secretError{
			reason: cloudnativev1alpha1.ReasonSecretNotFound, text: fmt.Sprintf("Secret %q to have the key %q", name, key),
		}
	}
	return raw, nil
}

// registryAuth finds the credentials for the image's registry in a docker configuration, nil if there are none. Its errors say
// nothing of what they have read.
func registryAuth(raw []byte, image string) (*machine.RegistryAuth, error) {
	var config struct {
		Auths map[string]struct {
			Username string `json:"username"`
			Password string `json:"password"`
			Auth     string `json:"auth"`
		} `json:"auths"`
	}
	if json.Unmarshal(raw, &config) != nil {
		return nil, fmt.Errorf("%s is no docker configuration", corev1.DockerConfigJsonKey)
	}
	registry := registryOf(image)
	for server, entry := range config.Auths {
		if serverName(server) != serverName(registry) {
			continue
		}
		username, password := entry.Username, entry.Password
		if entry.Auth != "" {
			decoded, err := base64.StdEncoding.DecodeString(entry.Auth)
			user, pass, ok := strings.Cut(string(decoded), ":")
			if err != nil || !ok {
				return nil, fmt.Errorf("the entry for %q has an auth that cannot be read", server)
			}
			username, password = user, pass
		}
		return &machine.RegistryAuth{Username: username, Password: password, ServerAddress: registry}, nil
	}
	return nil, nil
}

// registryOf returns the registry of an image: what comes before the first slash, if it looks like a host.
func registryOf(image string) string {
	first, _, ok := strings.Cut(image, "/")
	if ok && (strings.ContainsAny(first, ".:") || first == "localhost") && first != "docker.io" && first != "index.docker.io" {
		return first
	}
	return dockerHub
}

// serverName is a registry without what different tools write around it.
func serverName(server string) string {
	server = strings.TrimPrefix(strings.TrimPrefix(server, "https://"), "http://")
	server, _, _ = strings.Cut(server, "/")
	if server == "docker.io" || server == "registry-1.docker.io" {
		return "index.docker.io"
	}
	return server
}
