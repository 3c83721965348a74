// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/windlass-operator/windlass/internal/machine"
)

// transport is how the bytes of a connection travel, as endpoints name it.
type transport string

// The transports.
const (
	overUnix transport = "unix"
	overTCP  transport = "tcp"
	overTLS  transport = "tls"
	overSSH  transport = "ssh"
)

// defaultPort returns where libvirtd or sshd listens, empty for a transport that does not leave this machine.
func (t transport) defaultPort() string {
	switch t {
	case overTCP:
		return "16509"
	case overTLS:
		return "16514"
	case overSSH:
		return "22"
	case overUnix:
	}
	return ""
}

// way is how a host is reached.
type way struct {
	over transport
	// address is host:port, empty for this machine.
	address string
	// user logs in through SSH. Empty: the user of this process.
	user string
	tls  *machine.TLSFiles
	ssh  *machine.SSHFiles
}

// parseWay reads how the endpoint says that its host is reached.
func parseWay(over string, parsed *url.URL) (way, error) {
	out := way{over: transport(cmp.Or(over, string(overUnix))), user: parsed.User.Username()}
	port := out.over.defaultPort()
	remote := port != ""
	switch {
	case !remote && out.over != overUnix:
		return way{}, fmt.Errorf("has the transport %.16q: must be unix, tls, ssh or tcp", over)
	case remote && parsed.Hostname() == "":
		return way{}, fmt.Errorf("must name a machine after +%s://", over)
	case !remote && parsed.Host != "":
		return way{}, errors.New("names a machine, so it must say how to reach it: begin with qemu+tls:// or qemu+ssh://")
	case out.user != "" && out.over != overSSH:
		return way{}, errors.New("has a user, which only qemu+ssh:// uses")
	}
	if remote {
		out.address = net.JoinHostPort(parsed.Hostname(), cmp.Or(parsed.Port(), port))
	}
	return out, nil
}

// hasSockets reports whether the way ends at a socket in the file system of the host.
func (w way) hasSockets() bool { return w.over == overUnix || w.over == overSSH }

// dial connects to the daemon. Files are read for every connection, so that renewed ones are used.
func (w way) dial(ctx context.Context, sockets []string) (net.Conn, error) {
	dialer := new(net.Dialer)
	switch w.over {
	case overTCP:
		return dialer.DialContext(ctx, "tcp", w.address)
	case overTLS:
		return w.dialTLS(ctx)
	case overSSH:
		return w.dialSSH(ctx, sockets)
	case overUnix:
	}
	return firstOf(sockets, func(path string) (net.Conn, error) { return dialer.DialContext(ctx, "unix", path) })
}
