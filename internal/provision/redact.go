// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"regexp"
	"slices"
	"strings"
)

// redacted replaces a secret.
const redacted = "[redacted]"

// The forms that secrets have in the logs and configurations of tools.
var (
	pemBegin = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*-----`)
	pemEnd   = regexp.MustCompile(`-----END [A-Z0-9 ]*-----`)
	// secretPair is a key whose name says that its value is secret, in YAML, JSON, or as an argument. A quoted value may hold quotes in
	// the manner of its language, be quoted once more by the logger, or lack its end. One without quotes may be a scheme and a token.
	secretPair = regexp.MustCompile(`(?i)(["']?[\w.-]*(?:password|passwd|passphrase|secret|token|(?:api|access|private|secret|ssh)[_-]?key|client-key-data)` +
		`\\*["']?\s*[:=]\s*)(\\+"[^"]*"?|"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|(?:(?:bearer|basic)\s+)?[^\s,}"']+)`)
	bearer = regexp.MustCompile(`(?i)(bearer\s+|authorization:\s*basic\s+)[A-Za-z0-9._~+/-]{8,}=*`)
	// inURL is the password in a URL, as proxies and registries have it.
	inURL = regexp.MustCompile(`(://[^/\s:@"']+:)[^/\s@"']+@`)
	// packedPEM is a PEM block in base64, as kubeconfigs and Secrets have it.
	packedPEM = regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/]+=*`)
	jwt       = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)
)

// Redactor removes private keys, passwords and tokens from a text, line by line. It remembers whether it is inside a PEM block. The zero
// value finds the secrets that have a known form.
type Redactor struct {
	known []string
	inPEM bool
}

// minSecret is how long a value must be to be removed wherever it occurs: shorter ones occur by chance.
const minSecret = 6

// NewRedactor returns a Redactor that also removes the given secrets wherever they occur; each line of a secret counts by itself.
func NewRedactor(secrets ...string) *Redactor {
	r := &Redactor{}
	for _, secret := range secrets {
		for line := range strings.Lines(secret) {
			// A secret that is part of the replacement would be found in every replacement, and removing it hides nothing.
			if line = strings.TrimSpace(line); len(line) >= minSecret && !strings.Contains(redacted, line) {
				r.known = append(r.known, line)
			}
		}
	}
	// The longest first: a secret that contains another one must not be left in part.
	slices.SortFunc(r.known, func(a, b string) int { return len(b) - len(a) })
	return r
}

// Line redacts one line. Lines must be given in order.
func (r *Redactor) Line(line string) string {
	if r.inPEM {
		end := pemEnd.FindStringIndex(line)
		if end == nil {
			return ""
		}
		r.inPEM = false
		return r.Line(line[end[1]:])
	}
	if begin := pemBegin.FindStringIndex(line); begin != nil {
		r.inPEM = true
		return r.plain(line[:begin[0]]) + redacted + r.Line(line[begin[1]:])
	}
	return r.plain(line)
}

// plain redacts a text without PEM blocks.
func (r *Redactor) plain(text string) string {
	for _, secret := range r.known {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	text = secretPair.ReplaceAllString(text, "${1}"+redacted)
	text = bearer.ReplaceAllString(text, "${1}"+redacted)
	text = inURL.ReplaceAllString(text, "${1}"+redacted+"@")
	text = packedPEM.ReplaceAllString(text, redacted)
	return jwt.ReplaceAllString(text, redacted)
}

// Redact removes the secrets from a text.
func Redact(text string, secrets ...string) string {
	r := NewRedactor(secrets...)
	var out strings.Builder
	for line := range strings.Lines(text) {
		content := strings.TrimRight(line, "\n")
		out.WriteString(r.Line(content))
		out.WriteString(line[len(content):])
	}
	return out.String()
}
