// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clock judges times that another process may have written down, whose clock was perhaps wrong. Clocks are set: by hand, after a restart
// without the network, or by a wrong time zone.
package clock

import "time"

// slack is how far apart the clocks of two processes may be without either of them being wrong.
const slack = time.Minute

// Left returns how much is left of a wait that ends at a time that was written down when it began, and 0 if it is over. Longest is how long it was
// then. If more than that is left, the time was written by a clock that was ahead and has been set right since. Waiting for it would take as
// long as that clock was wrong, so the wait counts as over.
func Left(at time.Time, longest time.Duration, now time.Time) time.Duration {
	left := at.Sub(now)
	if left > longest+slack {
		return 0
	}
	return max(left, 0)
}
