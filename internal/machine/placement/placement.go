// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Candidate is what a host has and what of it is given away.
type Candidate struct {
	// Name and Driver of the host.
	Name, Driver string
	// Problem says why nothing can be placed there now; empty if the host is well.
	Problem string
	// Capacity that can be given away. What is zero is not known, and does not limit.
	Capacity machine.Resources
	// Allocated is what has been given away already.
	Allocated Allocation
}

// Allocation is what has been given away of a host, to machines that run and to machines that do not.
type Allocation struct {
	Resources machine.Resources
	Machines  int
}

// maxListed bounds how many hosts an error of Choose speaks of.
const maxListed = 5

// Choose chooses the host for a machine of the given size: the one on which the most machines like it still fit; among equals the one
// with the fewest machines, then the first by name. A host that does not know what it has comes after all that do. Wanted
// limits the choice to one host. The order of hosts does not matter.
//
// ErrNoHost if no such host is configured, ErrUnreachable if none of those that are is well, ErrNoCapacity if the machine fits nowhere;
// the error says of every host what is missing there.
func Choose(hosts []Candidate, need machine.Resources, driver, wanted string) (string, error) {
	candidates, err := candidates(hosts, driver, wanted)
	if err != nil {
		return "", err
	}
	var best *Candidate
	var most offer
	for i := range candidates {
		host := &candidates[i]
		if host.Problem != "" {
			continue
		}
		// Candidates come by name, so that among equals the first stays.
		if of := host.offer(need); of.fits > 0 && (best == nil || of.betterThan(most)) {
			best, most = host, of
		}
	}
	if best == nil {
		return "", refuse(candidates, need)
	}
	return best.Name, nil
}

// candidates returns the hosts that may be chosen at all, by name.
func candidates(hosts []Candidate, driver, wanted string) ([]Candidate, error) {
	var out []Candidate
	for _, host := range hosts {
		if wanted != "" && host.Name != wanted {
			continue
		}
		if host.Driver == driver {
			out = append(out, host)
			continue
		}
		if wanted != "" {
			return nil, fmt.Errorf("%w: host %q runs %s machines, not %s ones", machine.ErrNoHost, wanted, host.Driver, driver)
		}
	}
	switch {
	case len(out) > 0:
		slices.SortFunc(out, func(a, b Candidate) int { return cmp.Compare(a.Name, b.Name) })
		return out, nil
	case wanted != "":
		return nil, fmt.Errorf("%w: there is none called %q", machine.ErrNoHost, wanted)
	default:
		return nil, fmt.Errorf("%w: there is none for %s machines", machine.ErrNoHost, driver)
	}
}

// offer is what a host has for a machine of a certain size.
type offer struct {
	fits     int64 // how many such machines it still takes
	known    bool  // whether that was counted, or is only not known to be otherwise
	machines int
}

func (o offer) betterThan(other offer) bool {
	switch {
	case o.known != other.known:
		return o.known
	case o.fits != other.fits:
		return o.fits > other.fits
	default:
		return o.machines < other.machines
	}
}

func (c Candidate) offer(need machine.Resources) offer {
	// A machine without limits fits everywhere.
	of := offer{fits: math.MaxInt64, known: need == machine.Resources{}, machines: c.Allocated.Machines}
	for _, d := range dimensions(c.Capacity, c.Allocated.Resources, need) {
		if d.need > 0 && d.capacity > 0 {
			of.fits, of.known = min(of.fits, max(0, d.free())/d.need), true
		}
	}
	return of
}

// dimension is one of the resources of a host in the light of a machine's need.
type dimension struct {
	capacity, used, need int64
	noun                 string
	show                 func(int64) string
}

func (d dimension) free() int64 { return d.capacity - d.used }

func dimensions(capacity, used, need machine.Resources) []dimension {
	return []dimension{
		{capacity.MilliCPU, used.MilliCPU, need.MilliCPU, "CPU", formatMilli},
		{capacity.MemoryBytes, used.MemoryBytes, need.MemoryBytes, "memory", formatBytes},
		{capacity.RootDiskBytes, used.RootDiskBytes, need.RootDiskBytes, "disk", formatBytes},
	}
}

// refuse says why none of the hosts takes the machine.
func refuse(hosts []Candidate, need machine.Resources) error {
	kind, reasons := machine.ErrUnreachable, make([]string, 0, len(hosts))
	for _, host := range hosts {
		if host.Problem != "" {
			reasons = append(reasons, fmt.Sprintf("%s is not well (%s)", host.Name, host.Problem))
			continue
		}
		kind = machine.ErrNoCapacity
		reasons = append(reasons, host.lacks(need))
	}
	if more := len(reasons) - maxListed; more > 0 {
		reasons = append(reasons[:maxListed], fmt.Sprintf("and %d more hosts", more))
	}
	return fmt.Errorf("%w: %s", kind, strings.Join(reasons, "; "))
}

// lacks says what is missing on a host that cannot take the machine.
func (c Candidate) lacks(need machine.Resources) string {
	var missing []string
	for _, d := range dimensions(c.Capacity, c.Allocated.Resources, need) {
		if d.capacity == 0 || d.need <= d.free() {
			continue
		}
		missing = append(missing, fmt.Sprintf("%s %s of %s free, %s needed",
			d.noun, d.show(max(0, d.free())), d.show(d.capacity), d.show(d.need)))
	}
	return fmt.Sprintf("%s has %s", c.Name, strings.Join(missing, " and "))
}
