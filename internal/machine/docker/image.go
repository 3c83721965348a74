// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Prepare implements machine.Driver. The engine selects the platform of the image, which is its own.
func (d *driver) Prepare(ctx context.Context, spec machine.Spec) error {
	if _, err := optionsOf(spec, d.policy); err != nil {
		return fmt.Errorf("cannot prepare a container for machine %q: %w", spec.UID, err)
	}
	image := spec.Image
	what := fmt.Sprintf("fetch image %.255q", image.Name)
	name, err := reference.ParseNormalizedNamed(image.Name)
	if err != nil {
		return fmt.Errorf("cannot %s: %w: %w", what, machine.ErrInvalid, err)
	}
	if image.PullPolicy != machine.PullAlways {
		here, err := d.here(ctx, image.Name)
		switch {
		case err != nil:
			return explain(ctx, what, err)
		case here:
			return nil
		case image.PullPolicy == machine.PullNever:
			return fmt.Errorf("cannot %s: %w: it is not on the host, and pullPolicy is Never", what, machine.ErrImageNotFound)
		}
	}
	if err := allowRegistry(name, d.policy); err != nil {
		return fmt.Errorf("cannot %s: %w", what, err)
	}
	if err := d.pull(ctx, image, reference.Domain(name), what); err != nil {
		return err
	}
	here, err := d.here(ctx, image.Name)
	if err == nil && !here {
		return fmt.Errorf("cannot %s: %w: the engine does not have it after the pull", what, machine.ErrImagePull)
	}
	return explain(ctx, what, err)
}

// here reports whether the engine has the image.
func (d *driver) here(ctx context.Context, name string) (bool, error) {
	_, err := d.api.ImageInspect(ctx, name)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// pull fetches the image and returns when it is complete.
func (d *driver) pull(ctx context.Context, image machine.Image, registryHost, what string) error {
	options := client.ImagePullOptions{}
	if auth := image.Registry; auth != nil {
		encoded, err := authconfig.Encode(registry.AuthConfig{
			Username: auth.Username, Password: auth.Password, ServerAddress: auth.ServerAddress,
		})
		if err != nil {
			return fmt.Errorf("cannot %s: cannot encode the credentials: %w", what, machine.ErrInvalid)
		}
		options.RegistryAuth = encoded
	}
	progress, err := d.api.ImagePull(ctx, image.Name, options)
	if err == nil {
		// The engine aborts a pull if its progress is not read, and reports later failures only there.
		err = progress.Wait(ctx)
	}
	if err == nil || ctx.Err() != nil {
		return explain(ctx, what, err)
	}
	return fmt.Errorf("cannot %s: %w", what, refusalOf(err, registryHost))
}

// refusalOf returns why a pull failed, in our own words. The error of the engine repeats what the server has answered, which may not be
// a registry at all: its text must not reach those who only chose the address. The engine logs it.
func refusalOf(err error, registryHost string) error {
	text := strings.ToLower(err.Error())
	says := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
	}
	switch {
	case unreachable(err):
		return fmt.Errorf("%w: the engine went away", machine.ErrUnreachable)
	case errdefs.IsNotFound(err), says("manifest unknown"):
		return fmt.Errorf("%w: registry %.255q does not have it, or not for these credentials", machine.ErrImageNotFound, registryHost)
	case errdefs.IsInvalidArgument(err):
		return fmt.Errorf("%w: the engine does not accept the name", machine.ErrInvalid)
	case errdefs.IsUnauthorized(err), errdefs.IsPermissionDenied(err), says("unauthorized", "denied", "forbidden", "no basic auth"):
		return fmt.Errorf("%w: registry %.255q denies access: check the credentials in pullSecret", machine.ErrImagePull, registryHost)
	default:
		return fmt.Errorf("%w: registry %.255q cannot be reached or does not answer like a registry: the log of the engine has its answer",
			machine.ErrImagePull, registryHost)
	}
}
