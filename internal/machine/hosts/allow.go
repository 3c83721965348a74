// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/internal/machine"
)

// maxAllowed is how many entries each list of what containers are allowed can have.
const maxAllowed = 64

// capability matches the name of a capability; the prefix is optional.
var capability = regexp.MustCompile(`^(CAP_)?([A-Z][A-Z_]{0,39})$`)

// capabilities returns the names without their prefix, and every problem with them. An empty list stays one: it means none.
func capabilities(names []string) ([]string, []error) {
	errs := tooMany("capabilities", len(names))
	out := make([]string, 0, len(names))
	for i, name := range names {
		match := capability.FindStringSubmatch(name)
		if match == nil {
			errs = append(errs, fmt.Errorf("containers.capabilities[%d] %.64q is not a capability: use a name like NET_RAW", i, name))
			continue
		}
		out = append(out, match[2])
	}
	return out, errs
}

// registryHost matches a host, with or without a port.
var registryHost = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)

// registries checks the hosts of registries.
func registries(names []string) ([]string, []error) {
	errs := tooMany("registries", len(names))
	if len(names) == 0 {
		errs = append(errs, errors.New("containers.registries is empty: name at least one, or leave registries out for the default"))
	}
	for i, name := range names {
		if !registryHost.MatchString(name) {
			errs = append(errs, fmt.Errorf("containers.registries[%d] %.64q is not the host of a registry: use a name like docker.io or registry.example:5000",
				i, name))
		}
	}
	return names, errs
}

// policy returns the entry as a PortPolicy, and every problem with it.
func (e portsEntry) policy() (machine.PortPolicy, []error) {
	var policy machine.PortPolicy
	var errs []error
	if e.Addresses != nil {
		errs = append(errs, tooMany("ports.addresses", len(*e.Addresses))...)
		policy.Addresses = make([]netip.Addr, 0, len(*e.Addresses))
		for i, text := range *e.Addresses {
			address, err := netip.ParseAddr(text)
			if err != nil {
				errs = append(errs, fmt.Errorf("containers.ports.addresses[%d] %.64q is not an IP address", i, text))
				continue
			}
			policy.Addresses = append(policy.Addresses, address.Unmap())
		}
	}
	if e.Range != "" {
		first, last, _ := strings.Cut(e.Range, "-")
		from, fromErr := strconv.ParseUint(first, 10, 16)
		to, toErr := strconv.ParseUint(last, 10, 16)
		if errors.Join(fromErr, toErr) != nil || from == 0 || from > to {
			errs = append(errs, fmt.Errorf("containers.ports.range is %.64q: must be two ports like 30000-32767", e.Range))
		}
		policy.First, policy.Last = uint16(from), uint16(to)
	}
	return policy, errs
}

// networkName matches the names that engines accept, but for their length: a count in the expression is compiled to as many copies, in every
// start of the manager.
var networkName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)

// maxNetworkName is the longest name of a network, in bytes.
const maxNetworkName = 255

// checkNetworks checks the names of networks, by namespace.
func checkNetworks(networks map[string]string) []error {
	var errs []error
	if len(networks) > maxNamespaces {
		errs = append(errs, fmt.Errorf("containers.networks has %d entries: must have at most %d", len(networks), maxNamespaces))
	}
	for _, namespace := range slices.Sorted(maps.Keys(networks)) {
		name := networks[namespace]
		if namespace != machine.AllNamespaces && len(validation.IsDNS1123Label(namespace)) > 0 {
			errs = append(errs, fmt.Errorf("containers.networks has the key %.64q: must be the name of a namespace, or * for all others", namespace))
		}
		if len(name) > maxNetworkName || !networkName.MatchString(name) {
			errs = append(errs, fmt.Errorf("containers.networks[%.64q] is %.64q: must be the name of a network", namespace, name))
		}
		if name == "host" {
			errs = append(errs, fmt.Errorf("containers.networks[%.64q] is host: containers must not share the network of their host", namespace))
		}
	}
	return errs
}

func tooMany(field string, n int) []error {
	if n > maxAllowed {
		return []error{fmt.Errorf("containers.%s has %d entries: must have at most %d", field, n, maxAllowed)}
	}
	return nil
}
