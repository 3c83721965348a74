// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// statement says of an image what it consists of, as in-toto has it.
type statement struct {
	Type          string          `json:"_type"`
	PredicateType string          `json:"predicateType"`
	Subject       []subject       `json:"subject"`
	Predicate     json.RawMessage `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

const (
	inToto        = "application/vnd.in-toto+json"
	spdxPredicate = "https://spdx.dev/Document"
)

// attestation returns an entry of the index with the bill of materials of an image, in the form that BuildKit gives it. It is in the index and
// not a referrer, so that every copy of the image has it, whatever tool copies, and nothing takes it for an image of its own.
func (s *Spec) attestation(image v1.Image, p *Platform) (*mutate.IndexAddendum, error) {
	digest, err := image.Digest()
	if err != nil {
		return nil, fmt.Errorf("cannot hash an image: %w", err)
	}
	raw, err := json.Marshal(statement{
		Type: "https://in-toto.io/Statement/v0.1", PredicateType: spdxPredicate, Predicate: p.Materials,
		Subject: []subject{{
			Name:   fmt.Sprintf("pkg:oci/windlass@%s?arch=%s&os=%s", digest, p.Architecture, p.OS),
			Digest: map[string]string{digest.Algorithm: digest.Hex},
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot encode a bill of materials: %w", err)
	}
	out, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		mutate.Addendum{
			Layer: static.NewLayer(raw, inToto), MediaType: inToto, Annotations: map[string]string{"in-toto.io/predicate-type": spdxPredicate},
		})
	if err != nil {
		return nil, fmt.Errorf("cannot pack a bill of materials: %w", err)
	}
	config, err := out.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration of a bill of materials: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created, config.History = "unknown", "unknown", v1.Time{Time: s.Created}, nil
	if out, err = mutate.ConfigFile(out, config); err != nil {
		return nil, fmt.Errorf("cannot configure a bill of materials: %w", err)
	}
	return &mutate.IndexAddendum{Add: out, Descriptor: v1.Descriptor{
		Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"},
		Annotations: map[string]string{
			"vnd.docker.reference.type": "attestation-manifest", "vnd.docker.reference.digest": digest.String(),
		},
	}}, nil
}
