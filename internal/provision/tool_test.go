// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// call is everything that a tool gets and leaves, with its placeholders replaced.
type call struct {
	Up, Remove, Version, State, PassEnv []string
	Config, Kubeconfig                  string
	KeepsDaemons                        bool
}

// callOf returns how a tool is called for the cluster "one", whose configuration is in /srv/one.
func callOf(tool Tool) call {
	config := "/srv/one/" + tool.ConfigName
	values := Values{Name: "one", Config: config}
	seen := call{
		Up: tool.Argv(Up, values, false), Remove: tool.Argv(Remove, values, false), Version: tool.Version,
		PassEnv: tool.PassEnv, Config: tool.ConfigName, Kubeconfig: tool.KubeconfigPath("one", config), KeepsDaemons: tool.KeepsDaemons,
	}
	for _, pattern := range tool.StateFiles {
		seen.State = append(seen.State, values.Expand(pattern))
	}
	return seen
}

func TestEachPresetIsCalledAsItsToolExpects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		preset string
		want   call
	}{
		"RKE takes its file, and keeps a state": {"rke", call{
			Up: words("rke up --config /srv/one/cluster.yml"), Remove: words("rke remove --force --config /srv/one/cluster.yml"),
			Version: words("rke --version"), State: words("cluster.rkestate"), PassEnv: words("RANCHER_METADATA_URL DEVCLUSTER_DIR"),
			Config: "cluster.yml", Kubeconfig: "/srv/one/kube_config_cluster.yml", KeepsDaemons: true,
		}},
		"devcluster is called like RKE, and keeps its state itself": {"devcluster", call{
			Up: words("devcluster up --config /srv/one/cluster.yml"), Remove: words("devcluster remove --force --config /srv/one/cluster.yml"),
			Version: words("devcluster --version"), PassEnv: words("DEVCLUSTER_DIR"),
			Config: "cluster.yml", Kubeconfig: "/srv/one/kube_config_cluster.yml", KeepsDaemons: true,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool, err := Preset(test.preset)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, callOf(tool), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the call differs (-want +got):\n%s", diff)
			}
			if tool.Name != test.preset || len(tool.Env) > 0 {
				t.Errorf("the preset %q is called %q and sets %q", test.preset, tool.Name, tool.Env)
			}
		})
	}
}

func TestOnlyRKEIsToldOfAnAgent(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"rke", "devcluster"} {
		tool, err := Preset(preset)
		if err != nil {
			t.Fatal(err)
		}
		for _, action := range []Action{Up, Remove} {
			with := tool.Argv(action, Values{Name: "one", Config: "/srv/one/config"}, true)
			if told := slices.Contains(with, "--ssh-agent-auth"); told != (preset == "rke") {
				t.Errorf("%s of %s is called as %q", action, preset, with)
			}
		}
	}
}

