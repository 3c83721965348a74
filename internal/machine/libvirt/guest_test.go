// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	golibvirt "github.com/digitalocean/go-libvirt"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// kernels is the hypervisor that can run a kernel.
const kernels = "qemu:///system"

// bootPatience is how long a guest can take to boot, emulated and on a busy machine.
const bootPatience = 5 * time.Minute

// TestGuest takes a real guest on QEMU through its life.
func TestGuest(t *testing.T) {
	t.Parallel()
	daemon := libvirttest.Start(t)
	s := newStage(t, daemon)
	if info, err := s.driver.Info(t.Context()); err != nil || !info.Emulated || !info.Capabilities.Guests {
		t.Fatalf("without KVM the host says %+v, %v", info, err)
	}
	spec := s.spec("life")
	spec.CloudInit = machine.CloudInit{UserData: "#cloud-config of a test\n"}
	s.create(t, spec)
	s.start(t, spec.Identity)
	said := s.await(t, "ready")
	for _, want := range []string{"boot=1 ", "cpus=1 ", "#cloud-config of a test|instance-id: " + spec.UID} {
		if !strings.Contains(said, want) {
			t.Errorf("the guest says %q, want %q in it", said, want)
		}
	}

	s.wantCounters(t, spec.Identity)
	s.grow(t, spec)
	s.survive(t, spec.Identity)
	followed := s.follow(t, spec.Identity)

	wantSuccess(t, "Stop", s.driver.Stop(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.Soft, Grace: bootPatience}))
	if observed := s.get(t, spec.Identity); observed.State != machine.StateStopped || observed.Cause != "" {
		t.Errorf("a guest that was asked to stop is %+v", observed)
	}
	s.wantOutput(t, spec.Identity, <-followed)
	s.start(t, spec.Identity)
	s.await(t, "boot=2 ")

	s.kill(t, spec.Identity)
	// It cannot be asked to stop any more, whether libvirt knows about its death or not.
	wantSuccess(t, "Stop", s.driver.Stop(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.TrySoft, Grace: bootPatience}))
	s.eventually(t, "the guest is seen to be dead", func() bool {
		observed := s.get(t, spec.Identity)
		return observed.State == machine.StateStopped && observed.Cause == "crashed"
	})
	wantSuccess(t, "Delete", s.driver.Delete(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.Hard}))
	s.wantNothing(t)
}

// TestGuestThatDoesNotObey has a guest that ignores its power button.
func TestGuestThatDoesNotObey(t *testing.T) {
	t.Parallel()
	s := newStage(t, libvirttest.Start(t))
	spec := s.spec("deaf")
	spec.Boot.Cmdline += " guest.ignore"
	s.create(t, spec)
	s.start(t, spec.Identity)
	s.await(t, "ready")
	soft := machine.PowerOff{Mode: machine.Soft, Grace: time.Second}
	wantError(t, "Stop", s.driver.Stop(t.Context(), spec.Identity, soft), machine.ErrBusy)
	wantError(t, "Delete", s.driver.Delete(t.Context(), spec.Identity, soft), machine.ErrBusy)
	if observed := s.get(t, spec.Identity); observed.State != machine.StateRunning {
		t.Errorf("a guest that was only asked is %s", observed.State)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	long := machine.PowerOff{Mode: machine.Soft, Grace: time.Hour}
	wantError(t, "Stop", s.driver.Stop(ctx, spec.Identity, long), context.DeadlineExceeded)
	wantSuccess(t, "Delete", s.driver.Delete(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.TrySoft, Grace: time.Second}))
	s.wantNothing(t)
}

// stage is a host with QEMU, an image and a kernel.
type stage struct {
	daemon *libvirttest.Daemon
	guest  libvirttest.Guest
	driver machine.Driver
	api    *golibvirt.Libvirt
	image  []byte
	// console of the guest's last run. There can be only one reader.
	console *console
}

func newStage(t *testing.T, daemon *libvirttest.Daemon) *stage {
	t.Helper()
	s := newStorage(t, daemon)
	s.guest = libvirttest.NewGuest(t, daemon)
	return s
}

