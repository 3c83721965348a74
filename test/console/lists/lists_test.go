// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"testing"

	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/test/console/stage"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// TestLists acts on several machines at once, groups them by host, chooses columns, filters, and rehearses a change of a pool.
// lists.mjs says what it looks at.
func TestLists(t *testing.T) {
	t.Parallel()
	chromium := stage.Browser(t)
	h := testkit.New(t)
	w := stage.Furnish(t, h, h.Namespace(t))
	rehearse(t, &w)
	stage.Visit(t, "lists.mjs", chromium, stage.Serve(t, w.Harness), w.Namespace)
}
