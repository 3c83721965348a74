// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	golibvirt "github.com/digitalocean/go-libvirt"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// create prepares and creates a machine.
func create(t *testing.T, driver machine.Driver, spec machine.Spec) {
	t.Helper()
	wantSuccess(t, "Prepare", driver.Prepare(t.Context(), spec))
	_, err := driver.Create(t.Context(), spec)
	wantSuccess(t, "Create", err)
}

// undefine removes the definition of a domain, as somebody does with virsh, and leaves its volumes.
func undefine(t *testing.T, api *golibvirt.Libvirt, id machine.Identity) {
	t.Helper()
	if err := api.DomainUndefineFlags(domainOf(t, api, id), 0); err != nil {
		t.Fatal(err)
	}
}

// identity returns the identity of a machine.
func identity() machine.Identity {
	return machine.Identity{
		Installation: "11111111-2222-4333-8444-555555555555", UID: "0f9a63b2-1111-4222-8333-444455556666", Namespace: "default", Name: "web",
	}
}

// newMock returns a host with the mock, and a connection that keeps the mock's state.
func newMock(t *testing.T) (*libvirttest.Daemon, machine.Driver, *golibvirt.Libvirt) {
	t.Helper()
	daemon := libvirttest.Start(t)
	api := daemon.Dial(t, mock)
	makeImages(t, api)
	driver := open(t, daemon.Host(mock, mockPool))
	t.Cleanup(func() { wantSuccess(t, "Close", driver.Close()) })
	return daemon, driver, api
}

// It is not parallel because it counts the goroutines of the whole process.
func TestFrozenDaemonKeepsNobody(t *testing.T) { //nolint:paralleltest // because it counts goroutines
	daemon, driver, _ := newMock(t)
	spec := specOf(identity())
	create(t, driver, spec)
	if err := daemon.Freeze(); err != nil {
		t.Fatal(err)
	}
	for _, call := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := driver.Info(ctx); return err },
		func(ctx context.Context) error { _, err := driver.Get(ctx, spec.Identity); return err },
		func(ctx context.Context) error { return driver.Start(ctx, spec.Identity) },
		func(ctx context.Context) error { _, err := driver.Watch(ctx, spec.Installation); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		wantError(t, "a call", call(ctx), context.DeadlineExceeded)
		cancel()
	}
	// The daemon is still frozen: a call that waits for it now would wait forever.
	await(t, "no call waits for the daemon", func() bool { return !strings.Contains(stacks(), "libvirt.(*Libvirt).getResponse") })
	if err := daemon.Thaw(); err != nil {
		t.Fatal(err)
	}
	wantSuccess(t, "Start", driver.Start(t.Context(), spec.Identity))
	observed, err := driver.Get(t.Context(), spec.Identity)
	if err != nil || observed.State != machine.StateRunning {
		t.Errorf("after the thaw there is %+v, %v", observed, err)
	}
}

// stacks returns the stacks of all goroutines.
func stacks() string {
	out := make([]byte, 4<<20)
	return string(out[:runtime.Stack(out, true)])
}

func TestDaemonIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	daemon, driver, _ := newMock(t)
	events, err := driver.Watch(t.Context(), identity().Installation)
	wantSuccess(t, "Watch", err)
	daemon.Kill()
	_, err = driver.Get(t.Context(), identity())
	wantError(t, "Get", err, machine.ErrUnreachable)
	for range events { // It ends.
		t.Error("there was an event for a machine that does not exist")
	}
	if err := daemon.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The mock lost its state with its daemon.
	api := daemon.Dial(t, mock)
	makeImages(t, api)
	_, err = driver.Info(t.Context())
	wantSuccess(t, "Info", err)
	events, err = driver.Watch(t.Context(), identity().Installation)
	wantSuccess(t, "Watch", err)
	create(t, driver, specOf(identity()))
	select {
	case event := <-events:
		if event.UID != identity().UID {
			t.Errorf("got %+v", event)
		}
	case <-time.After(bootPatience):
		t.Error("there was no event for the machine")
	}
}

