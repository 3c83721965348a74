// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// DecideAnew calls change, which reads an object, decides and writes, again while it says that the object has changed in between. It returns
// the last error. Controllers write an object several times within a tenth of a second, above all when it is new: so it waits for 10 ms at
// first and twice as long each time, with jitter. These are eight calls within 1.3 to 2.6 seconds.
func DecideAnew(change func() (outdated bool, err error)) error {
	var last error
	// It fails only after the last call, whose error is told.
	_ = wait.ExponentialBackoff(wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 8}, func() (done bool, err error) {
		outdated, err := change()
		last = err
		return !outdated, nil
	})
	return last
}
