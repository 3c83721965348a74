// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/status"
)

// Prepare implements machine.Driver. The engine selects the platform of the image, which is its own.
func (d *driver) Prepare(ctx context.Context, spec machine.Spec) error {
	if _, err := optionsOf(spec, d.policy); err != nil {
		return fmt.Errorf("cannot prepare a container for machine %q: %w", spec.UID, err)
	}
	image := spec.Image
	what := fmt.Sprintf("fetch image %.255q", image.Name)
	if _, err := reference.ParseNormalizedNamed(image.Name); err != nil {
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
	if err := d.pull(ctx, image, what); err != nil {
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
func (d *driver) pull(ctx context.Context, image machine.Image, what string) error {
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
	// A server that is not a registry may echo what it was sent, so the text is redacted, and the error itself is not wrapped.
	return fmt.Errorf("cannot %s: %w: %s", what, pullKind(err), redact(err.Error(), image.Registry))
}

// pullKind returns the kind of a pull that failed.
func pullKind(err error) error {
	switch {
	case unreachable(err):
		return machine.ErrUnreachable
	case errdefs.IsNotFound(err), strings.Contains(err.Error(), "manifest unknown"):
		return machine.ErrImageNotFound
	case errdefs.IsInvalidArgument(err):
		return machine.ErrInvalid
	default:
		return machine.ErrImagePull
	}
}

// maxText bounds a text of an engine, a registry or an SSH client in an error.
const maxText = 1024

// redact removes the credentials from a text, in every form in which they are sent, and shortens it.
func redact(text string, auth *machine.RegistryAuth) string {
	if auth != nil && auth.Password != "" {
		const hidden = "[hidden]"
		pair := []byte(auth.Username + ":" + auth.Password)
		text = strings.NewReplacer(
			base64.StdEncoding.EncodeToString(pair), hidden,
			base64.URLEncoding.EncodeToString(pair), hidden,
			auth.Password, hidden,
		).Replace(text)
	}
	return status.Clip(text, maxText)
}
