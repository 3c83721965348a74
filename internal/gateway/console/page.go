// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// placeholder is where the page has the nonce of an answer.
const placeholder = "NONCE-OF-THE-ANSWER"

// policy is what the page may do. A script needs the nonce of the answer, or comes from one that has it; no string becomes
// markup or a script; nothing comes from or goes to another origin.
const policy = "default-src 'none'; " +
	"script-src 'nonce-" + placeholder + "' 'strict-dynamic'; " +
	"style-src 'self' 'nonce-" + placeholder + "'; " +
	"img-src 'self'; " +
	"connect-src 'self'; " +
	"base-uri 'none'; " +
	"form-action 'none'; " +
	"frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; " +
	"trusted-types 'none'"

// servePage answers with the page. It is never kept, because it names files that only this version has.
func (c *Console) servePage(w http.ResponseWriter) {
	nonce := rand.Text()
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", strings.ReplaceAll(policy, placeholder, nonce))
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	_, _ = w.Write([]byte(strings.ReplaceAll(c.page, placeholder, nonce)))
}
