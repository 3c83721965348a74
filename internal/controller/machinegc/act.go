// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machinegc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// powerOffGrace is how long an orphan may take to turn itself off.
const powerOffGrace = 30 * time.Second

// act carries out the decision of a plan. An error about one machine does not keep it from the others; problems are those met before.
func (c *Collector) act(ctx context.Context, driver machine.Driver, host string, decided decision, problems []error) error {
	for _, key := range decided.wake {
		c.options.Wake(key)
	}
	for _, found := range decided.report {
		c.options.Recorder.Record(orphaned(found, host))
	}
	for _, one := range decided.duplicates {
		c.options.Recorder.Record(duplicated(one, host))
	}
	for _, found := range decided.remove {
		problems = append(problems, c.remove(ctx, driver, host, found))
	}
	if err := c.options.Retained.Remove(ctx, decided.outdated...); err != nil {
		problems = append(problems, fmt.Errorf("cannot update the list of retained machines: %w", err))
	}
	return errors.Join(problems...)
}

// remove removes an orphan, after asking once more for its object and whether it is to stay without one.
func (c *Collector) remove(ctx context.Context, driver machine.Driver, host string, found machine.Observed) error {
	if one, err := c.owner(ctx, found); one.owned || err != nil {
		return err
	}
	retained, err := c.options.Retained.Hosts(ctx)
	if err != nil {
		return err
	}
	if _, stays := retained[found.UID]; stays {
		return nil
	}
	if err := driver.Delete(ctx, found.Identity, machine.PowerOff{Mode: machine.TrySoft, Grace: powerOffGrace}); err != nil {
		return fmt.Errorf("cannot remove orphan %q: %w", found.NativeName, err)
	}
	c.options.Recorder.Record(removed(found, host, c.options.Grace))
	return nil
}
