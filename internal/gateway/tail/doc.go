// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tail reads many logs as one. What the logs already have is merged by time; lines that come later are passed on as they come.
//
// Each source has at most one line in memory: it reads the next one when that line was passed on. So a reader who is slow, or one line that
// has no end, costs a bounded amount of memory, and everything else waits in TCP.
package tail
