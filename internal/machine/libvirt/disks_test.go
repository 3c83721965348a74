// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// procedureDefine is the number of the call that defines a domain, in libvirt's protocol.
const procedureDefine = 350

// diskSpec returns a machine with a root disk and a data disk that is not started.
func (s *stage) diskSpec(name string) machine.Spec {
	spec := s.spec(name)
	spec.Boot, spec.Networks, spec.Image.Name = machine.Boot{}, nil, "images/base.img"
	return spec
}

// ensure makes the machine as the controller does, and returns what stands in the way.
func (s *stage) ensure(t *testing.T, spec machine.Spec) error {
	t.Helper()
	if err := s.driver.Prepare(t.Context(), spec); err != nil {
		return err
	}
	_, err := s.driver.Create(t.Context(), spec)
	return err
}

// disk returns the file of a machine's disk, by the end of its name.
func (s *stage) disk(t *testing.T, end string) string {
	t.Helper()
	for _, name := range s.volumes(t) {
		if strings.HasSuffix(name, end) {
			return s.daemon.Path("pool", name)
		}
	}
	t.Fatalf("there is no disk %q among %v", end, s.volumes(t))
	return ""
}

// write writes to a file as a guest does to its disk.
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// starts reports whether a file starts with the text.
func starts(t *testing.T, path, text string) bool {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.HasPrefix(content, []byte(text))
}

func TestDisksAreNotWipedWhenADomainIsUndefined(t *testing.T) {
	t.Parallel()
	s := newStorage(t, libvirttest.Start(t))
	spec := s.diskSpec("undefined")
	wantSuccess(t, "Create", s.ensure(t, spec))
	for _, end := range []string{"-root", "-disk-data"} {
		write(t, s.disk(t, end), []byte("precious"))
	}
	undefine(t, s.api, spec.Identity)
	// The image is not needed any more.
	if err := os.Remove(s.daemon.Path("images/base.img")); err != nil {
		t.Fatal(err)
	}
	wantSuccess(t, "Create", s.ensure(t, spec))
	for _, end := range []string{"-root", "-disk-data"} {
		if !starts(t, s.disk(t, end), "precious") {
			t.Errorf("disk %q was made again", end)
		}
	}
}

func TestDisksOfADefinedDomainAreNotMarkedAsNeverUsedWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	s, way := newStorageBehindProxy(t)
	way.Lose(procedureDefine)
	spec := s.diskSpec("answered-too-late")
	wantSuccess(t, "Create", s.ensure(t, spec))
	for _, name := range s.volumes(t) {
		if strings.Contains(name, ".new") {
			t.Errorf("volume %q says that no guest has used the disk, and the domain is defined", name)
		}
	}
}

// TestNoSequenceLosesWhatAGuestWrote disturbs a machine at random, as administrators, crashes and the operator can.
func TestNoSequenceLosesWhatAGuestWrote(t *testing.T) {
	t.Parallel()
	s := newStorage(t, libvirttest.Start(t))
	spec := s.diskSpec("random")
	wantSuccess(t, "Create", s.ensure(t, spec))
	made, err := s.driver.Get(t.Context(), spec.Identity)
	wantSuccess(t, "Get", err)
	spec.Kept = made.Disks // as the status of its object has them before the guest starts
	for _, end := range []string{"-root", "-disk-data"} {
		write(t, s.disk(t, end), []byte("precious"))
	}
	steps := s.disturbances(t, spec)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	var done []string
	for range 40 {
		name := []string{
			"undefine", "lose the pool", "restore the pool", "move the pool away", "mount an empty pool", "restart", "restart without definitions", "ensure",
			"ensure", "leave a volume unfinished", "edit the spec", "refresh", "start", "destroy",
		}[random.IntN(14)]
		done = append(done, name)
		steps[name]()
		directory := "pool"
		if _, err := os.Stat(s.daemon.Path("away")); err == nil {
			directory = "away"
			if again, err := filepath.Glob(s.daemon.Path("pool", "windlass-*")); err != nil || len(again) > 0 {
				t.Fatalf("seed %d: disks were made again (%v, %v) after:\n%s", seed, again, err, strings.Join(done, "\n"))
			}
		}
		for _, end := range []string{"-root", "-disk-data"} {
			files, err := filepath.Glob(s.daemon.Path(directory, "*"+end))
			if err != nil || len(files) != 1 || !starts(t, files[0], "precious") {
				t.Fatalf("seed %d: disk %q is lost (%v, %v) after:\n%s", seed, end, files, err, strings.Join(done, "\n"))
			}
		}
	}
}

