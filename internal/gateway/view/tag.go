// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"crypto/sha256"
	"encoding/base64"
)

// Tag names the content of an answer: answers with the same tag are equal byte for byte, for every caller.
type Tag [sha256.Size]byte

// TagOf returns the tag of a content.
func TagOf(content []byte) Tag { return sha256.Sum256(content) }

// In returns the value of the header ETag for the content in a content coding, which is empty for the content as it is.
func (t Tag) In(coding string) string {
	const length = 18 // bytes, which nobody finds a second content for
	out := base64.RawURLEncoding.EncodeToString(t[:length])
	if coding != "" {
		out += "-" + coding
	}
	return `"` + out + `"`
}
