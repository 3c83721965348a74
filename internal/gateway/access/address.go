// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// IsLoopback reports whether the address, with or without a port, is a loopback address of this machine.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	parsed, err := netip.ParseAddr(host)
	return err == nil && parsed.Unmap().IsLoopback()
}

// remoteHost returns the address of the client without its port.
func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
