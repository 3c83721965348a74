// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"strings"
	"testing"
)

func TestSecretsDoNotShow(t *testing.T) {
	t.Parallel()
	const secret = "c29tZXNlY3JldA"
	for name, line := range map[string]string{
		"in YAML":                           "password: " + secret,
		"in JSON":                           `{"token":"` + secret + `"}`,
		"as an argument":                    "--secret=" + secret,
		"after a quote within a value":      `password: "a\"` + secret + `"`,
		"after a quote as YAML has it":      `password: 'a''` + secret + `'`,
		"without the end of its quote":      `password: "a ` + secret,
		"quoted once more by the logger":    `msg="password: \"` + secret + `\""`,
		"in the header of a request":        "Authorization: Bearer " + secret,
		"in the header, as name and secret": "Authorization: Basic " + secret,
		"in a URL":                          "https://user:" + secret + "@127.0.0.1/",
		"as a PEM block in base64":          "data: LS0tLS1CRUdJTiBLRVk" + secret,
		"as a PEM block in one line":        "-----BEGIN KEY-----" + secret + "-----END KEY-----",
		"in a PEM block that does not end":  "-----BEGIN KEY-----\n" + secret + "\n" + secret,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Redact(line); strings.Contains(got, secret) {
				t.Errorf("%q still shows it: %q", line, got)
			}
		})
	}
}

func TestPlainWordsStay(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"INFO[0000] Building Kubernetes cluster", "https://127.0.0.1:6443/version", "ssh_key_path: /keys/one",
	} {
		if got := Redact(line); got != line {
			t.Errorf("%q became %q", line, got)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("password: ", "hunter2hunter2", "\n")
	f.Add("-----BEGIN KEY-----", "abcdefgh", "-----END KEY-----")
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		secret = strings.TrimSpace(secret)
		if len(secret) < minSecret || strings.ContainsAny(secret, "\n") || strings.Contains(redacted, secret) {
			return
		}
		once := Redact(before+secret+after, secret)
		if strings.Contains(once, secret) && !strings.Contains(strings.ReplaceAll(once, redacted, "\n"), secret) {
			return // what is left and the mark make it up by chance
		}
		if strings.Contains(once, secret) {
			t.Errorf("%q shows in %q", secret, once)
		}
	})
}
