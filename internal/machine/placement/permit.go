// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Permit returns the candidates on which machines of the namespace can be placed. ErrNotAllowed if that leaves none of those that
// have the driver and, if a host is wanted, its name; the error names the hosts that the namespace can use.
func Permit(hosts []Candidate, namespace, driver, wanted string) ([]Candidate, error) {
	var permitted []Candidate
	var refused, usable []string
	for _, host := range hosts {
		of := host.Driver == driver
		switch {
		case len(host.Namespaces) == 0 || slices.Contains(host.Namespaces, namespace):
			permitted = append(permitted, host)
			if of {
				usable = append(usable, fmt.Sprintf("%q", host.Name))
			}
		case of && (wanted == "" || wanted == host.Name):
			refused = append(refused, host.Name)
		}
	}
	if len(refused) == 0 || wanted == "" && len(usable) > 0 {
		return permitted, nil
	}
	return nil, fmt.Errorf("%w: namespace %q can use %s", machine.ErrNotAllowed, namespace, listed(usable, driver))
}

// listed returns the hosts in words.
func listed(hosts []string, driver string) string {
	if len(hosts) == 0 {
		return "no host with driver " + driver
	}
	slices.Sort(hosts)
	if more := len(hosts) - maxListed; more > 0 {
		hosts = append(hosts[:maxListed], fmt.Sprintf("and %d more", more))
	}
	return "host " + strings.Join(hosts, ", ")
}
