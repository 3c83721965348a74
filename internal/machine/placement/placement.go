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

// Candidate is a host with its capacity and what is allocated of it.
type Candidate struct {
	// Name and Driver of the host.
	Name, Driver string
	// Namespaces are those whose machines can be placed on the host. None: all.
	Namespaces []string
	// Problem says why nothing can be placed on the host now; empty if something can. Up says that the host answers all the same, and Listed that it
	// has even told what it has, so that nobody has to wait for it.
	Problem    string
	Up, Listed bool
	// Capacity that can be allocated. A field that is zero is unknown and limits nothing.
	Capacity machine.Resources
	// Quota is the part of the capacity that the hosts file sets. A machine needs a size for what it names.
	Quota machine.Resources
	// Allocated is what machines have of it already.
	Allocated Allocation
}

// Allocation is the sum of what machines have of a host, whether they run or not.
type Allocation struct {
	Resources machine.Resources
	Machines  int
}

// Plus returns the sum of two allocations.
func (a Allocation) Plus(b Allocation) Allocation {
	a.Machines += b.Machines
	a.Resources.MilliCPU += b.Resources.MilliCPU
	a.Resources.MemoryBytes += b.Resources.MemoryBytes
	a.Resources.RootDiskBytes += b.Resources.RootDiskBytes
	return a
}

// maxListed is how many hosts an error of Choose names.
const maxListed = 5

// Choose returns the name of the host for a machine that needs these resources: the host on which the most machines of this size
// still fit. Among equals it is the one with the fewest machines, then the first by name. A host with unknown capacity comes after
// all others. A wanted host limits the choice to that one. The order of the candidates does not matter.
//
// ErrNoHost if no such host is configured, ErrUnreachable if none of them is up and has listed what it has, ErrNoCapacity if the machine fits on none; the
// error says for every host what is missing.
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
		// Candidates are sorted by name: among equals the first stays.
		if of := host.offer(need); of.fits > 0 && (best == nil || of.betterThan(most)) {
			best, most = host, of
		}
	}
	if best == nil {
		return "", refuse(candidates, need)
	}
	return best.Name, nil
}

// candidates returns the hosts to choose from, sorted by name.
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
			return nil, fmt.Errorf("%w: host %q has driver %s, not %s", machine.ErrNoHost, wanted, host.Driver, driver)
		}
	}
	switch {
	case len(out) > 0:
		slices.SortFunc(out, func(a, b Candidate) int { return cmp.Compare(a.Name, b.Name) })
		return out, nil
	case wanted != "":
		return nil, fmt.Errorf("%w: %q", machine.ErrNoHost, wanted)
	default:
		return nil, fmt.Errorf("%w: no host has driver %s", machine.ErrNoHost, driver)
	}
}

// offer is what a host has for machines of a certain size.
type offer struct {
	fits     int64 // how many of them still fit
	known    bool  // whether fits was computed; it was not if the capacity is unknown
	machines int   // how many machines of any size are there
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
	if len(c.unsized(need)) > 0 {
		return offer{}
	}
	for _, d := range dimensions(c.Capacity, c.Allocated.Resources, need) {
		if d.need > 0 && d.capacity > 0 {
			of.fits, of.known = min(of.fits, max(0, d.free())/d.need), true
		}
	}
	return of
}

// dimension is one resource of a host, and what a machine needs of it.
type dimension struct {
	capacity, used, need int64
	noun, field          string
	// endless says that a machine without a size has no limit, so that any size is less.
	endless bool
	show    func(int64) string
}

func (d dimension) free() int64 { return d.capacity - d.used }

func dimensions(capacity, used, need machine.Resources) []dimension {
	return []dimension{
		{capacity.MilliCPU, used.MilliCPU, need.MilliCPU, "CPU", "resource.cpu", true, formatMilli},
		{capacity.MemoryBytes, used.MemoryBytes, need.MemoryBytes, "memory", "resource.memory", true, formatBytes},
		{capacity.RootDiskBytes, used.RootDiskBytes, need.RootDiskBytes, "disk", "resource.rootDisk", false, formatBytes},
	}
}

// unsized returns the fields that the machine leaves out and the hosts file limits: without them, it could use the whole host and take no
// room. The root disk of a guest has a size in any case, that of its image.
func (c Candidate) unsized(need machine.Resources) []string {
	var fields []string
	if c.Quota.MilliCPU > 0 && need.MilliCPU == 0 {
		fields = append(fields, "resource.cpu")
	}
	if c.Quota.MemoryBytes > 0 && need.MemoryBytes == 0 {
		fields = append(fields, "resource.memory")
	}
	return fields
}

// Grow reports with ErrNoCapacity that the hosts file leaves no room for a machine that has one size to get another. Allocated is what the
// other machines have. What the machine does not get more of is not compared: a host that has too much already lets it shrink. What only
// the host itself limits, its driver refuses.
func (c Candidate) Grow(have, want machine.Resources) error {
	if fields := c.unsized(want); len(fields) > len(c.unsized(have)) {
		return fmt.Errorf("%w: %s", machine.ErrNoCapacity, c.lacks(want))
	}
	var refusals []string
	before := dimensions(c.Quota, c.Allocated.Resources, have)
	for i, d := range dimensions(c.Quota, c.Allocated.Resources, want) {
		grows := d.need > before[i].need && (before[i].need > 0 || !d.endless)
		if grows && d.capacity > 0 && d.need > d.free() {
			refusals = append(refusals, fmt.Sprintf("%s is %s, host %q has a capacity of %s, and other machines use %s of it",
				d.field, d.show(d.need), c.Name, d.show(d.capacity), d.show(d.used)))
		}
	}
	if len(refusals) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", machine.ErrNoCapacity, strings.Join(refusals, "; "))
}

// Holds reports whether the host has room, as far as that is known, for what a machine of one size takes more with another one.
func (c Candidate) Holds(have, want machine.Resources) bool {
	before := dimensions(c.Capacity, c.Allocated.Resources, have)
	for i, d := range dimensions(c.Capacity, c.Allocated.Resources, want) {
		if d.need > before[i].need && d.capacity > 0 && d.need > d.free() {
			return false
		}
	}
	return true
}

// refuse returns the error that says why the machine fits on none of the hosts.
func refuse(hosts []Candidate, need machine.Resources) error {
	kind, reasons := machine.ErrUnreachable, make([]string, 0, len(hosts))
	for _, host := range hosts {
		if host.Problem != "" {
			state := "is down"
			if host.Up {
				state = "does not take machines now"
			}
			if host.Listed {
				kind = machine.ErrNoCapacity
			}
			reasons = append(reasons, fmt.Sprintf("host %q %s (%s)", host.Name, state, host.Problem))
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

// lacks says what the host lacks for the machine.
func (c Candidate) lacks(need machine.Resources) string {
	if fields := c.unsized(need); len(fields) > 0 {
		return fmt.Sprintf("host %q takes machines with %s only, because its capacity is limited", c.Name, strings.Join(fields, " and "))
	}
	var missing []string
	for _, d := range dimensions(c.Capacity, c.Allocated.Resources, need) {
		if d.capacity == 0 || d.need <= d.free() {
			continue
		}
		missing = append(missing, fmt.Sprintf("%s of %s %s free, %s needed",
			d.show(max(0, d.free())), d.show(d.capacity), d.noun, d.show(d.need)))
	}
	return fmt.Sprintf("host %q has %s", c.Name, strings.Join(missing, " and "))
}
