// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
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
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		want result
	}{
		"the version": {
			args: []string{"version", "-o", "json"}, want: result{out: "\"version\": \"v1.2.3\""},
		},
		"a command that does not exist": {
			args: []string{"vesion"},
			want: result{code: exitMisused, err: `windlass: unknown command "vesion" for "kubectl windlass": did you mean version?` + "\n" +
				"See 'kubectl windlass --help'.\n"},
		},
		"a flag that does not exist": {
			args: []string{"version", "--contex=a"},
			want: result{code: exitMisused, err: "windlass: unknown flag: --contex: did you mean --context?\nSee 'kubectl windlass version --help'.\n"},
		},
		"an output that does not exist": {
			args: []string{"version", "-o", "xml"}, want: result{code: exitMisused, err: "it must be json, yaml, name or wide"},
		},
		"an argument too many": {
			args: []string{"version", "now"}, want: result{code: exitMisused, err: "See 'kubectl windlass version --help'."},
		},
		"help for a command that does not exist": {
			args: []string{"help", "vesion"},
			want: result{code: exitMisused, err: `windlass: unknown command "vesion" for "kubectl windlass": did you mean version?` + "\n" +
				"See 'kubectl windlass help --help'.\n"},
		},
		"help for a command": {
			args: []string{"help", "power"}, want: result{out: "power on|off|restart|suspend|resume vm/NAME"},
		},
		"the flags of kubectl": {
			args: []string{"options"}, want: result{out: "-n, --namespace name"},
		},
		"the completion of a shell": {
			args: []string{"completion", "bash"}, want: result{out: "__start_kubectl-windlass"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, options{}, test.args...)
			if got.code != test.want.code {
				t.Errorf("exit code %d, want %d", got.code, test.want.code)
			}
			has(t, got.out, test.want.out)
			has(t, got.err, test.want.err)
		})
	}
}