func TestWhatIsNoPresetIsAnError(t *testing.T) {
	t.Parallel()
	for name, preset := range map[string]string{
		"a tool that nobody knows":               "rancher",
		"no name":                                "",
		"a name in capitals":                     "RKE",
		"a tool that the user describes himself": "exec",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tool, err := Preset(preset); err == nil || !strings.Contains(err.Error(), `"`+preset+`"`) {
				t.Errorf("it is %+v with the error %v, which should name it", tool, err)
			}
		})
	}
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, name, want string }{
		"the path of the configuration":               {"{config}", "one", "/srv/one/a b.yml"},
		"its file name":                               {"kube_config_{configname}", "one", "kube_config_a b.yml"},
		"its file name without the extension":         {"{configstem}.rkestate", "one", "a b.rkestate"},
		"its directory":                               {"--home={dir}/home", "one", "--home=/srv/one/home"},
		"the name of the cluster, twice":              {"{name}/{name}", "one", "one/one"},
		"the file of host keys":                       {"-oUserKnownHostsFile={knownhosts}", "one", "-oUserKnownHostsFile=/srv/hosts of one"},
		"several of them without a gap":               {"{dir}{name}{config}", "one", "/srv/oneone/srv/one/a b.yml"},
		"what is put in is not replaced once more":    {"{name}", "{dir}", "{dir}"},
		"a placeholder that nobody knows stays":       {"{uid}", "one", "{uid}"},
		"a placeholder that does not end stays":       {"{config", "one", "{config"},
		"a placeholder in capitals stays":             {"{Config}", "one", "{Config}"},
		"a template of another language is untouched": {"{{.Name}} ${HOME} $(id)", "one", "{{.Name}} ${HOME} $(id)"},
		"braces around a placeholder stay":            {"{{name}}", "one", "{one}"},
		"nothing":                                     {"", "one", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := Values{Name: test.name, Config: "/srv/one/a b.yml", KnownHosts: "/srv/hosts of one"}
			if got := values.Expand(test.text); got != test.want {
				t.Errorf("%q became %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// TestAToolOfTheUsersOwn proves that arguments stay what they are: nothing is split, joined, or read by a shell.
func TestAToolOfTheUsersOwn(t *testing.T) {
	t.Parallel()
	tool := Tool{
		Name: "exec", ConfigName: "config.yaml",
		Up:         []string{"/opt/{name}/tool", "--file", "{config}", "a b; rm *", "", "$HOME"},
		Remove:     []string{"tool"},
		StateFiles: []string{"{name}.state", "*.json"},
	}
	want := call{
		Up: []string{"/opt/one/tool", "--file", "/srv/one/config.yaml", "a b; rm *", "", "$HOME"}, Remove: []string{"tool"},
		State: []string{"one.state", "*.json"}, Config: "config.yaml",
	}
	if diff := cmp.Diff(want, callOf(tool), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the call differs (-want +got):\n%s", diff)
	}
	if tool.Up[0] != "/opt/{name}/tool" {
		t.Errorf("the template itself became %q", tool.Up)
	}
}

func TestTheKubeconfigIsBesideTheConfiguration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, want string }{
		"a tool that writes none":                  {"", ""},
		"a name of its own":                        {"admin.conf", "/srv/one/admin.conf"},
		"a name after the cluster":                 {"{name}.conf", "/srv/one/one.conf"},
		"a directory below":                        {"out/admin.conf", "/srv/one/out/admin.conf"},
		"an absolute path is one within the place": {"/etc/admin.conf", "/srv/one/etc/admin.conf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (Tool{KubeconfigFile: test.file}).KubeconfigPath("one", "/srv/one/config.yaml"); got != test.want {
				t.Errorf("%q is at %q, want %q", test.file, got, test.want)
			}
		})
	}
}

func words(line string) []string { return strings.Fields(line) }

func TestCheckOfFilesThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tool Tool
		// want is a part of the error; empty for none.
		want string
	}{
		"nothing is left":                    {},
		"patterns with placeholders":         {tool: Tool{StateFiles: []string{"*.state", "{configname}.lock", "{name}-[a-c]?"}, KubeconfigFile: "out/{name}"}},
		"a state in a directory":             {tool: Tool{StateFiles: []string{"state/*.json"}}, want: `cannot use "state/*.json" in exec.stateFiles: it names a directory`},
		"a state at a path":                  {tool: Tool{StateFiles: []string{"{config}.state"}}, want: "it names a directory"},
		"a pattern that has no end":          {tool: Tool{StateFiles: []string{"[a"}}, want: `cannot use "[a" in exec.stateFiles: syntax error in pattern`},
		"a kubeconfig outside":               {tool: Tool{KubeconfigFile: "../kubeconfig"}, want: "it is not below the directory of the configuration"},
		"a kubeconfig at a path":             {tool: Tool{KubeconfigFile: "{dir}/kubeconfig"}, want: "it is not below the directory of the configuration"},
		"a kubeconfig that is the directory": {tool: Tool{KubeconfigFile: "a/../.."}, want: "it is not below the directory of the configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.tool.Check("one", "/srv/one/cluster.yml")
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestAFileOfAnotherClusterIsNoState is about patterns: what comes from a name in them stands for itself.
func TestAFileOfAnotherClusterIsNoState(t *testing.T) {
	t.Parallel()
	rke, err := Preset("rke")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		tool         Tool
		config, file string
		want         bool
	}{
		"RKE's own":                           {rke, "/etc/rke/east.yml", "east.rkestate", true},
		"RKE's own for a name without an end": {rke, "/etc/rke/east", "east.rkestate", true},
		"RKE's own for a name with two ends":  {rke, "/etc/rke/east.eu.yml", "east.eu.rkestate", true},
		"RKE's own for a name like a pattern": {rke, `/etc/rke/[e]\as*.yml`, `[e]\as*.rkestate`, true},
		"what a name like a pattern matches":  {rke, "/etc/rke/eas?.yml", "east.rkestate", false},
		"RKE's for a neighbour":               {rke, "/etc/rke/east.yml", "west.rkestate", false},
		"a pattern of the user":               {Tool{StateFiles: []string{"x", "*.state"}}, "/a/east.yml", "west.state", true},
		"no pattern at all":                   {Tool{StateFiles: []string{"["}}, "/a/east.yml", "[", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.tool.Keeps(Values{Name: "one", Config: test.config}, test.file); got != test.want {
				t.Errorf("%q counts as state: %t, want %t", test.file, got, test.want)
			}
			if err := rke.Check("one", test.config); err != nil {
				t.Errorf("the tool is refused: %v", err)
			}
		})
	}
}

// TestStateMovesWithItsConfiguration is about tools that name their state by the configuration.
func TestStateMovesWithItsConfiguration(t *testing.T) {
	t.Parallel()
	rke, err := Preset("rke")
	if err != nil {
		t.Fatal(err)
	}
	from := func(patterns ...string) Tool { return Tool{StateFiles: patterns} }
	for name, test := range map[string]struct {
		tool       Tool
		config     string
		have, want string
	}{
		"RKE's own":                         {rke, "/etc/rke/east.yml", "east.rkestate", "cluster.rkestate=east.rkestate"},
		"RKE's own for a name of a pattern": {rke, "/etc/rke/[e].yml", "[e].rkestate", "cluster.rkestate=[e].rkestate"},
		"RKE's, where there is one already": {rke, "/etc/rke/east.yml", "cluster.rkestate east.rkestate", "cluster.rkestate=cluster.rkestate east.rkestate=east.rkestate"},
		"RKE's for a neighbour":             {rke, "/etc/rke/east.yml", "west.rkestate", "west.rkestate=west.rkestate"},
		"the same name elsewhere":           {rke, "/etc/rke/cluster.yml", "cluster.rkestate", "cluster.rkestate=cluster.rkestate"},
		"what follows the name":             {from("{configstem}.state*"), "/a/east.yml", "east.state east.state.bak", "cluster.state.bak=east.state.bak cluster.state=east.state"},
		"a pattern without the name":        {from("*.state"), "/a/east.yml", "east.state", "east.state=east.state"},
		"a name that another pattern keeps": {from("{configstem}.state", "*.state"), "/a/east.yml", "east.state", "cluster.state=east.state east.state=east.state"},
		"a name behind what is not known":   {from("*.{configstem}"), "/a/east.yml", "state.east", "state.east=state.east"},
		"no state":                          {rke, "/etc/rke/east.yml", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := map[string][]byte{}
			for _, file := range words(test.have) {
				state[file] = []byte(file)
			}
			var got []string
			moved := test.tool.Moved(state, Values{Name: "one", Config: test.config}, Values{Name: "one", Config: "/work/cluster.yml"})
			for file, content := range moved {
				got = append(got, file+"="+string(content))
			}
			slices.Sort(got)
			if diff := cmp.Diff(words(test.want), got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			if len(state) != len(words(test.have)) {
				t.Errorf("what was given is %q by now", state)
			}
		})
	}
}