// disturbances are the steps of a random sequence. They do nothing where they cannot be done.
func (s *stage) disturbances(t *testing.T, spec machine.Spec) map[string]func() {
	t.Helper()
	restored := func() {
		if _, err := os.Stat(s.daemon.Path("away")); err == nil {
			wantSuccess(t, "Remove", os.RemoveAll(s.daemon.Path("pool")))
			wantSuccess(t, "Rename", os.Rename(s.daemon.Path("away"), s.daemon.Path("pool")))
		}
		if _, err := s.api.StoragePoolLookupByName("default"); err != nil {
			s.definePool(t, "default", "pool")
		}
	}
	destroyed := func() {
		if pool, err := s.api.StoragePoolLookupByName("default"); err == nil {
			_ = s.api.StoragePoolDestroy(pool) // It may not be active.
			wantSuccess(t, "Undefine", s.api.StoragePoolUndefine(pool))
		}
	}
	restarted := func() {
		wantSuccess(t, "Run", s.daemon.Run(t.Context()))
		s.api = s.daemon.Dial(t, kernels)
		s.eventually(t, "the daemon answers", func() bool { _, err := s.driver.Info(t.Context()); return err == nil })
	}
	return map[string]func(){
		"undefine": func() {
			if _, err := s.driver.Get(t.Context(), spec.Identity); err != nil {
				return
			}
			// A guest that runs without a definition has none to lose.
			if defined, err := s.api.DomainIsPersistent(domainOf(t, s.api, spec.Identity)); err == nil && defined == 1 {
				undefine(t, s.api, spec.Identity)
			}
		},
		"start": func() {
			_ = s.driver.Start(t.Context(), spec.Identity) // There may be none, or its pool may be away.
		},
		"destroy": func() {
			if observed, err := s.driver.Get(t.Context(), spec.Identity); err == nil && observed.State == machine.StateRunning {
				wantSuccess(t, "Destroy", s.api.DomainDestroy(domainOf(t, s.api, spec.Identity)))
			}
		},
		"lose the pool":    destroyed,
		"restore the pool": restored,
		"move the pool away": func() {
			restored()
			destroyed()
			wantSuccess(t, "Rename", os.Rename(s.daemon.Path("pool"), s.daemon.Path("away")))
		},
		"mount an empty pool": func() {
			restored()
			destroyed()
			wantSuccess(t, "Rename", os.Rename(s.daemon.Path("pool"), s.daemon.Path("away")))
			wantSuccess(t, "Mkdir", os.Mkdir(s.daemon.Path("pool"), 0o700))
			s.definePool(t, "default", "pool")
		},
		"restart": func() {
			s.daemon.Kill()
			restarted()
		},
		"restart without definitions": func() {
			s.daemon.Kill()
			wantSuccess(t, "RemoveAll", os.RemoveAll(s.daemon.Path("root/etc/libvirt/qemu")))
			restarted()
		},
		"ensure": func() {
			err := s.ensure(t, spec)
			if _, away := os.Stat(s.daemon.Path("away")); away == nil && s.daemonHasPool() && errors.Is(err, machine.ErrDiskLost) {
				return // It waits for the pool that has its disks.
			}
			if err != nil && s.daemonHasPool() {
				t.Errorf("the machine cannot be made: %v", err)
			}
		},
		"leave a volume unfinished": func() {
			if files, err := filepath.Glob(s.daemon.Path("pool", "*-root")); err == nil && len(files) == 1 && s.daemonHasPool() {
				// The pool is restored with its disks while Prepare begins to make them, and the manager dies.
				wantSuccess(t, "WriteFile", os.WriteFile(files[0]+".making", nil, 0o600))
				s.refresh(t)
				if _, err := s.driver.Get(t.Context(), spec.Identity); errors.Is(err, machine.ErrNotFound) {
					wantError(t, "Prepare", s.driver.Prepare(t.Context(), spec), machine.ErrDiskMismatch)
				}
				wantSuccess(t, "Remove", os.Remove(files[0]+".making"))
				s.refresh(t)
			}
		},
		"edit the spec": func() {
			larger := spec
			larger.Resources.RootDiskBytes *= 2
			want := machine.ErrDiskMismatch
			if _, err := os.Stat(s.daemon.Path("away")); err == nil {
				want = machine.ErrDiskLost
			}
			if _, err := s.driver.Get(t.Context(), spec.Identity); errors.Is(err, machine.ErrNotFound) && s.daemonHasPool() {
				wantError(t, "Prepare", s.driver.Prepare(t.Context(), larger), want)
			}
		},
		"refresh": func() {
			if pool, err := s.api.StoragePoolLookupByName("default"); err == nil {
				_ = s.api.StoragePoolRefresh(pool, 0) // It may not be active.
			}
		},
	}
}

// daemonHasPool reports whether disks can be made.
func (s *stage) daemonHasPool() bool {
	pool, err := s.api.StoragePoolLookupByName("default")
	if err != nil {
		return false
	}
	active, err := s.api.StoragePoolIsActive(pool)
	return err == nil && active == 1
}

