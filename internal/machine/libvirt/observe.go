// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// found is a domain with its description and its state.
type found struct {
	described

	dom    libvirt.Domain
	state  libvirt.DomainState
	reason int32
}

// record returns the record in the domain's metadata.
func (f *found) record() record { return f.Metadata.Record }

// active reports whether the domain has a process.
func (f *found) active() bool {
	return f.state != libvirt.DomainShutoff && f.state != libvirt.DomainNostate && f.state != libvirt.DomainCrashed
}

// Get implements machine.Driver.
func (d *driver) Get(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	return d.get(ctx, id)
}

func (d *driver) get(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	f, err := d.find(ctx, id)
	if err != nil {
		return machine.Observed{}, err
	}
	return d.observe(ctx, &f)
}

// List implements machine.Driver.
func (d *driver) List(ctx context.Context, installation string) ([]machine.Observed, error) {
	const all = libvirt.ConnectListDomainsActive | libvirt.ConnectListDomainsInactive
	domains, silent, err := d.machines(ctx, installation, all)
	if err != nil {
		return nil, err
	}
	out := make([]machine.Observed, 0, len(domains)+len(silent))
	for i := range domains {
		observed, err := d.observe(ctx, &domains[i])
		if err != nil {
			return nil, err
		}
		out = append(out, observed)
	}
	for _, dom := range silent {
		uid := textOf(dom.UUID)
		out = append(out, machine.Observed{
			Identity: machine.Identity{Installation: installation, UID: uid}, ID: uid, NativeName: dom.Name, Silent: true, State: machine.StateUnknown,
		})
	}
	slices.SortFunc(out, func(a, b machine.Observed) int { return strings.Compare(a.UID, b.UID) })
	return out, nil
}

// machines returns the domains of the installation, sorted by UID, and those of which libvirt tells nothing in time: one that hangs must not keep the others
// from being seen.
func (d *driver) machines(
	ctx context.Context, installation string, which libvirt.ConnectListAllDomainsFlags,
) (out []found, silent []libvirt.Domain, err error) {
	if installation == "" {
		return nil, nil, nil
	}
	domains, err := d.domains(ctx, which)
	if err != nil {
		return nil, nil, err
	}
	out = make([]found, 0, len(domains))
	for _, dom := range domains {
		f, late, err := machine.Briefly(ctx, func(ctx context.Context) (found, error) { return d.look(ctx, dom) })
		switch r := f.record(); {
		case late:
			silent = append(silent, dom)
		case errors.Is(err, machine.ErrNotFound):
		case err != nil:
			return nil, nil, err
		case r.ours(f.UUID) && r.Installation == installation:
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b found) int { return strings.Compare(a.record().UID, b.record().UID) })
	return out, silent, nil
}

// holders returns all domains if one of the disks is a volume that their guests may hold, or write to. ErrBusy if libvirt does not tell of one in time: on the
// connection that starts and stops guests, nobody must wait for it.
func (d *driver) holders(ctx context.Context, guest []guestDisk) ([]found, error) {
	if !slices.ContainsFunc(guest, guestDisk.namesVolume) {
		return nil, nil
	}
	domains, err := d.domains(ctx, 0)
	if err != nil {
		return nil, err
	}
	out := make([]found, 0, len(domains))
	for _, dom := range domains {
		f, late, err := machine.Briefly(ctx, func(ctx context.Context) (found, error) { return d.look(ctx, dom) })
		switch {
		case late:
			return nil, fmt.Errorf("%w: domain %q does not answer, so that nobody knows whether its guest writes to what the spec names: repair or end it",
				machine.ErrBusy, dom.Name)
		case errors.Is(err, machine.ErrNotFound):
		case err != nil:
			return nil, err
		default:
			out = append(out, f)
		}
	}
	return out, nil
}

// domains lists the domains of the host.
func (d *driver) domains(ctx context.Context, which libvirt.ConnectListAllDomainsFlags) ([]libvirt.Domain, error) {
	domains, err := call(ctx, d.looking, func(api *libvirt.Libvirt) ([]libvirt.Domain, error) {
		domains, _, err := api.ConnectListAllDomains(1, which)
		return domains, err
	})
	return domains, explain(ctx, "list domains", err)
}

// find returns the domain of the machine, ErrNotFound if there is none or if it belongs to another installation.
func (d *driver) find(ctx context.Context, id machine.Identity) (found, error) {
	f, err := d.holder(ctx, id)
	if err != nil {
		return found{}, err
	}
	if r := f.record(); !r.ours(f.UUID) || r.Installation != id.Installation {
		return found{}, notFound(id)
	}
	return f, nil
}

// holder returns the domain with the UUID, even if it is not ours.
func (d *driver) holder(ctx context.Context, id machine.Identity) (found, error) {
	uuid, ok := uuidOf(id.UID)
	if err := ctx.Err(); !ok && err == nil {
		return found{}, notFound(id)
	}
	dom, err := call(ctx, d.looking, func(api *libvirt.Libvirt) (libvirt.Domain, error) { return api.DomainLookupByUUID(uuid) })
	if is(err, libvirt.ErrNoDomain) {
		return found{}, notFound(id)
	}
	if err != nil {
		return found{}, explain(ctx, fmt.Sprintf("look for machine %q", id.UID), err)
	}
	return d.look(ctx, dom)
}

