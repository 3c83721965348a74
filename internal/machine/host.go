// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"net/netip"
)

// Opener returns the driver of a host. It need not connect: a driver may do that with its first call. The driver outlives the
// context. The caller retries after an error.
type Opener func(ctx context.Context, host Host) (Driver, error)

// Host is a place where machines run, as configured.
type Host struct {
	// Name of the host in the spec and the status of VirtualMachines. A unique DNS label.
	Name string
	// Driver that runs machines there: one of the Driver constants.
	Driver string
	// Endpoint is the URL of the host: unix:///run/docker.sock, tcp://rack-1:2376, ssh://ops@rack-1, qemu:///system,
	// simulated://?cpu=64. It never contains a password.
	Endpoint string
	// TLS names the files for an encrypted connection; nil for none. The certificate of the host is always verified.
	TLS *TLSFiles
	// SSH names the files for an endpoint that is reached through SSH; nil for the defaults of the SSH client.
	SSH *SSHFiles
	// Capacity is what Windlass may allocate on the host, which can be less or more than the host has. A field that is zero
	// is taken from what the host reports.
	Capacity Resources
	// Namespaces are those whose VirtualMachines can be placed on the host. None: all.
	Namespaces []string
	// Containers confines the containers on the host, for drivers that run containers.
	Containers ContainerPolicy
	// MaxCalls is how many calls of a kind the host serves at the same time. Default: DefaultMaxCalls.
	MaxCalls int
	// Assumed is true for the engine of this machine if nobody has configured any host: there may be none, as in a Pod.
	Assumed bool
}

// DefaultMaxCalls is the MaxCalls of a host that does not set it.
const DefaultMaxCalls = 8

// ContainerPolicy says what containers can do to their host. The zero value is the safe default.
type ContainerPolicy struct {
	// AllowPrivilegeEscalation lets programs in a container gain privileges that their parents do not have, like sudo does.
	AllowPrivilegeEscalation bool
	// MaxProcesses is how many processes and threads a container can have. 0: DefaultMaxProcesses; negative: no limit.
	MaxProcesses int64
	// MaxLogBytes is how much of the output of a container its host keeps. 0: DefaultMaxLogBytes; negative: as the host is
	// configured.
	MaxLogBytes int64
	// Capabilities of the kernel that containers have, without the prefix CAP_. Nil: DefaultCapabilities; empty: none.
	Capabilities []string
	// Registries are the hosts, with the port if it is not the default one, that images are fetched from. Nil: all but those on the
	// loopback and link-local addresses of the host, as far as their names tell.
	Registries []string
	// Ports limits where containers publish ports.
	Ports PortPolicy
	// Networks are the names of existing networks that the containers of a namespace are connected to, by namespace; AllNamespaces stands for
	// those that are not listed. Namespaces without one have a network of their own, which the driver makes and removes.
	Networks map[string]string
}

// AllNamespaces stands for the namespaces that ContainerPolicy.Networks does not list.
const AllNamespaces = "*"

// PortPolicy says where containers publish ports. A port that the host chooses is always allowed.
type PortPolicy struct {
	// Addresses are those of the host. Nil: all loopback addresses. An unspecified address stands for all of its family.
	Addresses []netip.Addr
	// First and Last bound the ports. Both 0: DefaultFirstPort and DefaultLastPort.
	First, Last uint16
}

// The ports that containers publish by default.
const (
	DefaultFirstPort = 1024
	DefaultLastPort  = 65535
)

// DefaultCapabilities returns what the usual images need to prepare their files, to listen on ports below 1024, and to become another
// user. It is what Docker gives without MKNOD, NET_RAW, SYS_CHROOT, SETFCAP, SETPCAP, FSETID and AUDIT_WRITE.
func DefaultCapabilities() []string {
	return []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"}
}

// The defaults of a ContainerPolicy.
const (
	DefaultMaxProcesses = 4096
	DefaultMaxLogBytes  = 30 << 20
)

// TLSFiles are the paths of PEM files.
type TLSFiles struct {
	// CA that signed the certificate of the host. Empty: the authorities that the system trusts.
	CA string
	// Cert and Key to authenticate with. Both empty: no client certificate.
	Cert, Key string
}

// SSHFiles are the paths of files for an SSH client.
type SSHFiles struct {
	// IdentityFile is the private key to authenticate with. Empty: the keys of the SSH client and its agent.
	IdentityFile string
	// KnownHostsFile contains the host key, which is always checked. Empty: the file of the SSH client.
	KnownHostsFile string
}