func TestKindsHaveTheNamesOfTheAPI(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(testkit.Root(), "config", "crd", "bases")
	files, err := os.ReadDir(folder)
	must(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(folder, file.Name()))
		must(t, err)
		var crd apiextensionsv1.CustomResourceDefinition
		must(t, yaml.Unmarshal(raw, &crd))
		found, err := kindOf(crd.Spec.Names.Plural+"."+crd.Spec.Group, kinds())
		if err != nil {
			t.Errorf("%s: %v", file.Name(), err)
			continue
		}
		names := crd.Spec.Names
		for _, name := range append(names.ShortNames, names.Singular, names.Plural, names.Kind) {
			if !found.called(name) {
				t.Errorf("%s is not called %q", names.Kind, name)
			}
		}
		if !found.ours || found.namespaced != (crd.Spec.Scope == apiextensionsv1.NamespaceScoped) || found.gvk.Kind != names.Kind ||
			!slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == found.gvk.Version }) {
			t.Errorf("%s: the table has %+v", names.Kind, found.gvk)
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	among := only("nodepools", "virtualmachines", "clusters", "pods")
	tests := map[string]struct{ args, want string }{
		"a kind and a name":                          {args: "nodepool/a", want: "nodepools a"},
		"in two words":                               {args: "vm a", want: "virtualmachines a"},
		"all of a kind":                              {args: "wnp", want: "nodepools "},
		"with its API group":                         {args: "clusters.clusterprovisioner.rke.io/a", want: "clusters a"},
		"with its version and API group":             {args: "VirtualMachine.v1alpha1.cloudnative.tw/a", want: "virtualmachines a"},
		"a kind of another API group":                {args: "clusters.cluster.x-k8s.io/a", want: "clusters.cluster.x-k8s.io are of another API group: did you mean clusters.clusterprovisioner.rke.io?"},
		"a kind with a letter too many":              {args: "nodepoool/a", want: `unknown kind "nodepoool": did you mean nodepool?`},
		"a kind that nobody has":                     {args: "elephants", want: `unknown kind "elephants": there are nodepools, virtualmachines, clusters, pods`},
		"a kind that is like a short name by chance": {args: "foo/a", want: `unknown kind "foo": there are nodepools, virtualmachines, clusters, pods`},
		"no kind before the slash":                   {args: "/a", want: "give one object as kind/name, such as nodepool/a"},
		"a kind that the command does not take":      {args: "podset/a", want: "this command does not work on podset: it works on nodepools, virtualmachines, clusters, pods"},
		"no name after the slash":                    {args: "vm/", want: "give one object as kind/name, such as nodepool/a"},
		"a namespace before the name":                {args: "vm/team/a", want: `"team/a" is no name of an object: give the namespace with -n`},
		"two objects":                                {args: "vm/a vm/b", want: "give one object as kind/name, such as nodepool/a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := targetOf(strings.Fields(test.args), among)
			if err != nil {
				if diff := cmp.Diff(test.want, err.Error()); diff != "" {
					t.Error(diff)
				}
				return
			}
			if diff := cmp.Diff(test.want, found.plural+" "+found.name); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailuresAreSentences(t *testing.T) {
	t.Parallel()
	pools := schema.GroupResource{Group: "nodes.lailin.xyz", Resource: "nodepools"}
	request := func(err error) error { return &url.Error{Op: "Get", URL: "https://10.0.0.1:6443/apis/x?y=z", Err: err} }
	tests := map[string]struct {
		err  error
		want string
	}{
		"nobody listens": {
			err:  request(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}),
			want: "cannot reach the API server at https://10.0.0.1:6443: connect: connection refused: is the cluster running?",
		},
		"interrupted": {err: request(context.Canceled), want: "interrupted"},
		"too late": {
			err: request(context.DeadlineExceeded), want: "the API server at https://10.0.0.1:6443 has not answered in time: is the cluster running?",
		},
		"the program for credentials is missing": {
			err:  request(errors.New("getting credentials: exec: executable aws not found\n\nIt looks like you are trying to use a plugin\n")), //nolint:revive // because client-go says it like this
			want: "cannot get the credentials that the kubeconfig asks for: exec: executable aws not found",
		},
		"not logged in": {
			err:  apierrors.NewUnauthorized("Unauthorized"),
			want: "the API server does not accept the credentials of the kubeconfig: log in again, or choose another context with --context",
		},
		"no rights": {
			err: apierrors.NewForbidden(pools, "", &net.AddrError{Err: `User "a" cannot list resource "nodepools" in API group "nodes.lailin.xyz" at the cluster scope`}),
			want: "you may not list resource nodepools in API group nodes.lailin.xyz at the cluster scope: ask an administrator of the cluster " +
				"for the right",
		},
		"no such object": {err: apierrors.NewNotFound(pools, "a"), want: `nodepool "a" does not exist`},
		"no CRDs": {
			err:  apierrors.NewGenericServerResponse(404, "get", pools, "a", "404 page not found", 0, true),
			want: "this cluster does not have nodepools.nodes.lailin.xyz: Windlass is not installed in it",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, (&plugin{}).explain(test.err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestColumnsFitTheTerminal(t *testing.T) {
	t.Parallel()
	made := &table{columns: []column{{title: "NAME"}, {title: "ID", wide: true}, {title: "WHY", flexible: true}}}
	made.add(cell{text: "a"}, cell{text: "7"}, cell{text: "because of something long", how: moodBad})
	made.add(plain("longer", "8", "")...)
	for name, test := range map[string]struct {
		look  style
		width int
		wide  bool
		want  string
	}{
		"a pipe": {want: "NAME     WHY\na        because of something long\nlonger\n"},
		"wide":   {wide: true, want: "NAME     ID   WHY\na        7    because of something long\nlonger   8\n"},
		"narrow": {width: 24, want: "NAME     WHY\na        because of som…\nlonger\n"},
		"narrower than it can be": {
			width: 5, want: "NAME     WHY\na        because of…\nlonger\n",
		},
		"colours": {look: style{colours: true}, want: "NAME     WHY\na        \x1b[31mbecause of something long\x1b[0m\nlonger\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			must(t, made.write(&out, test.look, test.width, test.wide))
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestColumnsAreLeftOut(t *testing.T) {
	t.Parallel()
	made := &table{columns: []column{{title: "NAME"}, {title: "OF", spare: 2}, {title: "AGE", spare: 1}, {title: "WHY", flexible: true, spare: 3}}}
	made.add(plain("web", "shop", "3d", "because of something long")...)
	for width, want := range map[int]string{
		0: "NAME   OF     AGE   WHY\nweb    shop   3d    because of something long\n", 32: "NAME   OF     AGE   WHY\nweb    shop   3d    because of…\n",
		31: "NAME   OF     WHY\nweb    shop   because of somet…\n", 20: "NAME   WHY\nweb    because of s…\n", 9: "NAME\nweb\n", 2: "NAME\nweb\n",
	} {
		var out strings.Builder
		must(t, made.write(&out, style{}, width, false))
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%d columns: %s", width, diff)
		}
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	t.Parallel()
	red := colourRed + "abcdef" + colourOff
	for of, want := range map[string]string{
		"abcde": "abcde", "abcdef": "abcd…", "✔✔✔✔✔": "✔✔✔✔✔", red: colourRed + "abcd…" + colourOff, colourRed + "abcde" + colourOff: colourRed + "abcde" + colourOff,
		"abc" + colourRed + "de" + colourOff + "f": "abc" + colourRed + "d…" + colourOff, "": "",
	} {
		if diff := cmp.Diff([]string{want}, fit([]string{of}, 5, 9)); diff != "" {
			t.Errorf("%q: %s", of, diff)
		}
	}
	if diff := cmp.Diff([]string{"a", "… and 3 more lines"}, fit([]string{"a", "b", "c", "d"}, 80, 3)); diff != "" {
		t.Error(diff)
	}
}

func TestStyleFollowsTheTerminal(t *testing.T) {
	t.Parallel()
	of := func(width int, env ...string) style {
		p := &plugin{Options: Options{Getenv: func(key string) string {
			for _, each := range env {
				if name, value, _ := strings.Cut(each, "="); name == key {
					return value
				}
			}
			return ""
		}}}
		if width > 0 {
			p.Streams.Size = func() (int, int) { return width, defaultHeight }
		}
		return p.style()
	}
	for name, test := range map[string]struct{ want, got style }{
		"a pipe":                    {got: of(0, "LANG=en_US.UTF-8")},
		"a terminal":                {want: style{colours: true, symbols: true}, got: of(80, "LANG=en_US.UTF-8")},
		"a terminal without colour": {want: style{symbols: true}, got: of(80, "LANG=C.utf8", "NO_COLOR=1")},
		"a terminal for ASCII":      {want: style{colours: true}, got: of(80, "LC_ALL=C", "LANG=en_US.UTF-8")},
		"a dumb terminal":           {got: of(80, "LANG=en_US.UTF-8", "TERM=dumb")},
	} {
		if test.got != test.want {
			t.Errorf("%s: %+v, want %+v", name, test.got, test.want)
		}
	}
}

func TestNoCluster(t *testing.T) {
	t.Parallel()
	p := &plugin{}
	p.access.kubeconfig = missing(t)
	if _, err := p.cluster(); err == nil || !strings.Contains(err.Error(), "cannot use kubeconfig") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}
