// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"fmt"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Stats implements machine.Driver. One call reads the counters of all domains.
func (d *driver) Stats(ctx context.Context, installation string) (map[string]machine.Sample, error) {
	domains, _, err := d.machines(ctx, installation, libvirt.ConnectListDomainsActive)
	if err != nil || len(domains) == 0 {
		return nil, err
	}
	counters, err := d.counters(ctx, domains)
	if err != nil {
		return nil, err
	}
	out := make(map[string]machine.Sample, len(domains))
	for i := range domains {
		sample, ok := sampleOf(&domains[i], counters[domains[i].dom.UUID])
		if !ok {
			if sample, ok, err = d.info(ctx, &domains[i]); err != nil {
				return nil, err
			}
		}
		if ok && domains[i].active() {
			sample.At = d.clock.Now()
			out[domains[i].record().UID] = sample
		}
	}
	return out, nil
}

// counters reads the counters of domains without waiting for busy ones.
func (d *driver) counters(ctx context.Context, domains []found) (map[libvirt.UUID]map[string]uint64, error) {
	asked := make([]libvirt.Domain, len(domains))
	for i := range domains {
		asked[i] = domains[i].dom
	}
	const what = uint32(libvirt.DomainStatsState | libvirt.DomainStatsCPUTotal | libvirt.DomainStatsBalloon)
	records, err := call(ctx, d.looking, func(api *libvirt.Libvirt) ([]libvirt.DomainStatsRecord, error) {
		records, err := api.ConnectGetAllDomainStats(asked, what, uint32(libvirt.ConnectGetAllDomainsStatsNowait))
		if is(err, libvirt.ErrInvalidArg, libvirt.ErrArgumentUnsupported) { // Not every hypervisor supports the flag.
			return api.ConnectGetAllDomainStats(asked, what, 0)
		}
		return records, err
	})
	if is(err, libvirt.ErrNoDomain, libvirt.ErrNoSupport) {
		return nil, nil // A domain has just disappeared, or the call is not supported: the caller asks for each domain.
	}
	if err != nil {
		return nil, explain(ctx, "read counters", err)
	}
	out := make(map[libvirt.UUID]map[string]uint64, len(records))
	for _, record := range records {
		values := map[string]uint64{}
		for _, param := range record.Params {
			if value, ok := param.Value.I.(uint64); ok {
				values[param.Field] = value
			}
		}
		out[record.Dom.UUID] = values
	}
	return out, nil
}

// sampleOf converts counters. False if the required ones are missing.
func sampleOf(f *found, values map[string]uint64) (machine.Sample, bool) {
	spent, ok := values["cpu.time"]
	memory := workingSet(values)
	if !ok || memory == 0 {
		return machine.Sample{}, false
	}
	return newSample(f, spent, memory), true
}

func newSample(f *found, nanos, kib uint64) machine.Sample {
	return machine.Sample{
		// The ID of a domain changes with every run, but its numbers repeat when the daemon restarts.
		Boot:        f.ID + "/" + f.record().Run,
		CPU:         time.Duration(signed(nanos)),
		MemoryBytes: signed(kib << 10),
		Limits:      f.resources(),
	}
}

// workingSet is the memory that the guest needs, if it reports that. Otherwise it is the memory of its process on the host, up to what the guest
// has.
func workingSet(values map[string]uint64) uint64 {
	available, usable := values["balloon.available"], values["balloon.usable"]
	if available > usable && usable > 0 {
		return available - usable
	}
	current, rss := values["balloon.current"], values["balloon.rss"]
	if rss > 0 && current > 0 {
		return min(rss, current)
	}
	return max(rss, current)
}

// info reads the counters of one domain. False if it has just disappeared.
func (d *driver) info(ctx context.Context, f *found) (machine.Sample, bool, error) {
	sample, err := call(ctx, d.looking, func(api *libvirt.Libvirt) (machine.Sample, error) {
		_, _, kib, _, nanos, err := api.DomainGetInfo(f.dom)
		return newSample(f, nanos, kib), err
	})
	if err != nil && (ctx.Err() != nil || unreachable(err)) {
		return machine.Sample{}, false, explain(ctx, fmt.Sprintf("read counters of domain %q", f.Name), err)
	}
	return sample, err == nil, nil // Counters that cannot be read are left out.
}
