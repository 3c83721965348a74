// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestShortForm plays a small sample of the campaign. The environment variable FAULT has more arguments of the program, as in
// FAULT="-seed 7 -sample 100".
func TestShortForm(t *testing.T) {
	playWith(t, "-lanes=2", "-some=5", "-sample=12", "-quiet=1s", "-rest=2s", "-variant="+withoutDisturbances())
}

// withoutDisturbances returns the names of all variants: each disturbance takes as long as several of them.
func withoutDisturbances() string {
	var names []string
	for _, v := range variants() {
		names = append(names, v.name)
	}
	return strings.Join(names, ",")
}

// TestPromises plays, in a small size, the scenarios that are faults of their own.
func TestPromises(t *testing.T) {
	playWith(t, "-lanes=2", "-scenario=edits,leader/frozen,leader/cut-off,specs", "-edits=400", "-specs=60", "-quiet=1s", "-rest=1s")
}

// TestHosts plays a small sample with machines and Clusters: on a Docker Engine where one can run, on simulated hosts, and with the campaign's
// tool.
func TestHosts(t *testing.T) {
	playWith(t, "-lanes=2", "-sample=6", "-quiet=500ms", "-rest=500ms", "-variant="+withoutDisturbances(),
		"-scenario=virtualmachine/docker-replaced,virtualmachine/docker-deleted,virtualmachine/simulated-resized,cluster/deleted")
}

func playWith(t *testing.T, args ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs whole clusters, which -short leaves out")
	}
	log.SetLogger(logr.Discard())
	args = append(args, strings.Fields(os.Getenv("FAULT"))...)
	opts, err := parse(args, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	c := &campaign{options: opts, progress: t.Output()}
	if err := c.find(); err != nil {
		t.Skip(err)
	}
	t.Logf("the seed is %d", opts.Seed)
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := &report{Options: opts, Took: time.Since(c.begun), Rows: c.rows, Costs: c.spent, Restarts: c.restarts}
	var text bytes.Buffer
	done.writeText(&text)
	t.Log(text.String())
	if found := done.findings(); found > 0 {
		t.Errorf("%d findings: see above for the command that repeats each of them", found)
	}
}
