// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import "context"

// Opener connects to a host, or prepares to: a driver may just as well connect with its first call. The driver outlives the
// context. An error is tried again.
type Opener func(ctx context.Context, host Host) (Driver, error)

// Host is a place where machines run, as configured.
type Host struct {
	// Name by which a VirtualMachine asks for the host, and by which its status says where it is. A DNS label, unique.
	Name string
	// Driver that runs machines there: one of the Driver constants.
	Driver string
	// Endpoint is the URL to reach it by: unix:///run/docker.sock, tcp://rack-1:2376, ssh://ops@rack-1, qemu:///system,
	// simulated://?cpu=64. It never holds a password.
	Endpoint string
	// TLS has the files for an encrypted connection, nil for none. The host's certificate is always verified.
	TLS *TLSFiles
	// SSH has the files for an endpoint that is reached through SSH, nil for the SSH client's own defaults.
	SSH *SSHFiles
	// Capacity is what Windlass may give away there, which may be less than there is, or more. What is zero is taken from
	// what the host says of itself.
	Capacity Resources
	// MaxCalls is how many calls are made to the host at the same time. Default: DefaultMaxCalls.
	MaxCalls int
}

// DefaultMaxCalls is how many calls are made to a host at the same time where it does not say.
const DefaultMaxCalls = 8

// TLSFiles are the paths of PEM files.
type TLSFiles struct {
	// CA that has signed the host's certificate. Empty: the authorities that the system trusts.
	CA string
	// Cert and Key to authenticate with. Both empty: no client certificate.
	Cert, Key string
}

// SSHFiles are the paths of an SSH client's files.
type SSHFiles struct {
	// IdentityFile is the private key to authenticate with. Empty: those of the SSH client and its agent.
	IdentityFile string
	// KnownHostsFile has the host's key, which is always checked. Empty: that of the SSH client.
	KnownHostsFile string
}