// TestRootDiskThatTheSpecEnlargesStaysSmall resizes guests that are off. TestGuest resizes one that runs.
func TestRootDiskThatTheSpecEnlargesStaysSmall(t *testing.T) {
	t.Parallel()
	s := newStorage(t, libvirttest.Start(t))
	spec := s.diskSpec("larger")
	wantSuccess(t, "Create", s.ensure(t, spec))
	write(t, s.disk(t, "-root"), []byte("image 0 precious"))
	resize := func(size int64) error {
		to := spec.Resources
		to.RootDiskBytes = size
		return s.driver.Resize(t.Context(), spec.Identity, to)
	}
	wantSuccess(t, "Resize", resize(4<<20))
	s.wantRoot(t, 4<<20, "image 0 precious")
	wantError(t, "Resize to less than the disk has", resize(3<<20), machine.ErrInvalid)
	wantSuccess(t, "Resize to any size", resize(0))
	s.wantRoot(t, 4<<20, "image 0 precious")
	if got := s.get(t, spec.Identity).Resources.RootDiskBytes; got != 4<<20 {
		t.Errorf("the machine has a root disk of %d bytes", got)
	}
	// A manager that dies after the disk has grown leaves a record of the old size.
	wantSuccess(t, "Truncate", os.Truncate(s.disk(t, "-root"), 6<<20))
	s.refresh(t)
	wantSuccess(t, "Resize to what the disk has", resize(6<<20))
	wantSuccess(t, "Resize to a size between two sectors", resize(7<<20+1))
	s.wantRoot(t, 7<<20+512, "image 0 precious")
	if !starts(t, s.disk(t, "-root"), "image 0 precious") {
		t.Error("the disk has lost what was written to it")
	}
	without := s.diskSpec("without")
	without.UID, without.Image.Name, without.Resources.RootDiskBytes = "aaaaaaaa-bbbb-4ccc-8ddd-ffffffffffff", "", 0
	wantSuccess(t, "Create", s.ensure(t, without))
	without.Resources.RootDiskBytes = 1 << 20
	wantError(t, "Resize of a disk that was never made", s.driver.Resize(t.Context(), without.Identity, without.Resources), machine.ErrInvalid)
}

func TestExistingDiskThatDoesNotFitStopsTheMachine(t *testing.T) {
	t.Parallel()
	s := newStorage(t, libvirttest.Start(t))
	spec := s.diskSpec("misfit")
	wantSuccess(t, "Create", s.ensure(t, spec))
	undefine(t, s.api, spec.Identity)
	root, data := s.disk(t, "-root"), s.disk(t, "-disk-data")
	for name, disturb := range map[string]func() (spec machine.Spec, undo func()){
		"the root disk is smaller than the spec asks for": func() (machine.Spec, func()) {
			larger := spec
			larger.Resources.RootDiskBytes *= 2
			return larger, func() {}
		},
		"the data disk is smaller than the spec asks for": func() (machine.Spec, func()) {
			wantSuccess(t, "Truncate", os.Truncate(data, 512<<10))
			return spec, func() { wantSuccess(t, "Truncate", os.Truncate(data, 1<<20)) }
		},
		"there are two root disks": func() (machine.Spec, func()) {
			wantSuccess(t, "WriteFile", os.WriteFile(root+".qcow2", []byte("another"), 0o600))
			return spec, func() { wantSuccess(t, "Remove", os.Remove(root+".qcow2")) }
		},
	} {
		changed, undo := disturb()
		s.refresh(t)
		before := fmt.Sprint(s.volumes(t))
		wantError(t, name, s.driver.Prepare(t.Context(), changed), machine.ErrDiskMismatch)
		if now := fmt.Sprint(s.volumes(t)); now != before {
			t.Errorf("%s: the volumes were %s and are %s", name, before, now)
		}
		undo()
		s.refresh(t)
	}
	wantSuccess(t, "Create", s.ensure(t, spec))
}

// refresh has libvirt read the pool again.
func (s *stage) refresh(t *testing.T) {
	t.Helper()
	pool, err := s.api.StoragePoolLookupByName("default")
	wantSuccess(t, "Lookup", err)
	wantSuccess(t, "Refresh", s.api.StoragePoolRefresh(pool, 0))
}

func TestCrashWhileADiskIsMadeIsMadeGood(t *testing.T) {
	t.Parallel()
	s := newStorage(t, libvirttest.Start(t))
	spec := s.diskSpec("crash")
	wantSuccess(t, "Prepare", s.driver.Prepare(t.Context(), spec))
	root := s.disk(t, "-root")
	// The manager and the daemon died in the middle of the copy: the marker is there, and half of the disk.
	for _, name := range s.volumes(t) {
		if strings.Contains(name, "-root.new") {
			wantSuccess(t, "Rename", os.Rename(s.daemon.Path("pool", name), root+".making"))
		}
	}
	write(t, root, []byte("half"))
	wantSuccess(t, "Truncate", os.Truncate(root, 512))
	s.refresh(t)
	_, err := s.driver.Create(t.Context(), spec)
	wantError(t, "Create on a disk that is not whole", err, machine.ErrImageNotFound)
	wantSuccess(t, "Create", s.ensure(t, spec))
	if !starts(t, root, "image 0") {
		t.Error("the disk is not a copy of the image")
	}
	wantSuccess(t, "Delete", s.driver.Delete(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.Hard}))
	s.wantNothing(t)
}
