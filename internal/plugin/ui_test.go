// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// servedUI remembers what it was to serve.
type servedUI struct {
	to Context
	// wrong is what is wrong with its flags.
	wrong error
}

func (*servedUI) Bind(flags *pflag.FlagSet) { flags.IntP("v", "v", 0, "") }

func (s *servedUI) Check() error { return s.wrong }

func (s *servedUI) Serve(_ context.Context, to Context, _, _ io.Writer) error {
	s.to = to
	return nil
}

func TestUIHonoursTheFlagsOfKubectl(t *testing.T) {
	t.Parallel()
	config := kubeconfigFor(t, &rest.Config{Host: "https://127.0.0.1:1", BearerToken: "a"}, "team")
	served, errs := &servedUI{}, &strings.Builder{}
	of := Options{Streams: Streams{In: strings.NewReader(""), Out: errs, Err: errs}, Now: time.Now, Getenv: func(string) string { return "" }, UI: served}
	if code := Execute(t.Context(), of, []string{"ui", "--kubeconfig", config, "--context", "test", "--as", "jane", "--as-group", "staff"}); code != exitFine {
		t.Fatal(errs)
	}
	to := served.to.Config
	if to.Host != "https://127.0.0.1:1" || to.Impersonate.UserName != "jane" || to.Impersonate.Groups[0] != "staff" ||
		served.to.Namespace != "team" || served.to.Name != "test" {
		t.Errorf("%+v in %q of %q", to.Impersonate, served.to.Namespace, served.to.Name)
	}
	if code := Execute(t.Context(), of, []string{"ui", "--kubeconfig", config, "--context", "other"}); code != exitPrevented {
		t.Errorf("a context that does not exist: %d", code)
	}
	served.wrong = errors.New("-v is 99: it must be from 0 to 10")
	if code := Execute(t.Context(), of, []string{"ui", "--kubeconfig", config, "-v", "99"}); code != exitMisused || !strings.Contains(errs.String(), "windlass: -v is 99") {
		t.Errorf("a flag with a wrong value: %d %s", code, errs)
	}
}
