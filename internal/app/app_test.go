// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/config"
)

func TestExecute(t *testing.T) {
	t.Parallel()
	nothing := filepath.Join(t.TempDir(), "nothing")
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		code int
		out  string
		err  string
	}{
		"without a command it explains itself": {
			out: "Available Commands:",
		},
		"the version": {
			args: []string{"version"}, out: "windlass v0.0.0-unset (go1",
		},
		"the version as a flag": {
			args: []string{"--version"}, out: "windlass version v0.0.0-unset\n",
		},
		"the version of the manager": {
			args: []string{"manager", "--version"}, out: "windlass version v0.0.0-unset\n",
		},
		"an unknown command": {
			args: []string{"controllers"}, code: 2,
			err: "windlass: unknown command \"controllers\" for \"windlass\"\nSee 'windlass --help'.\n",
		},
		"an unknown flag": {
			args: []string{"manager", "--thread=1"}, code: 2,
			err: "windlass: unknown flag: --thread: did you mean --threads?\nSee 'windlass manager --help'.\n",
		},
		"a number in words": {
			args: []string{"manager", "--threads=many"}, code: 2,
			err: "windlass: --threads is \"many\": it must be a number\nSee 'windlass manager --help'.\n",
		},
		"an unknown level": {
			args: []string{"manager", "-v=high"}, code: 2,
			err: "windlass: --v is \"high\": it must be a number\nSee 'windlass manager --help'.\n",
		},
		"a switch that is neither on nor off": {
			args: []string{"manager", "--leader-elect=maybe"}, code: 2,
			err: "windlass: --leader-elect is \"maybe\": it must be true or false\nSee 'windlass manager --help'.\n",
		},
		"a duration without a unit": {
			args: []string{"manager", "--orphan-grace=10"}, code: 2,
			err: "windlass: --orphan-grace is \"10\": it must be a duration, as in 30s or 10m\nSee 'windlass manager --help'.\n",
		},
		"a path without a name": {
			args: []string{"manager", "--provisioner-path=/rke"}, code: 2,
			err: "windlass: --provisioner-path is \"/rke\": it must be a list of name=value\nSee 'windlass manager --help'.\n",
		},
		"a flag that is like no other": {
			args: []string{"manager", "--frobnicate=1"}, code: 2,
			err: "windlass: unknown flag: --frobnicate\nSee 'windlass manager --help'.\n",
		},
		"a command with a typing error": {
			args: []string{"manger"}, code: 2,
			err: "windlass: unknown command \"manger\" for \"windlass\": did you mean manager?\nSee 'windlass --help'.\n",
		},
		"values of a flag": {
			args: []string{"__complete", "manager", "--vm-driver", "l"}, out: "docker\nlibvirt\nsimulated\n:4\n",
			err: "Completion ended with directive: ShellCompDirectiveNoFileComp\n",
		},
		"values of another flag": {
			args: []string{"__complete", "manager", "--tool-isolation", ""}, out: "required\npreferred\nnone\n:4\n",
			err: "Completion ended with directive: ShellCompDirectiveNoFileComp\n",
		},
		"the address of the ui": {
			args: []string{"ui", "--address=:8090"}, code: 2,
			err: "windlass: --address is \":8090\", but a session grants the rights of the kubeconfig: give a loopback address\nSee 'windlass ui --help'.\n",
		},
		"the machines of no installation": {
			args: []string{"machines", "delete"}, code: 2,
			err: "windlass: --installation is required: it is the UID of the namespace kube-system of the cluster\nSee 'windlass machines delete --help'.\n",
		},
		"help for a command that does not exist": {
			args: []string{"help", "manger"}, code: 2,
			err: "windlass: unknown command \"manger\" for \"windlass\": did you mean manager?\nSee 'windlass help --help'.\n",
		},
		"an argument too many": {
			args: []string{"manager", "now"}, code: 2,
			err: "windlass: unknown command \"now\" for \"windlass manager\"\nSee 'windlass manager --help'.\n",
		},
		"several wrong flags are told at once": {
			args: []string{"manager", "--controllers=foo", "--threads=0"}, code: 2,
			err: "windlass: --controllers names the unknown controller \"foo\": known controllers are nodepool, podset, podbuggertool, virtualmachine, cluster, kubeconfig, and '*' means all\n" +
				"windlass: --threads is 0: it must be from 1 to 256\nSee 'windlass manager --help'.\n",
		},
		"a kubeconfig that is not there": {
			args: []string{"manager", "--kubeconfig", nothing}, code: 1,
			err: "windlass: cannot use kubeconfig \"" + nothing + "\": no such file or directory: give another file with --kubeconfig\n",
		},
		"a file that is no kubeconfig": {
			args: []string{"manager", "--kubeconfig", broken}, code: 1,
			err: "windlass: cannot use kubeconfig \"" + broken + "\": ",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, err bytes.Buffer
			command := NewCommand()
			command.SetOut(&out)
			command.SetErr(&err)
			if code := Execute(t.Context(), command, test.args); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if !strings.Contains(out.String(), test.out) {
				t.Errorf("standard output is %q, want it to contain %q", out.String(), test.out)
			}
			if !strings.HasPrefix(err.String(), test.err) || test.err == "" && err.Len() > 0 {
				t.Errorf("standard error is %q, want %q", err.String(), test.err)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	pods := schema.GroupResource{Resource: "pods"}
	refused := &url.Error{Op: "Get", URL: "https://api/version", Err: syscall.ECONNREFUSED}
	tests := map[string]struct {
		err  error
		want string
	}{
		"no answer": {
			refused, "the API server at https://api cannot be reached: connection refused: check that the cluster runs and that " +
				"the kubeconfig is for it",
		},
		"no rights": {
			apierrors.NewForbidden(pods, "", errors.New("no")),
			`the API server at https://api refuses what Windlass needs: pods is forbidden: no: apply the roles first with ` +
				`"kubectl apply --server-side -k config/rbac"`,
		},
		"no credentials": {
			apierrors.NewUnauthorized("who"),
			"the API server at https://api does not accept the credentials: check the user in the kubeconfig",
		},
		"something else": {
			errors.New("odd"), "the API server at https://api cannot be used: odd",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, explain(&rest.Config{Host: "https://api"}, test.err).Error()); diff != "" {
				t.Errorf("sentence (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()
	conf := &config.Config{LeaseLockNamespace: "system", LeaseLockName: "windlass"}
	lost := ended(errors.New(lostLeadership), conf)
	if !strings.HasPrefix(lost.Error(), "cannot renew the Lease system/windlass in time") {
		t.Errorf("lost leadership is told as %q", lost)
	}
	odd := errors.New("odd")
	if err := ended(odd, conf); !errors.Is(err, odd) {
		t.Errorf("error %q does not wrap its cause", err)
	}
}

func TestTakenAddress(t *testing.T) {
	t.Parallel()
	conf := config.Default()
	conf.MetricsBindAddress, conf.HealthProbeBindAddress = "127.0.0.1:0", "0"
	if err := checkAddresses(t.Context(), &conf); err != nil {
		t.Errorf("free addresses are refused: %v", err)
	}
	conf.MetricsBindAddress = "192.0.2.1:1" // reserved for documentation: no machine has it
	want := `cannot listen on 192.0.2.1:1: cannot assign requested address: choose another address with ` +
		`--metrics-bind-address, or turn it off with "0"`
	if err := checkAddresses(t.Context(), &conf); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestAnAddressOfTwoFlagsIsFoundLate gives several servers one address: the second could not listen, and said so once everything else had started.
func TestAnAddressOfTwoFlagsIsFoundLate(t *testing.T) {
	t.Parallel()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	conf := config.Default()
	conf.MetricsBindAddress, conf.HealthProbeBindAddress, conf.PprofBindAddress = address, "0", "0"
	_, port, _ := strings.Cut(address, ":")
	for _, other := range []string{address, "localhost:" + port, ":" + port} {
		conf.Gateway.BindAddress = other
		want := "cannot listen on " + other + ": address already in use by --metrics-bind-address: choose another address with " +
			conf.Gateway.AddressFlag() + `, or turn it off with "0"`
		if err := checkAddresses(t.Context(), &conf); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	conf.Gateway.BindAddress = "0"
	if err := checkAddresses(t.Context(), &conf); err != nil {
		t.Errorf("the address is not free again: %v", err)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	known := controllerNames()
	if unique := slices.Compact(slices.Sorted(slices.Values(known))); len(unique) != len(known) {
		t.Errorf("controllers %v are not unique", known)
	}
	for _, i := range indexes() {
		for _, name := range i.usedBy {
			if !slices.Contains(known, name) {
				t.Errorf("an index is used by %q, which is no controller", name)
			}
		}
	}
	only := enabled(func(name string) bool { return name == "podset" })
	if diff := cmp.Diff([]string{"podset"}, names(only)); diff != "" {
		t.Errorf("enabled controllers (-want +got):\n%s", diff)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ready := &readiness{}
	if ready.Check(nil) == nil {
		t.Error("ready before it was started")
	}
	cancel()
	if err := ready.Start(ctx); err != nil {
		t.Error(err)
	}
	if ready.Check(nil) == nil {
		t.Error("ready after it was told to end")
	}
	if ready.NeedLeaderElection() {
		t.Error("an instance without leadership never gets ready")
	}
}