// newStorage returns a host with QEMU, whose guests are not started.
func newStorage(t *testing.T, daemon *libvirttest.Daemon, parameters ...string) *stage {
	t.Helper()
	s := &stage{daemon: daemon, api: daemon.Dial(t, kernels)}
	s.driver = open(t, daemon.Host(kernels, append([]string{"headroom=2"}, parameters...)...))
	t.Cleanup(func() { wantSuccess(t, "Close", s.driver.Close()) })
	s.definePool(t, "default", "pool")
	s.definePool(t, "images", "images")
	// A megabyte that begins with a word and a count.
	s.image = make([]byte, 1<<20)
	copy(s.image, "image 0")
	if err := os.WriteFile(daemon.Path("images/base.img"), s.image, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// newStorageBehindProxy returns one that is reached by a proxy, which can change what the daemon sends.
func newStorageBehindProxy(t *testing.T) (*stage, *libvirttest.Proxy) {
	t.Helper()
	s := newStorage(t, libvirttest.Start(t))
	way := libvirttest.NewProxy(t, s.daemon)
	driver := open(t, libvirttest.HostAt(way.Socket(), kernels, "headroom=2"))
	t.Cleanup(func() { wantSuccess(t, "Close", driver.Close()) })
	s.driver = driver
	return s, way
}

// definePool defines a pool that starts with the daemon.
func (s *stage) definePool(t *testing.T, name, directory string) {
	t.Helper()
	if err := os.MkdirAll(s.daemon.Path(directory), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "<pool type='dir'><name>" + name + "</name><target><path>" + s.daemon.Path(directory) + "</path></target></pool>"
	pool, err := s.api.StoragePoolDefineXML(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.api.StoragePoolSetAutostart(pool, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.api.StoragePoolCreate(pool, 0); err != nil {
		t.Fatal(err)
	}
}

// spec returns a guest with a disk of each kind and a network card.
func (s *stage) spec(name string) machine.Spec {
	id := machine.Identity{
		Installation: "11111111-2222-4333-8444-555555555555", UID: "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", Namespace: "default", Name: name,
	}
	return machine.Spec{
		Identity:  id,
		Hash:      "hash",
		Resources: machine.Resources{MilliCPU: 1000, MemoryBytes: 192_000_000, RootDiskBytes: 2 << 20},
		Image:     machine.Image{Name: s.daemon.Path("images/base.img")},
		Boot:      machine.Boot{Kernel: s.guest.Kernel, Initrd: s.guest.Initrd, Cmdline: "console=ttyS0 panic=-1"},
		Disks:     []machine.Disk{{Name: "data", SizeBytes: 1 << 20}},
		Networks:  []machine.Network{{Name: "out", Type: machine.NetworkUser}},
	}
}

func (s *stage) create(t *testing.T, spec machine.Spec) {
	t.Helper()
	wantSuccess(t, "Prepare", s.driver.Prepare(t.Context(), spec))
	created, err := s.driver.Create(t.Context(), spec)
	wantSuccess(t, "Create", err)
	if created.State != machine.StateCreated || created.Resources != spec.Resources {
		t.Fatalf("Create returned %+v", created)
	}
}

func (s *stage) start(t *testing.T, id machine.Identity) {
	t.Helper()
	if err := s.driver.Start(t.Context(), id); err != nil {
		t.Fatalf("Start: %v\n%s", err, s.daemon.LogTail())
	}
	observed := s.get(t, id)
	if observed.State != machine.StateRunning || observed.StartedAt.IsZero() {
		t.Fatalf("a guest that was started is %+v", observed)
	}
	// It has not booted, and has not given back its headroom.
	if got := observed.Resources.MemoryBytes; got != 192_000_000 {
		t.Errorf("a guest that was started has %d bytes", got)
	}
	s.listen(t, id)
}

func (s *stage) get(t *testing.T, id machine.Identity) machine.Observed {
	t.Helper()
	observed, err := s.driver.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return observed
}

// listen reads the console of the guest's current run.
func (s *stage) listen(t *testing.T, id machine.Identity) {
	t.Helper()
	text, err := s.api.DomainGetXMLDesc(domainOf(t, s.api, id), 0)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Console struct {
			TTY string `xml:"tty,attr"`
		} `xml:"devices>console"`
	}
	if err := xml.Unmarshal([]byte(text), &d); err != nil || d.Console.TTY == "" {
		t.Fatalf("there is no console: %v", err)
	}
	s.console = listen(t, s.daemon.Inside(d.Console.TTY))
}

// await waits for a text on the guest's console, and returns its line.
func (s *stage) await(t *testing.T, want string) string {
	t.Helper()
	var found string
	s.eventually(t, "the guest says "+want, func() bool {
		found = s.console.find(regexp.MustCompile(`guest: .*` + regexp.QuoteMeta(want) + `.*\n`))
		return found != "" || t.Failed()
	}, s.console.all)
	return found
}

// follow reads the output of a guest until it is off. Then it sends what it has read.
func (s *stage) follow(t *testing.T, id machine.Identity) <-chan string {
	t.Helper()
	reading, err := s.driver.Output(t.Context(), id, machine.OutputOptions{Tail: -1, Follow: true})
	wantSuccess(t, "Output", err)
	out := make(chan string, 1)
	go func() {
		raw, err := io.ReadAll(reading)
		if err = errors.Join(err, reading.Close()); err != nil {
			t.Errorf("following the output: %v", err)
		}
		out <- string(raw)
	}()
	return out
}

// wantOutput wants the output of a guest that is off, which somebody has followed.
func (s *stage) wantOutput(t *testing.T, id machine.Identity, followed string) {
	t.Helper()
	for tail, want := range map[int]string{-1: followed, 1: followed[strings.LastIndexByte(strings.TrimSuffix(followed, "\n"), '\n')+1:], 0: ""} {
		reading, err := s.driver.Output(t.Context(), id, machine.OutputOptions{Tail: tail})
		wantSuccess(t, "Output", err)
		got, err := io.ReadAll(reading)
		wantSuccess(t, "reading output", errors.Join(err, reading.Close()))
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("the last %d lines (-want +got):\n%s", tail, diff)
		}
	}
	for _, want := range []string{"boot=1 ", "guest: asked to stop"} {
		if !strings.Contains(followed, want) {
			t.Errorf("the output lacks %q:\n%s", want, followed)
		}
	}
}

// wantCounters wants counters that grow.
func (s *stage) wantCounters(t *testing.T, id machine.Identity) {
	t.Helper()
	before := s.sample(t, id)
	if before.MemoryBytes <= 0 || before.CPU <= 0 || before.Limits.MilliCPU != 1000 {
		t.Errorf("the sample is %+v", before)
	}
	s.eventually(t, "it has used CPU", func() bool {
		after := s.sample(t, id)
		return after.Boot == before.Boot && after.CPU > before.CPU
	})
}

func (s *stage) sample(t *testing.T, id machine.Identity) machine.Sample {
	t.Helper()
	all, err := s.driver.Stats(t.Context(), id.Installation)
	wantSuccess(t, "Stats", err)
	sample, ok := all[id.UID]
	if !ok {
		t.Fatalf("there is no sample of the guest: %v", all)
	}
	return sample
}

// grow adds a processor, a third more memory and a root disk of twice the size, and takes the memory back, all with the guest's cooperation.
func (s *stage) grow(t *testing.T, spec machine.Spec) {
	t.Helper()
	to := spec.Resources
	to.MilliCPU, to.MemoryBytes, to.RootDiskBytes = 2000, 256_000_000, 4<<20
	wantSuccess(t, "Resize", s.driver.Resize(t.Context(), spec.Identity, to))
	if now := s.get(t, spec.Identity).Resources; now != to {
		t.Errorf("the guest has %+v, want %+v", now, to)
	}
	s.await(t, "cpus=2 ")
	s.wantRoot(t, 4<<20, "image 1") // the guest counts its boots there
	back := to                      // Processors are not taken away here: not every libvirt notices when a guest gives one back.
	back.MemoryBytes = spec.Resources.MemoryBytes
	wantSuccess(t, "Resize", s.driver.Resize(t.Context(), spec.Identity, back))
	if now := s.get(t, spec.Identity).Resources; now != back {
		t.Errorf("the guest has %+v, want %+v", now, back)
	}
	more := to
	more.MemoryBytes *= 4
	wantError(t, "Resize", s.driver.Resize(t.Context(), spec.Identity, more), machine.ErrRestartRequired)
	if now := s.get(t, spec.Identity).Resources; now != back {
		t.Errorf("the guest has %+v, want %+v until its next start", now, back)
	}
	wantSuccess(t, "Resize", s.driver.Resize(t.Context(), spec.Identity, back))
}

// wantRoot checks the length of the root disk, and what it begins with.
func (s *stage) wantRoot(t *testing.T, size int64, begin string) {
	t.Helper()
	root := s.disk(t, "-root")
	if info, err := os.Stat(root); err != nil || info.Size() != size || !starts(t, root, begin) {
		t.Errorf("the root disk %q is %+v, %v; want %d bytes that begin with %q", root, info, err, size, begin)
	}
}

// survive restarts the daemon: guests keep running and are found again.
func (s *stage) survive(t *testing.T, id machine.Identity) {
	t.Helper()
	before, sample := s.get(t, id), s.sample(t, id)
	if err := s.daemon.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.api = s.daemon.Dial(t, kernels)
	s.eventually(t, "the daemon answers again", func() bool {
		_, err := s.driver.Info(t.Context())
		return err == nil
	})
	if diff := cmp.Diff(before, s.get(t, id)); diff != "" {
		t.Errorf("the guest changed with its daemon (-before +after):\n%s", diff)
	}
	if after := s.sample(t, id); after.Boot != sample.Boot || after.CPU < sample.CPU {
		t.Errorf("the counters began anew: %+v, then %+v", sample, after)
	}
}

// kill ends the guest's process, as the kernel does where memory is short.
func (s *stage) kill(t *testing.T, id machine.Identity) {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range commands {
		command, err := os.ReadFile(path)
		// The path of this daemon distinguishes its guests from those of others.
		if err != nil || !bytes.Contains(command, []byte(id.UID)) || !bytes.Contains(command, []byte(s.daemon.Path("initrd"))) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("the guest has no process")
}

// wantNothing wants no domain, no volume, and an unchanged image.
func (s *stage) wantNothing(t *testing.T) {
	t.Helper()
	domains, _, err := s.api.ConnectListAllDomains(1, 0)
	if err != nil || len(domains) != 0 {
		t.Errorf("there are still domains: %+v, %v", domains, err)
	}
	files, err := os.ReadDir(s.daemon.Path("pool"))
	if err != nil || len(files) != 0 {
		t.Errorf("there are still volumes: %v, %v", files, err)
	}
	if now, err := os.ReadFile(s.daemon.Path("images/base.img")); err != nil || !bytes.Equal(now, s.image) {
		t.Errorf("the image was written to: %q, %v", now[:min(16, len(now))], err)
	}
}

// eventually waits until the check holds, and prints what tell returns if it does not.
func (*stage) eventually(t *testing.T, what string, check func() bool, tell ...func() string) {
	t.Helper()
	deadline, tick := time.After(bootPatience), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-deadline:
			var told []string
			for _, f := range tell {
				told = append(told, f())
			}
			t.Fatalf("gave up waiting until %s\n%s", what, strings.Join(told, "\n"))
		case <-tick.C:
		}
	}
}

// console is the output of a guest since listen.
type console struct {
	mu   sync.Mutex
	text []byte
}

// listen reads a console until the test ends.
func listen(t *testing.T, path string) *console {
	t.Helper()
	tty, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &console{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		chunk := make([]byte, 4096)
		for {
			n, err := tty.Read(chunk)
			if err != nil {
				return
			}
			c.mu.Lock()
			c.text = append(c.text, chunk[:n]...)
			c.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = tty.Close()
		<-done
	})
	return c
}

func (c *console) find(pattern *regexp.Regexp) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(pattern.Find(c.text))
}

func (c *console) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.text[max(0, len(c.text)-4096):])
}

func wantSuccess(t *testing.T, call string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}
}

func wantError(t *testing.T, call string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s returned %v, want %v", call, err, kind)
	}
}
