// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// obeyLimit is how long a guest can take to give memory back or to accept it. Then the change waits for the next start.
const obeyLimit = 10 * time.Second

// Resize implements machine.Driver. It always changes the size at the next start, and the current size if possible.
func (d *driver) Resize(ctx context.Context, id machine.Identity, to machine.Resources) error {
	f, err := d.find(ctx, id)
	if err != nil {
		return err
	}
	host, err := d.host(ctx)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("resize domain %q", f.Name)
	if err := host.checkSize(to); err != nil {
		return fmt.Errorf("cannot %s: %w", what, err)
	}
	text, err := call(ctx, d.looking, func(api *libvirt.Libvirt) (string, error) {
		return api.DomainGetXMLDesc(f.dom, libvirt.DomainXMLInactive)
	})
	if err != nil {
		return explain(ctx, what, err)
	}
	next, err := describe(text)
	if err != nil {
		return err
	}
	to.RootDiskBytes = cmp.Or(to.RootDiskBytes, next.resources().RootDiskBytes)
	if to.RootDiskBytes != next.resources().RootDiskBytes {
		if err := d.growRoot(ctx, &f, to.RootDiskBytes); err != nil {
			return explain(ctx, what, err)
		}
	}
	size := host.limits(to)
	if next.resources() != to {
		if err := d.resizeNext(ctx, &f, &next, size, to); err != nil {
			return explain(ctx, what, err)
		}
	}
	if !f.active() || f.resources() == to {
		return nil
	}
	return explain(ctx, what, d.resizeNow(ctx, &f, size, to))
}

// resizeNext changes the size at the next start. A maximum is raised before its current value and lowered after it.
func (d *driver) resizeNext(ctx context.Context, f *found, next *described, size limits, to machine.Resources) error {
	const vcpuConfig, memoryConfig = uint32(libvirt.DomainVCPUConfig), uint32(libvirt.DomainMemConfig)
	err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
		setVCPUs := func(n int64, flags uint32) error {
			return api.DomainSetVcpusFlags(f.dom, unsigned32(n), flags)
		}
		setMemory := func(kib int64, flags uint32) error {
			return api.DomainSetMemoryFlags(f.dom, unsigned(kib), flags)
		}
		steps := []func() error{
			func() error { return setVCPUs(size.vcpus, vcpuConfig) },
			func() error { return setVCPUs(size.maxVCPUs, vcpuConfig|uint32(libvirt.DomainVCPUMaximum)) },
			func() error { return setMemory(size.kib, memoryConfig) },
			func() error { return setMemory(size.maxKiB, memoryConfig|uint32(libvirt.DomainMemMaximum)) },
		}
		if size.vcpus > next.VCPU.Maximum {
			steps[0], steps[1] = steps[1], steps[0]
		}
		if size.kib > next.Memory.Value {
			steps[2], steps[3] = steps[3], steps[2]
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		return setQuota(api, f.dom, next.CPUTune.Quota, size.quota, libvirt.DomainAffectConfig)
	})
	if err != nil {
		return err
	}
	return d.keep(ctx, f.dom, next.Metadata.Record.sized(to), libvirt.DomainAffectConfig)
}

// setQuota changes the quota of processor time if it differs.
func setQuota(api *libvirt.Libvirt, dom libvirt.Domain, from, to int64, where libvirt.DomainModificationImpact) error {
	from = max(from, 0) // libvirt also writes -1 for none.
	if from == to {
		return nil
	}
	if to == 0 {
		to = -1
	}
	return api.DomainSetSchedulerParametersFlags(dom, []libvirt.TypedParam{
		{Field: libvirt.DomainSchedulerGlobalPeriod, Value: *libvirt.NewTypedParamValueUllong(quotaPeriod)},
		{Field: libvirt.DomainSchedulerGlobalQuota, Value: *libvirt.NewTypedParamValueLlong(to)},
	}, unsigned32(int64(where)))
}

// resizeNow changes the current size. ErrRestartRequired if the domain cannot have that size while it runs, or its guest does not follow.
func (d *driver) resizeNow(ctx context.Context, f *found, size limits, to machine.Resources) error {
	if size.vcpus > f.VCPU.Maximum || size.kib > f.Memory.Value {
		return fmt.Errorf("%w: while it runs it can have at most %d CPUs and %d KiB of memory", machine.ErrRestartRequired,
			f.VCPU.Maximum, f.Memory.Value)
	}
	err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
		if size.vcpus != f.VCPU.now() {
			if err := setLiveVCPUs(api, f.dom, size.vcpus); err != nil {
				return err
			}
		}
		if size.kib != f.CurrentMemory.Value {
			if err := api.DomainSetMemoryFlags(f.dom, unsigned(size.kib), uint32(libvirt.DomainMemLive)); err != nil {
				return err
			}
		}
		return setQuota(api, f.dom, f.CPUTune.Quota, size.quota, libvirt.DomainAffectLive)
	})
	if err != nil && (ctx.Err() != nil || unreachable(err)) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", machine.ErrRestartRequired, err)
	}
	if err := d.obeyed(ctx, f, size); err != nil {
		return err
	}
	return d.keep(ctx, f.dom, f.Metadata.Record.sized(to), libvirt.DomainAffectLive)
}

// setLiveVCPUs adds processors, or asks the guest to give some back. libvirt waits for that only a few seconds, so the caller has to check.
func setLiveVCPUs(api *libvirt.Libvirt, dom libvirt.Domain, n int64) error {
	err := api.DomainSetVcpusFlags(dom, unsigned32(n), uint32(libvirt.DomainVCPULive))
	if is(err, libvirt.ErrOperationTimeout) {
		return nil
	}
	return err
}

// obeyed waits until the guest has the size, which takes its kernel's cooperation.
func (d *driver) obeyed(ctx context.Context, f *found, size limits) error {
	waiting, cancel := context.WithTimeout(ctx, obeyLimit)
	defer cancel()
	tick := time.NewTicker(stopPoll)
	defer tick.Stop()
	for {
		now, err := d.look(ctx, f.dom)
		if err != nil {
			return err
		}
		if now.VCPU.now() == size.vcpus && now.CurrentMemory.Value == size.kib {
			return nil
		}
		select {
		case <-tick.C:
		case <-waiting.Done():
			if errors.Is(ctx.Err(), waiting.Err()) {
				return ctx.Err()
			}
			return fmt.Errorf("%w: its guest still has %d CPUs and %d KiB of memory", machine.ErrRestartRequired,
				now.VCPU.now(), now.CurrentMemory.Value)
		}
	}
}
