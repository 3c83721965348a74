// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		"as a token with its scheme":        "x-auth-token: Bearer " + secret,
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

// TestWhatIsASecretInAConfigurationIsOneInALog proves that the two places which know secrets by name know the same names.
func TestWhatIsASecretInAConfigurationIsOneInALog(t *testing.T) {
	t.Parallel()
	const secret = "c29tZXNlY3JldA"
	for _, key := range []string{
		"bearertoken", "bearerToken", "bearer_token", "bearer-token", "passphrase", "ssh_key_passphrase", "sshKeyPassphrase",
		"aadclientcertpassword", "aadClientCertPassword", "aadClientSecret", "client_secret", "clientSecret", "ssh_key", "sshKey", "ssh-key",
		"ssh_private_key", "private_key", "privateKey", "password", "PASSWORD", "passwd", "token", "secret", "secret_key", "secretKey",
		"access_key", "accessKey", "aws_secret_access_key", "api_key", "apiKey",
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			config := read(t, "cloud: [{"+key+": "+secret+", user: ops}]")
			if diff := cmp.Diff([]string{secret}, config.Secrets); diff != "" || strings.Contains(config.Applied(), secret) {
				t.Errorf("the secrets differ (-want +got):\n%s\nand the status shows:\n%s", diff, config.Applied())
			}
			for _, line := range []string{key + ": " + secret, key + "=" + secret, `{"` + key + `":"` + secret + `"}`, "--" + key + "='" + secret + "'"} {
				if got := Redact(line); strings.Contains(got, secret) || !strings.Contains(got, key) {
					t.Errorf("%q became %q, want its name without its secret", line, got)
				}
			}
		})
	}
}

// lines has a secret of every kind, and a PEM block that goes over several lines.
const lines = "INFO[0000] begin\npassword: hunter2hunter2\r\n\nkey: -----BEGIN KEY-----\nabcdefgh\n\nijklmnop\n-----END KEY----- and on\n" +
	"https://user:hunter2@127.0.0.1/ Bearer abcdefghij\nby heart: swordfish1\nmsg=\"token: \\\"abcdefgh\\\"\"\nno end of the line"

func TestARedactorRemembersWhatItNeedsBetweenWrites(t *testing.T) {
	t.Parallel()
	want := Redact(lines, "swordfish1")
	whole := slices.Collect(strings.Lines(lines))
	for size := range whole {
		redactor := NewRedactor("swordfish1")
		var got strings.Builder
		for chunk := range slices.Chunk(whole, size+1) {
			for _, line := range chunk {
				content := strings.TrimSuffix(line, "\n")
				got.WriteString(redactor.Line(content) + line[len(content):])
			}
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("in writes of %d lines it differs (-want +got):\n%s", size+1, diff)
		}
	}
	for _, secret := range []string{"hunter2", "abcdefgh", "ijklmnop", "swordfish1"} {
		if strings.Contains(want, secret) {
			t.Errorf("%q shows in:\n%s", secret, want)
		}
	}
}

func TestWhatIsRedactedStaysAsItIs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text    string
		secrets []string
	}{
		"a text with all kinds of secrets":       {lines, []string{"swordfish1"}},
		"a configuration":                        {article + "token: abcdefgh\n", nil},
		"a PEM block without an end":             {"-----BEGIN KEY-----\nabcdefgh\n", nil},
		"a PEM block in one line":                {"a -----BEGIN KEY-----abcdefgh-----END KEY----- b", nil},
		"a secret within another one":            {"one abcdefghijkl, two abcdefgh", []string{"abcdefgh", "abcdefghijkl"}},
		"a secret that is the word of the mark":  {"password: redacted", []string{"redacted"}},
		"a secret that is a part of the mark":    {"password: abcdefgh, dacted]", []string{"dacted]"}},
		"a secret of several lines":              {"one abcdefgh\ntwo ijklmnop\n", []string{"abcdefgh\nijklmnop"}},
		"a token with its scheme":                {"token: Bearer abcdefgh", nil},
		"a token in base64 within a URL's query": {"https://127.0.0.1/?token=abcdefgh&x=1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once := Redact(test.text, test.secrets...)
			if !strings.Contains(once, redacted) {
				t.Errorf("nothing was taken out of %q", once)
			}
			if diff := cmp.Diff(once, Redact(once, test.secrets...)); diff != "" {
				t.Errorf("the second time changes it (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestAPEMBlockWithoutAnEndIsBounded(t *testing.T) {
	t.Parallel()
	const size = 10 << 20
	line := strings.Repeat("QUJD", 16)
	redactor := NewRedactor("swordfish1")
	if got := redactor.Line("key: -----BEGIN KEY-----"); got != "key: "+redacted {
		t.Errorf("the line with the beginning became %q", got)
	}
	before := *redactor
	for range size / len(line) {
		if got := redactor.Line(line); got != "" {
			t.Fatalf("a line of the block shows as %q", got)
		}
	}
	if diff := cmp.Diff(before, *redactor, cmp.AllowUnexported(Redactor{})); diff != "" {
		t.Errorf("it remembers more than before (-before +after):\n%s", diff)
	}
	if got := Redact("key: -----BEGIN KEY-----" + strings.Repeat("A", size)); got != "key: "+redacted {
		t.Errorf("a block in one line leaves %d bytes", len(got))
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
		if meetsMark(secret) && !strings.Contains(strings.ReplaceAll(once, redacted, "\n"), secret) {
			return // what is left and the mark make it up by chance
		}
		if strings.Contains(once, secret) {
			t.Errorf("%q shows in %q", secret, once)
		}
	})
}

// meetsMark reports whether a secret can show across an edge of the mark or around it, though none was left: it begins as the mark ends,
// ends as the mark begins, or has one in it.
func meetsMark(secret string) bool {
	for i := 1; i < len(redacted); i++ {
		if strings.HasPrefix(secret, redacted[i:]) || strings.HasSuffix(secret, redacted[:i]) {
			return true
		}
	}
	return strings.Contains(secret, redacted)
}
