// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import "testing"

func TestPreferredCoding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accept string
		want   coding
	}{
		"nothing is said":                         {"", ""},
		"curl --compressed":                       {"deflate, gzip, br, zstd", codingZstd},
		"a client of Go":                          {"gzip", codingGzip},
		"a coding that is refused":                {"zstd;q=0, gzip", codingGzip},
		"all that is known is refused":            {"gzip;q=0, zstd;q=0", ""},
		"weights decide":                          {"zstd;q=0.1, gzip; q=0.9", codingGzip},
		"a caller who would rather not":           {"gzip;q=0.5, identity", ""},
		"other spellings":                         {" GZIP ,x", codingGzip},
		"a weight that is not a number":           {"gzip;q=much", ""},
		"anything is accepted, which names none":  {"*", ""},
		"a coding that the server does not offer": {"br", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := preferredCoding(c.accept); got != c.want {
				t.Errorf("preferredCoding(%q) = %q, want %q", c.accept, got, c.want)
			}
		})
	}
}
