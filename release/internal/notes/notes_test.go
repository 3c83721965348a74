// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package notes

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	const log = `c3 nodepool: count members once
b2 nodepool, node: keep foreign taints in their order
a1 nodepool: wait for the ledger
00 Begin with a README: the idea
`
	const want = `## v1.2.3, 2023-11-14

4 changes.

### nodepool

- wait for the ledger (a1)
- count members once (c3)

### nodepool, node

- keep foreign taints in their order (b2)

### other

- Begin with a README: the idea (00)
`
	var out strings.Builder
	if err := Write(&out, strings.NewReader(log), "v1.2.3", time.Unix(1700000000, 0)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the section is (-want +got):\n%s", diff)
	}
	if err := Write(&out, strings.NewReader("a1\n"), "v1.2.3", time.Unix(0, 0)); err == nil {
		t.Error("a line without a subject is taken")
	}
}