func TestDeleteRemovesTheDisksOfItsInstallationOnly(t *testing.T) {
	t.Parallel()
	_, driver, api := newMock(t)
	spec := specOf(identity())
	before := volumes(t, api)
	create(t, driver, spec)
	made := volumes(t, api)
	if len(made) != len(before)+2 {
		t.Fatalf("the volumes are %v, and were %v", made, before)
	}
	undefine(t, api, spec.Identity)
	foreign := spec.Identity
	foreign.Installation = "another"
	wantSuccess(t, "Delete", driver.Delete(t.Context(), foreign, machine.PowerOff{Mode: machine.Hard}))
	if diff := cmp.Diff(made, volumes(t, api)); diff != "" {
		t.Errorf("another installation removed volumes (-before +after):\n%s", diff)
	}
	wantSuccess(t, "Delete", driver.Delete(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.Hard}))
	if diff := cmp.Diff(before, volumes(t, api)); diff != "" {
		t.Errorf("volumes (-before +after):\n%s", diff)
	}
}

func TestWhatCannotBeMadeLeavesNothing(t *testing.T) {
	t.Parallel()
	_, driver, api := newMock(t)
	before := volumes(t, api)
	for name, test := range map[string]struct {
		change func(*machine.Spec)
		kind   error
	}{
		"a seed, which the mock cannot store": {func(s *machine.Spec) { s.CloudInit.UserData = "hunter2" }, machine.ErrUnsupported},
		"a disk that is not there":            {func(s *machine.Spec) { s.Disks[1].Source = "images/gone" }, machine.ErrImageNotFound},
		"an image that is not there":          {func(s *machine.Spec) { s.Image.Name = "images/gone" }, machine.ErrImageNotFound},
		"an image in a pool of no name":       {func(s *machine.Spec) { s.Image.Name = "base.img" }, machine.ErrImageNotFound},
		"a path that is not there":            {func(s *machine.Spec) { s.Image.Name = "/gone/base.img" }, machine.ErrImageNotFound},
		"a root disk smaller than its image":  {func(s *machine.Spec) { s.Resources.RootDiskBytes = 1 << 20 }, machine.ErrInvalid},
		"a disk called by a path":             {func(s *machine.Spec) { s.Disks[0].Name = "../data" }, machine.ErrInvalid},
		"too many disks": {func(s *machine.Spec) {
			for i := range 30 {
				s.Disks = append(s.Disks, machine.Disk{Name: strconv.Itoa(i), SizeBytes: 1 << 20})
			}
		}, machine.ErrInvalid},
		"a network of no kind": {func(s *machine.Spec) { s.Networks = []machine.Network{{Name: "a", Type: "tap"}} }, machine.ErrInvalid},
	} {
		spec := specOf(identity())
		test.change(&spec)
		err := driver.Prepare(t.Context(), spec)
		wantError(t, name, err, test.kind)
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error holds a secret", name)
		}
		_, err = driver.Get(t.Context(), spec.Identity)
		wantError(t, name, err, machine.ErrNotFound)
		if diff := cmp.Diff(before, volumes(t, api)); diff != "" {
			t.Errorf("%s: volumes (-before +after):\n%s", name, diff)
		}
	}
}

func TestCreateNeedsTheDisksThatPrepareMakes(t *testing.T) {
	t.Parallel()
	_, driver, _ := newMock(t)
	_, err := driver.Create(t.Context(), specOf(identity()))
	wantError(t, "Create", err, machine.ErrImageNotFound)
}

func TestPathsOutsideOfWhatTheHostAllowsAreRefused(t *testing.T) {
	t.Parallel()
	daemon, _, _ := newMock(t)
	driver := open(t, daemon.Host(mock, mockPool, "paths=/srv"))
	defer func() { wantSuccess(t, "Close", driver.Close()) }()
	for name, change := range map[string]func(*machine.Spec){
		"image":  func(s *machine.Spec) { s.Image.Name = "/etc/shadow" },
		"disk":   func(s *machine.Spec) { s.Disks[1].Source = "/dev/sda" },
		"device": func(s *machine.Spec) { s.Disks[1].Source, s.Disks[1].ReadOnly = "/srv/../dev/sda", false },
		"kernel": func(s *machine.Spec) { s.Boot.Kernel = "/srv/../vmlinuz" },
		"initrd": func(s *machine.Spec) { s.Boot = machine.Boot{Kernel: "/srv/vmlinuz", Initrd: "/initrd"} },
	} {
		spec := specOf(identity())
		change(&spec)
		wantError(t, "Prepare with another "+name, driver.Prepare(t.Context(), spec), machine.ErrInvalid)
	}
}

