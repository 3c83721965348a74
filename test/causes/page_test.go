// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/why-faults.md")

const page = "../../docs/why-faults.md"

// preface says what the table is.
const preface = `# How good are the answers?

[Why is it like that?](guide/why.md) explains an object by a list of checks, of which the first failed one names the cause. ` + "`test/causes`" + `
measures that: it induces the faults below on real parts, and asks for the explanation as a user would. The parts are an API server with its
controllers and its scheduler, simulated nodes, a real node with a kubelet and a container runtime for what only these tell, simulated machines, machines in
a real Docker Engine and a real libvirt, scripted provisioning tools, and a real one that makes real control planes.

An answer is right if

- the first failed check has the code of the true cause, and its message names what is at fault;
- the evidence is the field of the object that proves it, with the version of the object;
- the command of the next step, pasted into a shell as it is, succeeds, and shows the cause or removes it;
- for the kinds of Windlass, the engine, the condition, the event, the HTTP API and the plugin of kubectl say it in the same words.

There are %d faults. The test fails if one of them is not answered right. ` + "`make test` induces the %d that need no more than a control plane," + `
and this all of them:

` + "```sh\nmake causes\n```" + `

The table is made from its data (` + "`go test ./test/causes -run TestPage -update`" + `).
A mark in brackets names the real part that a fault needs; a machine without that part leaves the fault out. The command of a fault marked "*in a cluster*" reads
the log of a manager that runs in the cluster, which that of the test does not: it is not run.
`

// TestPage: the table in the documentation has all faults.
func TestPage(t *testing.T) {
	t.Parallel()
	want := pageOf(tables())
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run \"go test ./test/causes -run TestPage -update\" (-want +got):\n%s", diff)
	}
}

// pageOf returns the page with a table for each kind.
func pageOf(all []table) string {
	count, plain := 0, 0
	text := &strings.Builder{}
	for _, of := range all {
		count += len(of.faults)
		fmt.Fprintf(text, "\n## %s\n\n| fault | asked | code | proved by | then |\n|---|---|---|---|---|\n", of.kind)
		for i := range of.faults {
			text.WriteString(of.faults[i].line())
			if of.faults[i].needs == "" {
				plain++
			}
		}
	}
	return fmt.Sprintf(preface, count, plain) + text.String()
}

// line is the fault in the table.
func (f *fault) line() string {
	name := f.name
	if f.needs != "" {
		name += " *(" + string(f.needs) + ")*"
	}
	then := "the command runs"
	switch {
	case f.elsewhere != "":
		then = "*in a cluster*"
	case f.cures:
		then = "the command removes the cause"
	case f.shows != "":
		then = "the command shows `" + f.plain(f.shows) + "`"
	}
	return "| " + name + " | " + quoted(f.plain(f.ask)) + " | " + quoted(string(f.code)) + " | " + f.proof() + " | " + then + " |\n"
}

func (f *fault) proof() string {
	if f.evidence == "" {
		return "nothing: there is no such object"
	}
	object, field, _ := strings.Cut(f.plain(f.evidence), " ")
	if strings.HasSuffix(field, "[*]") {
		return "the conditions of `" + object + "`"
	}
	return quoted(field) + " of " + quoted(object)
}

// quoted returns a text as code in Markdown.
func quoted(text string) string { return "`" + text + "`" }

// plain puts a name in the place of the id.
func (f *fault) plain(text string) string { return strings.ReplaceAll(text, "$", "NAME") }

// TestFaultsAreWellFormed: each has a sentence, an id of its own that Kubernetes accepts, and says what it wants.
func TestFaultsAreWellFormed(t *testing.T) {
	t.Parallel()
	ids, names := map[string]bool{}, map[[2]string]bool{}
	for _, of := range tables() {
		for _, f := range of.faults {
			switch {
			case f.name == "" || f.id == "" || f.ask == "" || f.code == "" || len(f.steps) == 0:
				t.Errorf("%q is not complete: %+v", f.id, f)
			case ids[f.id] || names[[2]string{of.kind, f.name}]:
				t.Errorf("%q (%s) is there twice", f.id, f.name)
			case len(f.id) > 30 || strings.ToLower(f.id) != f.id:
				t.Errorf("%q is no short name", f.id)
			}
			ids[f.id], names[[2]string{of.kind, f.name}] = true, true
		}
	}
	if len(ids) < 60 {
		t.Errorf("there are %d faults, want at least 60", len(ids))
	}
}
