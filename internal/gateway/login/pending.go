// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// maxReturn bounds the path that a person returns to, in bytes.
const maxReturn = 1024

// keep seals a login that has begun, for a cookie.
func (p *Provider) keep(begun pending) string {
	raw, err := json.Marshal(begun)
	if err != nil {
		panic(err) // strings and a time can be encoded
	}
	return base64.RawURLEncoding.EncodeToString(seal(p.key, raw))
}

// kept returns the login that the cookie was sealed for; false if it was not, or too long ago.
func (p *Provider) kept(cookie string) (begun pending, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return pending{}, false
	}
	raw, ok := unseal(p.key, sealed)
	if !ok || json.Unmarshal(raw, &begun) != nil || !p.options.Now().Before(begun.Expires) {
		return pending{}, false
	}
	return begun, true
}

// LocalPath returns the path as a browser is sent to it after a login; false for anything that could lead to another host. Browsers read a
// backslash as a slash, and skip control characters.
func LocalPath(text string) (string, bool) {
	if text == "" {
		return "/", true
	}
	if len(text) > maxReturn || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return "", false
	}
	for _, one := range text {
		if one < ' ' || one == 0x7f || one == '\\' {
			return "", false
		}
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.IsAbs() || parsed.Host != "" || parsed.User != nil || strings.HasPrefix(parsed.EscapedPath(), "//") {
		return "", false
	}
	return escaped(parsed.String()), true
}

// escaped returns the URL with characters that no header should have as their codes.
func escaped(text string) string {
	var out strings.Builder
	for _, one := range []byte(text) {
		if one <= ' ' || one >= 0x7f {
			fmt.Fprintf(&out, "%%%02X", one)
			continue
		}
		out.WriteByte(one)
	}
	return out.String()
}
