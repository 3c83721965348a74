// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"os"
	"testing"
)

// TestARecordOfAnEarlierBootLocksNobodyOut has records whose number belongs to another process by now. With hidepid, that process cannot be read,
// which was no answer.
func TestARecordOfAnEarlierBootLocksNobodyOut(t *testing.T) {
	t.Parallel()
	own, err := startedAt(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for started, want := range map[string]bool{own: false, "5c6b2a1e-0000-4000-8000-000000000000/1234": true, "1234": true} {
		if over, err := ofAnotherBoot(started); err != nil || over != want {
			t.Errorf("%s is of another boot: %t, %v, want %t", started, over, err, want)
		}
	}
}
