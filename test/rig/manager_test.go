// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig_test

import (
	"net"
	"testing"

	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/test/rig"
)

// TestFreeAddressStaysFree: a manager could not listen on its address, because a connection of another program had its port by then.
func TestFreeAddressStaysFree(t *testing.T) {
	t.Parallel()
	address, err := rig.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if !free.IP.IsLoopback() || free.Port >= 20000 {
		t.Errorf("the address is %s, want one that no connection gets", address)
	}
	// A process that another test starts at this moment has a copy of the first listener until it becomes its program.
	testkit.Eventually(t, "somebody can listen on "+address, func() bool {
		again, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		return err == nil && again.Close() == nil
	})
}
