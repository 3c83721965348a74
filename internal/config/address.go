// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net"
	"strconv"
	"strings"
)

// off is the address that turns a server off.
const off = "0"

// isAddress reports whether a server can listen on the address, or is turned off by it.
func isAddress(address string) bool {
	if address == off {
		return true
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// samePort reports whether both addresses are the same. Port 0 means any free port, so it never is.
func samePort(a, b string) bool {
	return a == b && a != off && !strings.HasSuffix(a, ":0")
}
