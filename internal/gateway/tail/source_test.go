// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package tail

import (
	"context"
	"io"
	"testing"
)

// TestALogThatIsLeftDoesNotFail has readers that leave. Their connections break then, which is no news about the logs.
func TestALogThatIsLeftDoesNotFail(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	arrivals := make(chan arrival, 100)
	for range cap(arrivals) { // a select chooses any case that is ready
		left := &reader{Source: Source{Open: func(ctx context.Context) (io.ReadCloser, error) { return nil, ctx.Err() }}}
		left.run(ctx, arrivals)
	}
	if said := len(arrivals); said > 0 {
		t.Errorf("%d of %d logs are said to fail", said, cap(arrivals))
	}
}
