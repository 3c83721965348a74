// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"github.com/windlass-operator/windlass/internal/machine"
)

// allowRegistry refuses to fetch an image from a registry that the policy does not allow: the engine would send
// requests there on behalf of the user who names the image.
func allowRegistry(name reference.Named, policy machine.ContainerPolicy) error {
	registry := reference.Domain(name)
	switch {
	case policy.Registries == nil && !isLocal(registry):
		return nil
	case policy.Registries == nil:
		return fmt.Errorf("%w: registry %.255q is on the host itself or on its link: put the image on the host, or have the administrator "+
			"name the registry in containers.registries of the hosts file", machine.ErrNotAllowed, registry)
	case slices.Contains(policy.Registries, strings.ToLower(registry)):
		return nil
	default:
		return fmt.Errorf("%w: the host fetches images from %s only, not from %.255q", machine.ErrNotAllowed,
			strings.Join(policy.Registries, ", "), registry)
	}
}

// isLocal reports whether the name of a registry says that it is on a loopback, link-local, unspecified or multicast address. A resolver
// reads a name that ends in a number as an address in one of many spellings (127.1, 0x7f.1, 2130706433), so such names count as well.
func isLocal(registry string) bool {
	host := registry
	if name, _, err := net.SplitHostPort(registry); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if address, err := netip.ParseAddr(host); err == nil {
		address = address.Unmap()
		return address.IsLoopback() || address.IsLinkLocalUnicast() || address.IsUnspecified() || address.IsMulticast()
	}
	last := host[strings.LastIndex(host, ".")+1:]
	return last == "localhost" || last == "localdomain" || endsInNumber(last)
}

// endsInNumber reports whether the last label of a name is a number, in decimal, octal or hexadecimal.
func endsInNumber(label string) bool {
	if digits, hex := strings.CutPrefix(label, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
