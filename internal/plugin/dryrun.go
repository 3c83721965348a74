// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import "fmt"

// dryRun says how far a change goes.
type dryRun string

// Values of --dry-run.
const (
	dryRunNone   dryRun = "none"
	dryRunClient dryRun = "client"
	dryRunServer dryRun = "server"
)

// String, Set and Type implement pflag.Value.
func (d *dryRun) String() string { return string(*d) }

// Set implements pflag.Value.
func (d *dryRun) Set(text string) error {
	switch dryRun(text) {
	case dryRunNone, dryRunClient, dryRunServer:
		*d = dryRun(text)
		return nil
	default:
		return fmt.Errorf("it must be %s, %s or %s", dryRunNone, dryRunClient, dryRunServer)
	}
}

// Type implements pflag.Value.
func (*dryRun) Type() string { return "how" }

// note is what the output says of it.
func (d *dryRun) note() string {
	if *d == dryRunServer {
		return " (server dry run)"
	}
	return ""
}
