// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import "strings"

// ellipsis ends a text that was cut.
const ellipsis = "..."

// Clip returns text as valid UTF-8 of at most limit bytes. It cuts between characters and shows the cut by three dots, for which the
// limit has to leave room.
func Clip(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit-len(ellipsis), 0)], "") + ellipsis
}
