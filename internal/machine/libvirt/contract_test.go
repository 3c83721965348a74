// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	golibvirt "github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/contract"
	"github.com/windlass-operator/windlass/internal/machine/libvirt"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// mock is libvirt's own hypervisor for tests: guests are entries in the daemon's memory, all else is real. It is gone with the last
// connection to it.
const mock = "test:///default"

// mockPool is the only pool that mock has.
const mockPool = "pool=default-pool"

func TestContract(t *testing.T) {
	t.Parallel()
	for name, parameters := range map[string][]string{
		"memory stays as it is while a guest runs": {mockPool},
		"memory can grow while a guest runs":       {mockPool, "headroom=2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			daemon := libvirttest.Start(t)
			api := daemon.Dial(t, mock)
			makeImages(t, api)
			// The mock's machines do not survive its daemon, so it is the way there that is cut.
			way := libvirttest.NewProxy(t, daemon)
			contract.Run(t, subject(t, api, way, libvirttest.HostAt(way.Socket(), mock, parameters...)))
		})
	}
}

func subject(t *testing.T, api *golibvirt.Libvirt, way *libvirttest.Proxy, host machine.Host) contract.Subject {
	t.Helper()
	return contract.Subject{
		Driver: open(t, host),
		Again:  func(t *testing.T) machine.Driver { t.Helper(); return open(t, host) },
		Spec:   specOf,
		// Nothing is ever fetched, so that nothing can be refused.
		MissingImage: "images/missing.img",
		Kill: func(t *testing.T, id machine.Identity) {
			t.Helper()
			if err := api.DomainDestroy(domainOf(t, api, id)); err != nil {
				t.Fatal(err)
			}
		},
		Remove: func(t *testing.T, id machine.Identity) {
			t.Helper()
			dom := domainOf(t, api, id)
			if state, _, err := api.DomainGetState(dom, 0); err != nil || golibvirt.DomainState(state) != golibvirt.DomainShutoff {
				if err := api.DomainDestroy(dom); err != nil {
					t.Fatal(err)
				}
			}
			if err := api.DomainUndefineFlags(dom, 0); err != nil {
				t.Fatal(err)
			}
		},
		TakeDisks: func(t *testing.T, id machine.Identity) func(*testing.T) { t.Helper(); return takeDisks(t, api, id) },
		Occupy:    func(t *testing.T, id machine.Identity) func(*testing.T) { t.Helper(); return occupy(t, api, id) },
		Cut: func(*testing.T) func(*testing.T) {
			way.Cut()
			return func(t *testing.T) {
				t.Helper()
				if err := way.Mend(); err != nil {
					t.Fatal(err)
				}
			}
		},
		// The mock counts a whole processor for whatever runs, and its guests obey their power button at once.
		Load: func(spec machine.Spec) machine.Spec { return spec },
	}
}

// specOf returns a guest with a disk of each kind.
func specOf(id machine.Identity) machine.Spec {
	return machine.Spec{
		Identity:  id,
		Hash:      "hash-of-" + id.UID,
		Resources: machine.Resources{MilliCPU: 1000, MemoryBytes: 64_000_000, RootDiskBytes: 2 << 30},
		Image:     machine.Image{Name: "images/base.img", PullPolicy: machine.PullIfNotPresent},
		Disks: []machine.Disk{
			{Name: "data", SizeBytes: 1 << 20},
			{Name: "shared", Source: "images/base.img", ReadOnly: true},
		},
	}
}

func open(t *testing.T, host machine.Host) machine.Driver {
	t.Helper()
	driver, err := libvirt.Open(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	return driver
}

// makeImages makes a pool with an image. The mock looks for the original of a copy in the pool of the copy, so that it has to be there, too.
func makeImages(t *testing.T, api *golibvirt.Libvirt) {
	t.Helper()
	images, err := api.StoragePoolCreateXML("<pool type='dir'><name>images</name><target><path>/images</path></target></pool>", 0)
	if err != nil {
		t.Fatal(err)
	}
	made, err := api.StoragePoolLookupByName("default-pool")
	if err != nil {
		t.Fatal(err)
	}
	for _, pool := range []golibvirt.StoragePool{images, made} {
		if _, err := api.StorageVolCreateXML(pool, "<volume><name>base.img</name><capacity>1073741824</capacity></volume>", 0); err != nil {
			t.Fatal(err)
		}
	}
}

// domainOf returns the domain of a machine.
func domainOf(t *testing.T, api *golibvirt.Libvirt, id machine.Identity) golibvirt.Domain {
	t.Helper()
	domains, _, err := api.ConnectListAllDomains(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, dom := range domains {
		if fmt.Sprintf("%x-%x-%x-%x-%x", dom.UUID[:4], dom.UUID[4:6], dom.UUID[6:8], dom.UUID[8:10], dom.UUID[10:]) == id.UID {
			return dom
		}
	}
	t.Fatalf("there is no domain of machine %q", id.UID)
	return golibvirt.Domain{}
}

// takeDisks removes the volumes that were made for a machine, and returns a function that makes volumes like them: the mock's have no
// content.
func takeDisks(t *testing.T, api *golibvirt.Libvirt, id machine.Identity) func(*testing.T) {
	t.Helper()
	pool, err := api.StoragePoolLookupByName("default-pool")
	if err != nil {
		t.Fatal(err)
	}
	volumes, _, err := api.StoragePoolListAllVolumes(pool, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	var taken []string
	for _, volume := range volumes {
		if !strings.Contains(volume.Name, id.UID) {
			continue
		}
		text, err := api.StorageVolGetXMLDesc(volume, 0)
		if err == nil {
			err = api.StorageVolDelete(volume, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, text)
	}
	return func(t *testing.T) {
		t.Helper()
		for _, text := range taken {
			if _, err := api.StorageVolCreateXML(pool, text, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// occupy makes a foreign domain that runs, and returns a check that it still does.
func occupy(t *testing.T, api *golibvirt.Libvirt, id machine.Identity) func(*testing.T) {
	t.Helper()
	name := fmt.Sprintf("%s-%s-%.8s", id.Namespace, id.Name, id.UID)
	text := fmt.Sprintf(`<domain type='test'><name>%s</name><title>%s</title><memory>1024</memory><os><type>hvm</type></os></domain>`,
		name, rand.Text())
	made, err := api.DomainDefineXMLFlags(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := api.DomainDestroy(made); err != nil {
			t.Error(err)
		}
		if err := api.DomainUndefineFlags(made, 0); err != nil {
			t.Error(err)
		}
	})
	running, err := api.DomainCreateWithFlags(made, 0)
	if err != nil {
		t.Fatal(err)
	}
	before, err := api.DomainGetXMLDesc(running, 0)
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T) {
		t.Helper()
		if now, err := api.DomainGetXMLDesc(running, 0); err != nil || now != before {
			t.Errorf("the foreign domain was\n%s\nand is\n%s, %v", before, now, err)
		}
	}
}
