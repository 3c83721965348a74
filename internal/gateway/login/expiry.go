// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// ExpiryOf returns when the token says that it expires; false if it does not say. Only the API server verifies tokens: this can make a
// session shorter and never longer.
func ExpiryOf(token string) (time.Time, bool) {
	_, rest, _ := strings.Cut(token, ".")
	payload, _, signed := strings.Cut(rest, ".")
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if !signed || err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Expires *float64 `json:"exp"`
	}
	if json.Unmarshal(raw, &claims) != nil || claims.Expires == nil || math.Abs(*claims.Expires) > math.MaxInt32*100 {
		return time.Time{}, false
	}
	return time.Unix(int64(*claims.Expires), 0), true
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
