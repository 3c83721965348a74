// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig_test

import (
	"net"
	"testing"

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
	if again, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address); err != nil {
		t.Error(err)
	} else if err := again.Close(); err != nil {
		t.Error(err)
	}
}
