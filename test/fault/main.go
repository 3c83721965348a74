// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command fault runs bin/windlass against control planes of its own while calls fail. A proxy between the manager and the API server
// sees each write. The program plays scenarios, such as "a pool is created", first without a fault; then once more for each write and
// each way in which it can go wrong. After each run the state of the cluster must be the one of the run without a fault, field by
// field; nothing else may be there; and nothing may be written any more.
//
// docs/reliability.md shows what it has found out, and docs/design/0023-fault-campaign.md says why it works as it does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-operator/windlass/test/rig"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	if isTool(os.Args[0]) {
		os.Exit(runTool(os.Args[1:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends the process at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the campaign and returns the exit code of the process.
func run(ctx context.Context, args []string, out, progress io.Writer) int {
	log.SetLogger(logr.Discard())
	opts, err := parse(args, progress)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	if opts.Sensitivity {
		return plant(ctx, opts, out, progress)
	}
	c := &campaign{options: opts, progress: progress}
	err = c.run(ctx)
	report := &report{Options: opts, Took: time.Since(c.begun), Rows: c.rows, Costs: c.spent, Lanes: c.peak(), Restarts: c.restarts}
	report.writeText(out)
	if opts.JSON != "" {
		err = errors.Join(err, rig.WriteResults(opts.JSON, report))
	}
	if err != nil {
		fmt.Fprintf(progress, "fault: %v\n", err)
		return exitFailure
	}
	if found := report.findings(); found > 0 {
		fmt.Fprintf(progress, "fault: %d findings\n", found)
		return exitFailure
	}
	return 0
}

// plant plants defects and returns the exit code of the process.
func plant(ctx context.Context, opts options, out, progress io.Writer) int {
	s := &sensitivity{campaign: campaign{options: opts, progress: progress}}
	err := s.run(ctx)
	missed := s.writeText(out)
	if err != nil {
		fmt.Fprintf(progress, "fault: %v\n", err)
	}
	if err != nil || missed > 0 {
		return exitFailure
	}
	return 0
}
