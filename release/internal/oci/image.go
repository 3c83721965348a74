// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package oci writes images without an engine: of static programs and the few files that they need, for several platforms, with the same bytes
// for the same programs.
package oci

import (
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/windlass-operator/windlass/release/internal/pack"
)

// Main is where the program of an image is.
const Main = "/usr/local/bin/windlass"

// Spec is an image for all its platforms.
type Spec struct {
	// Labels are labels of the image, and annotations of its manifests.
	Labels map[string]string
	// Created is the time of everything in the image: that of the commit.
	Created time.Time
	// Licence is the path of the licence.
	Licence string
	// Platforms are what the image runs on.
	Platforms []Platform
}

// Platform is what an image has on one platform.
type Platform struct {
	OS, Architecture string
	// Program is the path of the program, which becomes the entry point.
	Program string
	// Beside are further programs, by their path in the image.
	Beside map[string]string
	// Materials is the bill of materials, as SPDX in JSON.
	Materials []byte
}

func (p *Platform) platform() *v1.Platform {
	return &v1.Platform{OS: p.OS, Architecture: p.Architecture}
}

// Image returns the image for a platform: a layer with what every image has, one with the program, and one with what is beside it.
func (s *Spec) Image(p *Platform) (v1.Image, error) {
	files, err := base(s.Licence)
	if err != nil {
		return nil, err
	}
	own, err := program(Main, p.Program)
	if err != nil {
		return nil, err
	}
	contents := [][]pack.Entry{files, {own}}
	var beside []pack.Entry
	for _, to := range slices.Sorted(maps.Keys(p.Beside)) {
		one, err := program(to, p.Beside[to])
		if err != nil {
			return nil, err
		}
		beside = append(beside, one)
	}
	if beside != nil {
		contents = append(contents, beside)
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, content := range contents {
		packed, err := newLayer(s.Created, content)
		if err != nil {
			return nil, err
		}
		image, err = mutate.Append(image, mutate.Addendum{
			Layer: packed, History: v1.History{Created: v1.Time{Time: s.Created}, CreatedBy: "windlass release"},
		})
		if err != nil {
			return nil, fmt.Errorf("cannot add a layer: %w", err)
		}
	}
	return s.configured(image, p)
}

// configured adds how a container of the image is started.
func (s *Spec) configured(image v1.Image, p *Platform) (v1.Image, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration of an image: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.OS, p.Architecture, v1.Time{Time: s.Created}
	config.Config = v1.Config{
		User: fmt.Sprintf("%d:%[1]d", Nobody), Entrypoint: []string{Main}, WorkingDir: "/", Labels: s.Labels,
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return nil, fmt.Errorf("cannot configure an image: %w", err)
	}
	return annotate(image, s.Labels)
}

// annotate adds annotations to a manifest.
func annotate(image v1.Image, with map[string]string) (v1.Image, error) {
	out, ok := mutate.Annotations(image, with).(v1.Image)
	if !ok {
		return nil, fmt.Errorf("cannot annotate %T", image)
	}
	return out, nil
}