func notFound(id machine.Identity) error {
	return fmt.Errorf("cannot find the domain of machine %q: %w", id.UID, machine.ErrNotFound)
}

// look reads the current description and state of a domain.
func (d *driver) look(ctx context.Context, dom libvirt.Domain) (found, error) {
	what := fmt.Sprintf("look at domain %q", dom.Name)
	s, err := d.looking.use(ctx)
	if err != nil {
		return found{}, explain(ctx, what, err)
	}
	leave, err := s.enter(ctx, dom.UUID)
	if err != nil {
		return found{}, explain(ctx, what, err)
	}
	f, err := ask(ctx, s, func(api *libvirt.Libvirt) (found, error) {
		defer leave()
		return lookAt(api, dom)
	})
	return f, explain(ctx, what, err)
}

// lookAt reads them in two calls.
func lookAt(api *libvirt.Libvirt, dom libvirt.Domain) (found, error) {
	text, err := api.DomainGetXMLDesc(dom, 0)
	if err != nil {
		return found{}, err
	}
	state, reason, err := api.DomainGetState(dom, 0)
	if err != nil {
		return found{}, err
	}
	out := found{dom: dom, state: libvirt.DomainState(state), reason: reason}
	out.described, err = describe(text)
	return out, err
}

// observe describes a domain as a machine.
func (d *driver) observe(ctx context.Context, f *found) (machine.Observed, error) {
	r := f.record()
	out := machine.Observed{
		Identity: r.identity(), ID: f.UUID, NativeName: f.Name, SpecHash: r.Hash, Disks: r.disks(),
		State: stateOf(f), Resources: f.resources(), StartedAt: r.started(),
	}
	switch out.State {
	case machine.StateStopped, machine.StateCreated: // of a start that failed
		out.Cause = causeOf(f)
	case machine.StatePaused:
		out.Cause = pauseOf(f)
	default:
	}
	if f.state != libvirt.DomainRunning {
		return out, nil
	}
	var err error
	out.Addresses, err = d.addresses(ctx, f)
	return out, err
}

// stateOf maps libvirt's states.
func stateOf(f *found) machine.State {
	switch f.state {
	case libvirt.DomainRunning, libvirt.DomainBlocked:
		return machine.StateRunning
	case libvirt.DomainPaused, libvirt.DomainPmsuspended:
		return machine.StatePaused
	case libvirt.DomainShutdown:
		return machine.StateStopping
	case libvirt.DomainCrashed:
		return machine.StateStopped
	case libvirt.DomainShutoff:
		// If another program started the domain, the record does not show it, but the reason does until the daemon ends.
		reason := libvirt.DomainShutoffReason(f.reason)
		if f.record().Run == "" && (reason == libvirt.DomainShutoffUnknown || reason == libvirt.DomainShutoffFailed) {
			return machine.StateCreated
		}
		return machine.StateStopped
	default:
		return machine.StateUnknown
	}
}

// causeOf returns why a domain is off, empty if it was turned off.
func causeOf(f *found) string {
	if f.state == libvirt.DomainCrashed {
		return "crashed"
	}
	switch libvirt.DomainShutoffReason(f.reason) {
	case libvirt.DomainShutoffCrashed:
		return "crashed"
	case libvirt.DomainShutoffFailed:
		return "could not be started"
	default:
		return ""
	}
}

// pauseOf returns why the host has paused a domain, empty if somebody has asked for it.
func pauseOf(f *found) string {
	if f.state != libvirt.DomainPaused {
		return ""
	}
	switch libvirt.DomainPausedReason(f.reason) {
	case libvirt.DomainPausedIoerror:
		return "I/O error, as of a disk of the host that is full"
	case libvirt.DomainPausedWatchdog:
		return "its watchdog has fired"
	case libvirt.DomainPausedCrashed:
		return "crashed"
	default:
		return ""
	}
}

// addresses returns the addresses of a guest that the host knows: leases of libvirt's networks, and ARP entries for bridges. A guest on a user
// network has no address that others can reach.
func (d *driver) addresses(ctx context.Context, f *found) ([]string, error) {
	var sources []libvirt.DomainInterfaceAddressesSource
	for _, c := range f.Devices.Interfaces {
		switch machine.NetworkType(c.Type) {
		case machine.NetworkNamed:
			sources = append(sources, libvirt.DomainInterfaceAddressesSrcLease)
		case machine.NetworkBridged:
			sources = append(sources, libvirt.DomainInterfaceAddressesSrcArp)
		default:
		}
	}
	slices.Sort(sources)
	var out []string
	for _, source := range slices.Compact(sources) {
		cards, err := call(ctx, d.looking, func(api *libvirt.Libvirt) ([]libvirt.DomainInterface, error) {
			return api.DomainInterfaceAddresses(f.dom, unsigned32(int64(source)), 0)
		})
		if unreachable(err) || ctx.Err() != nil {
			return nil, explain(ctx, fmt.Sprintf("ask for addresses of domain %q", f.Name), err)
		}
		// Any other error only means that there are no addresses: the observation succeeds without them.
		for _, c := range cards {
			for _, address := range c.Addrs {
				out = append(out, address.Addr)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
