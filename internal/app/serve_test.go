// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"
)

// served are fixed addresses of an HTTP API.
type served struct{}

// URL implements addresses.
func (served) URL() string { return "http://127.0.0.1:1/?session=secret" }

// BrowserURL implements addresses.
func (served) BrowserURL() string { return "http://127.0.0.1:1/?code=once" }

// TestSecretIsNotInArgumentsOfTheBrowser holds that other users of a machine, who can see the arguments of programs, get nothing
// that is valid twice.
func TestSecretIsNotInArgumentsOfTheBrowser(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	opened := ""
	if err := show(&out, served{}, func(url string) { opened = url }); err != nil {
		t.Fatal(err)
	}
	if opened != (served{}).BrowserURL() || out.String() != (served{}).URL()+"\n" {
		t.Errorf("it opens %q and prints %q", opened, out.String())
	}
	if err := show(&out, served{}, nil); err != nil {
		t.Fatal(err)
	}
}