func TestForeignDomainsAreInTheWay(t *testing.T) {
	t.Parallel()
	_, driver, api := newMock(t)
	before := volumes(t, api)
	id := identity()
	for name, foreign := range map[string][]string{
		"one has the UUID": {"<name>foreign</name><uuid>" + id.UID + "</uuid>"},
		"two have both names": {
			"<name>default-web-" + id.UID[:8] + "</name>", "<name>default-web-" + id.UID + "</name>",
		},
	} {
		var inTheWay []golibvirt.Domain
		for _, text := range foreign {
			dom, err := api.DomainDefineXMLFlags("<domain type='test'>"+text+"<memory>1024</memory><os><type>hvm</type></os></domain>", 0)
			wantSuccess(t, "Define", err)
			inTheWay = append(inTheWay, dom)
		}
		wantSuccess(t, "Prepare", driver.Prepare(t.Context(), specOf(id)))
		_, err := driver.Create(t.Context(), specOf(id))
		wantError(t, name, err, machine.ErrConflict)
		_, err = driver.Get(t.Context(), id)
		wantError(t, name, err, machine.ErrNotFound)
		wantSuccess(t, "Delete", driver.Delete(t.Context(), id, machine.PowerOff{Mode: machine.Hard}))
		if diff := cmp.Diff(before, volumes(t, api)); diff != "" {
			t.Errorf("%s: volumes (-before +after):\n%s", name, diff)
		}
		for _, dom := range inTheWay { // They are still there.
			wantSuccess(t, "Undefine", api.DomainUndefineFlags(dom, 0))
		}
	}
}

// TestImages copies images of both kinds on a real host.
func TestImages(t *testing.T) {
	t.Parallel()
	s := newStage(t, libvirttest.Start(t))
	file := s.daemon.Path("images/base.qcow2")
	qemuImg(t, "create", "-q", "-f", "qcow2", file, "8M")
	for name, test := range map[string]struct {
		image  string
		root   int64
		format string
		size   int64
	}{
		"a file, as large as it is":     {file, 0, "qcow2", 8 << 20},
		"a file, which grows":           {file, 32 << 20, "qcow2", 32 << 20},
		"a raw file, which grows":       {s.daemon.Path("images/base.img"), 4 << 20, "raw", 4 << 20},
		"a raw file, as large as it is": {s.daemon.Path("images/base.img"), 0, "raw", 1 << 20},
		"none":                          {"", 16 << 20, "raw", 16 << 20},
	} {
		spec := s.spec("images")
		spec.Image.Name, spec.Resources.RootDiskBytes = test.image, test.root
		s.create(t, spec)
		var made string
		for _, name := range s.volumes(t) {
			if strings.Contains(name, "-root") {
				made = s.daemon.Path("pool", name)
			}
		}
		said := qemuImg(t, "info", "--output=json", made)
		if !strings.Contains(said, fmt.Sprintf(`"virtual-size": %d,`, test.size)) ||
			!strings.Contains(said, fmt.Sprintf(`"format": %q,`, test.format)) || strings.Contains(said, "backing") {
			t.Errorf("%s: the root disk is %s", name, said)
		}
		wantSuccess(t, "Delete", s.driver.Delete(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.Hard}))
		s.wantNothing(t)
	}
}

// qemuImg runs qemu-img, and skips the test where there is none.
func qemuImg(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("qemu-img"); err != nil {
		t.Skip("no qcow2: qemu-img is not installed (Debian has it in qemu-utils)")
	}
	out, err := exec.CommandContext(t.Context(), "qemu-img", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("qemu-img %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *stage) volumes(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(s.daemon.Path("pool"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		out = append(out, file.Name())
	}
	return out
}

// volumes returns the names of all volumes of the mock, sorted.
func volumes(t *testing.T, api *golibvirt.Libvirt) []string {
	t.Helper()
	pool, err := api.StoragePoolLookupByName("default-pool")
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := api.StoragePoolListAllVolumes(pool, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, 0, len(all))
	for _, vol := range all {
		out = append(out, vol.Name)
	}
	slices.Sort(out)
	return out
}

// await waits until the check holds.
func await(t *testing.T, what string, check func() bool) {
	t.Helper()
	(*stage)(nil).eventually(t, what, check)
}
