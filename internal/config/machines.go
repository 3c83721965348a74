// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Machines configures how Windlass manages VirtualMachines.
type Machines struct {
	// Driver is what runs VirtualMachines that name none: docker, libvirt or simulated. Without a file of hosts it also says which
	// host there is: the one that DOCKER_HOST, DOCKER_TLS_VERIFY and DOCKER_CERT_PATH describe, this machine's libvirt, or a
	// simulated one. Default: docker.
	Driver string

	// Hosts is the path of a file that lists the hosts. Default: empty, the one host of Driver.
	Hosts string

	// Installation identifies the machines of this installation on hosts that others share. Default: empty, the UID of the namespace
	// kube-system of the cluster.
	Installation string

	// OrphanPolicy says what becomes of machines of this installation that no VirtualMachine stands for: report or delete.
	// Default: report.
	OrphanPolicy string

	// OrphanGrace is how long such a machine is watched before it is deleted. Default: 10 min.
	OrphanGrace time.Duration

	// UsageInStatus says how usage gets into the status: off, coarse (when it has moved by ten points, or is five minutes old) or
	// every (with each sample). Metrics are always fresh. Default: coarse.
	UsageInStatus string

	// SamplePeriod is how often usage is read, from 1 s to 5 min. Default: 15 s.
	SamplePeriod time.Duration
}

// What flags can be set to.
func drivers() []string        { return []string{"docker", "libvirt", "simulated"} }
func orphanPolicies() []string { return []string{"report", DeleteOrphans} }
func usageModes() []string     { return []string{"off", "coarse", "every"} }

// DeleteOrphans is the policy that removes machines which no object stands for.
const DeleteOrphans = "delete"

func defaultMachines() Machines {
	return Machines{
		Driver: "docker", OrphanPolicy: "report", OrphanGrace: 10 * time.Minute, UsageInStatus: "coarse", SamplePeriod: 15 * time.Second,
	}
}

// BindHostFlags adds the flags that say where machines run.
func (m *Machines) BindHostFlags(fs *pflag.FlagSet) {
	fs.StringVar(&m.Driver, "vm-driver", m.Driver,
		"`driver` of VirtualMachines that name none: docker, libvirt or simulated; without --vm-hosts also the one host that there is")
	fs.StringVar(&m.Hosts, "vm-hosts", m.Hosts,
		"`file` that lists the hosts of VirtualMachines (default: one host, with the driver docker as DOCKER_HOST,\n"+
			"DOCKER_TLS_VERIFY and DOCKER_CERT_PATH describe it)")
}

func (m *Machines) bindFlags(fs *pflag.FlagSet) {
	m.BindHostFlags(fs)
	fs.StringVar(&m.Installation, "installation", m.Installation,
		"`UID` of the namespace kube-system of the cluster whose machines are managed, after a restore into another cluster\n"+
			"(default: that of this cluster)")
	fs.StringVar(&m.OrphanPolicy, "orphan-policy", m.OrphanPolicy,
		"what becomes of machines that no VirtualMachine stands for: `report|delete`")
	fs.DurationVar(&m.OrphanGrace, "orphan-grace", m.OrphanGrace, "`duration` for which such a machine is watched before it is deleted")
	fs.StringVar(&m.UsageInStatus, "usage-in-status", m.UsageInStatus,
		"when usage is written into the status: `off|coarse|every`; coarse is when it has moved by ten points or is five minutes old")
	fs.DurationVar(&m.SamplePeriod, "vm-sample-period", m.SamplePeriod, "`duration` between two readings of usage, from 1s to 5m")
}

// Validate returns an error for every wrong value.
func (m *Machines) Validate() error { return errors.Join(m.validate()...) }

func (m *Machines) validate() []error {
	var errs []error
	for _, choice := range []struct {
		flag, value string
		known       []string
	}{
		{"--vm-driver", m.Driver, drivers()},
		{"--orphan-policy", m.OrphanPolicy, orphanPolicies()},
		{"--usage-in-status", m.UsageInStatus, usageModes()},
	} {
		if !slices.Contains(choice.known, choice.value) {
			errs = append(errs, fmt.Errorf("%s %q is not known: there are %s", choice.flag, choice.value, strings.Join(choice.known, ", ")))
		}
	}
	if m.OrphanGrace <= 0 {
		errs = append(errs, fmt.Errorf("--orphan-grace is %s and must be more than 0", m.OrphanGrace))
	}
	if m.SamplePeriod < time.Second || m.SamplePeriod > 5*time.Minute {
		errs = append(errs, fmt.Errorf("--vm-sample-period is %s and must be from 1s to 5m", m.SamplePeriod))
	}
	return errs
}
