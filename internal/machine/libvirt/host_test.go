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

// identity of a machine that only one test knows.
func identity() machine.Identity {
	return machine.Identity{
		Installation: "11111111-2222-4333-8444-555555555555", UID: "0f9a63b2-1111-4222-8333-444455556666", Namespace: "default", Name: "web",
	}
}

// newMock returns a host with the mock, and a connection that keeps it.
func newMock(t *testing.T) (*libvirttest.Daemon, machine.Driver, *golibvirt.Libvirt) {
	t.Helper()
	daemon := libvirttest.Start(t)
	api := daemon.Dial(t, mock)
	makeVolume(t, api, "base.img", 1<<30)
	driver := open(t, daemon.Host(mock, mockPool))
	t.Cleanup(func() { wantSuccess(t, "Close", driver.Close()) })
	return daemon, driver, api
}

// Not parallel: it counts the goroutines of the whole process.
func TestFrozenDaemonKeepsNobody(t *testing.T) { //nolint:paralleltest // because it counts goroutines
	daemon, driver, _ := newMock(t)
	spec := specOf(identity())
	_, err := driver.Create(t.Context(), spec)
	wantSuccess(t, "Create", err)
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
	// The daemon is still frozen: what waits on it now would wait for ever.
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

// stacks is what all goroutines are at.
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
		t.Error("something happened to a machine that there is not")
	}
	if err := daemon.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The mock has forgotten everything with its daemon.
	api := daemon.Dial(t, mock)
	makeVolume(t, api, "base.img", 1<<30)
	_, err = driver.Info(t.Context())
	wantSuccess(t, "Info", err)
	events, err = driver.Watch(t.Context(), identity().Installation)
	wantSuccess(t, "Watch", err)
	_, err = driver.Create(t.Context(), specOf(identity()))
	wantSuccess(t, "Create", err)
	select {
	case event := <-events:
		if event.UID != identity().UID {
			t.Errorf("got %+v", event)
		}
	case <-time.After(bootPatience):
		t.Error("nobody told of the machine")
	}
}

func TestWhatACrashLeftIsNotInTheWay(t *testing.T) {
	t.Parallel()
	_, driver, api := newMock(t)
	spec := specOf(identity())
	before := volumes(t, api)
	_, err := driver.Create(t.Context(), spec)
	wantSuccess(t, "Create", err)
	made := volumes(t, api)
	if len(made) != len(before)+2 {
		t.Fatalf("there are the volumes %v, and were %v", made, before)
	}
	// The manager dies after the volumes and before the domain.
	crash := func() {
		if err := api.DomainUndefineFlags(domainOf(t, api, spec.Identity), 0); err != nil {
			t.Fatal(err)
		}
	}
	crash()
	_, err = driver.Create(t.Context(), spec)
	wantSuccess(t, "Create after a crash", err)
	if diff := cmp.Diff(made, volumes(t, api)); diff != "" {
		t.Errorf("volumes (-before +after):\n%s", diff)
	}
	crash()
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
		"a disk that is not there":            {func(s *machine.Spec) { s.Disks[1].Source = "default-pool/gone" }, machine.ErrImageNotFound},
		"a pool that is not there":            {func(s *machine.Spec) { s.Image.Name = "gone/base.img" }, machine.ErrImageNotFound},
		"an image that is neither":            {func(s *machine.Spec) { s.Image.Name = "base.img" }, machine.ErrImageNotFound},
		"a path that is not there":            {func(s *machine.Spec) { s.Image.Name = "/gone/base.img" }, machine.ErrImageNotFound},
		"a root disk smaller than its image":  {func(s *machine.Spec) { s.Resources.RootDiskBytes = 1 << 20 }, machine.ErrInvalid},
		"too many disks": {func(s *machine.Spec) {
			for i := range 30 {
				s.Disks = append(s.Disks, machine.Disk{Name: strconv.Itoa(i), SizeBytes: 1 << 20})
			}
		}, machine.ErrInvalid},
		"a network of no kind":          {func(s *machine.Spec) { s.Networks = []machine.Network{{Name: "a", Type: "tap"}} }, machine.ErrInvalid},
		"more memory than the host has": {func(s *machine.Spec) { s.Resources.MemoryBytes = 1 << 50 }, machine.ErrNoCapacity},
	} {
		spec := specOf(identity())
		test.change(&spec)
		_, err := driver.Create(t.Context(), spec)
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

func TestPathsOutsideOfWhatTheHostAllowsAreRefused(t *testing.T) {
	t.Parallel()
	daemon, _, _ := newMock(t)
	driver := open(t, daemon.Host(mock, mockPool, "paths=/srv"))
	defer func() { wantSuccess(t, "Close", driver.Close()) }()
	for name, change := range map[string]func(*machine.Spec){
		"image":  func(s *machine.Spec) { s.Image.Name = "/etc/shadow" },
		"disk":   func(s *machine.Spec) { s.Disks[1].Source = "/dev/sda" },
		"kernel": func(s *machine.Spec) { s.Boot.Kernel = "/srv/../vmlinuz" },
		"initrd": func(s *machine.Spec) { s.Boot = machine.Boot{Kernel: "/srv/vmlinuz", Initrd: "/initrd"} },
	} {
		spec := specOf(identity())
		change(&spec)
		_, err := driver.Create(t.Context(), spec)
		wantError(t, "Create with another "+name, err, machine.ErrInvalid)
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
	if _, err := exec.LookPath("qemu-img"); err != nil {
		t.Skip("no qcow2: qemu-img is not installed (Debian has it in qemu-utils)")
	}
	file := s.daemon.Path("images/base.qcow2")
	create := exec.CommandContext(t.Context(), "qemu-img", "create", "-q", "-f", "qcow2", file, "8M")
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
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
			if strings.HasSuffix(name, "-root") {
				made = s.daemon.Path("pool", name)
			}
		}
		out, err := exec.CommandContext(t.Context(), "qemu-img", "info", "--output=json", made).CombinedOutput()
		said := string(out)
		if err != nil || !strings.Contains(said, fmt.Sprintf(`"virtual-size": %d,`, test.size)) ||
			!strings.Contains(said, fmt.Sprintf(`"format": %q,`, test.format)) || strings.Contains(said, "backing") {
			t.Errorf("%s: the root disk is %s, %v", name, said, err)
		}
		wantSuccess(t, "Delete", s.driver.Delete(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.Hard}))
		s.wantNothing(t)
	}
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
