// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// TestFlagsOfKubectl: the plugin has every flag that all commands of kubectl have, but for those of which it has nothing to do.
func TestFlagsOfKubectl(t *testing.T) {
	t.Parallel()
	without := map[string]string{
		"cache-dir":            "it caches nothing",
		"kuberc":               "kubectl reads its preferences before it looks for plugins",
		"match-server-version": "its version is not that of Kubernetes",
		"profile":              "it is for those who develop kubectl", "profile-output": "it is for those who develop kubectl",
		"version": "there is a command of that name",
		"v":       "a command has -v for more of its own output", "vmodule": "nothing is logged", "log-flush-frequency": "nothing is logged",
		"username": "the API server has no basic authentication any more", "password": "the API server has no basic authentication any more",
	}
	out, err := exec.CommandContext(t.Context(), kubectl(t), "options").Output()
	must(t, err)
	found := regexp.MustCompile(`(?m)^\s+(?:-(\w), )?--([a-z-]+)=`).FindAllStringSubmatch(string(out), -1)
	if len(found) < 20 {
		t.Fatalf("kubectl has %d flags:\n%s", len(found), out)
	}
	flags := (&plugin{}).newRoot().PersistentFlags()
	for _, each := range found {
		have := flags.Lookup(each[2])
		switch _, left := without[each[2]]; {
		case have == nil && !left:
			t.Errorf("the plugin does not have --%s", each[2])
		case have != nil && left:
			t.Errorf("the plugin has --%s", each[2])
		case have != nil && have.Shorthand != each[1]:
			t.Errorf("the short form of --%s is %q, want %q", each[2], have.Shorthand, each[1])
		}
	}
}

// TestWhoTheCallerActsAs: the flags of kubectl reach the API server.
func TestWhoTheCallerActsAs(t *testing.T) {
	t.Parallel()
	p := &plugin{}
	root := p.newRoot()
	config := kubeconfigFor(t, &rest.Config{Host: "https://127.0.0.1:1"}, "")
	must(t, root.PersistentFlags().Parse([]string{"--kubeconfig", config, "--as", "jane", "--as-uid", "7", "--as-user-extra", "a=b=c", "--as-user-extra", "a=d"}))
	reached, err := p.cluster()
	must(t, err)
	as := reached.config.Impersonate
	if got := strings.Join(as.Extra["a"], " "); as.UserName != "jane" || as.UID != "7" || got != "b=c d" {
		t.Errorf("%+v", as)
	}
	if got := run(t, options{}, "--kubeconfig", config, "--as-user-extra", "nothing", "status"); got.code != exitMisused || !strings.Contains(got.err, "must be key=value") {
		t.Errorf("%+v", got)
	}
}

// TestWarningsAsErrors: with the flag a warning of the API server is an error.
func TestWarningsAsErrors(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(hostile{warning: "use something else"})
	t.Cleanup(server.Close)
	args := []string{"--kubeconfig", kubeconfigFor(t, &rest.Config{Host: server.URL}, ""), "status", "nodes"}
	if got := run(t, options{}, args...); got.code != exitFine || got.err != "Warning: use something else\n" {
		t.Errorf("%+v", got)
	}
	if got := run(t, options{}, append(args, "--warnings-as-errors")...); got.code != exitPrevented || !strings.HasSuffix(got.err, errWarned.Error()+"\n") || got.out == "" {
		t.Errorf("%+v", got)
	}
}

// TestAnEmptyFlagCountsAsOneThatWasLeftOut: a script whose variable was empty approved a plan that nobody had seen, and paused for ever.
func TestAnEmptyFlagCountsAsOneThatWasLeftOut(t *testing.T) {
	t.Parallel()
	arguments := map[string]string{
		"approve": "cluster/a --yes", "kubeconfig": "a --merge", "logs": "cluster/a", "pause": "vm/a", "preview": "", "report": "", "resize": "vm/a --cpu 4", "status": "", "why": "node/a",
	}
	nowhere := kubeconfigFor(t, &rest.Config{Host: "https://127.0.0.1:1"}, "")
	for _, command := range (&plugin{}).newRoot().Commands() {
		command.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
			if flag.Value.Type() != "string" {
				return
			}
			name := command.Name()
			args, known := arguments[name]
			got := run(t, options{}, append(append([]string{"--kubeconfig", nowhere, name}, strings.Fields(args)...), "--"+flag.Name, "")...)
			want := "windlass: --" + flag.Name + " is empty: give it a value, or leave it out\nSee 'kubectl windlass " + name + " --help'.\n"
			if !known || got != (result{code: exitMisused, err: want}) {
				t.Errorf("%s --%s: %+v", name, flag.Name, got)
			}
		})
	}
	if got := run(t, options{}, "version", "-n", "", "-o", ""); got.code != exitFine {
		t.Errorf("kubectl takes these: %+v", got)
	}
}
