// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/util/validation"
)

// A name that is too long for a label value is cut, and made unique again by a part of its hash.
const (
	labelNameLength = 52
	labelHashLength = 10
)

// LabelValue returns the value of a label that names an object. Names may have 253 characters, and values of labels 63.
func LabelValue(name string) string {
	if len(name) <= validation.LabelValueMaxLength {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:labelNameLength] + "-" + hex.EncodeToString(sum[:])[:labelHashLength]
}
