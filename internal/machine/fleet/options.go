// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Options configure a Fleet. Open is required.
type Options struct {
	// Installation whose events are watched.
	Installation string
	// Open connects to a host.
	Open machine.Opener
	// Problem says why the configuration of the hosts cannot be used, nil if it can. Such a fleet has no hosts.
	Problem error
	// Notify is called for every notice, by up to three goroutines for each host: while it runs, further notices of that host
	// wait. Default: nobody is notified.
	Notify func(ctx context.Context, notice Notice)
	// Measure is called after every call to a driver, with the name of the method in lower case. Default: nothing is measured.
	Measure func(host, call string, took time.Duration, err error)
	// Log says which hosts come and go. Default: nothing is logged.
	Log logr.Logger
	// Clock tells the time of health and of calls. Default: the system's.
	Clock clock.PassiveClock
	// ProbeInterval is how often a healthy host is probed, give or take a fifth. Default: 15 s.
	ProbeInterval time.Duration

	// Limits of the calls. Nothing else in the program bounds a driver.
	Limits Limits
}

// Limits bound how long a call to a driver may take. A call that exceeds its limit fails with machine.ErrUnreachable, and the host
// is probed soon; only Prepare, whose duration says nothing about the host, fails with machine.ErrImagePull.
type Limits struct {
	// Probe is for the Info that a host is probed with. Default: 10 s.
	Probe time.Duration
	// Get is for one look at one machine, which callers wait for. Default: 5 s.
	Get time.Duration
	// GetRest is how long further Gets of a machine fail at once after one has exceeded its limit, and those of all machines of the host after
	// two machines in a row: a host that hangs costs few waiting callers, not all of them. It ends early when the host answers the fleet's own.
	// Default: 15 s.
	GetRest time.Duration
	// Call is for every other call, on top of the grace of a power-off. A Watch has to be established within it. Default: 2 min.
	Call time.Duration
	// Prepare is for fetching an image or copying disks. Default: 1 h.
	Prepare time.Duration
}

func (o *Options) setDefaults() {
	o.Clock = cmp.Or[clock.PassiveClock](o.Clock, clock.RealClock{})
	o.ProbeInterval = cmp.Or(o.ProbeInterval, 15*time.Second)
	o.Limits.Probe = cmp.Or(o.Limits.Probe, 10*time.Second)
	o.Limits.Get = cmp.Or(o.Limits.Get, 5*time.Second)
	o.Limits.GetRest = cmp.Or(o.Limits.GetRest, 15*time.Second)
	o.Limits.Call = cmp.Or(o.Limits.Call, 2*time.Minute)
	o.Limits.Prepare = cmp.Or(o.Limits.Prepare, time.Hour)
	if o.Notify == nil {
		o.Notify = func(context.Context, Notice) {}
	}
	if o.Measure == nil {
		o.Measure = func(string, string, time.Duration, error) {}
	}
}
