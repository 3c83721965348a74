// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	golibvirt "github.com/digitalocean/go-libvirt"
	"github.com/diskfs/go-diskfs/backend/file"
	"github.com/diskfs/go-diskfs/filesystem/fat12"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
)

const uid = "0f9a63b2-1111-4222-8333-444455556666"

func TestEndpoint(t *testing.T) {
	t.Parallel()
	unixSockets := []string{"/run/libvirt/libvirt-sock", "/var/run/libvirt/libvirt-sock"}
	all := slices.Concat(unixSockets, []string{"/run/libvirt/virtqemud-sock", "/var/run/libvirt/virtqemud-sock"})
	usual := func(edit func(*endpoint)) endpoint {
		e := endpoint{
			uri: "qemu:///system", hypervisor: "qemu", way: way{over: overUnix}, sockets: all, pool: "default", images: []string{"images"},
			paths: []string{"/var/lib/libvirt/boot"}, headroom: 1,
		}
		edit(&e)
		return e
	}
	tests := map[string]struct {
		raw  string
		want endpoint
		err  string
	}{
		"the usual one": {raw: "qemu:///system", want: usual(func(*endpoint) {})},
		"the mock": {
			raw:  "test:///default",
			want: usual(func(e *endpoint) { e.uri, e.hypervisor, e.sockets = "test:///default", "test", unixSockets }),
		},
		"every parameter is set": {
			raw: "qemu+unix:///session?socket=/run/a&pool=ssd&headroom=4&accelerator=kvm&images=a:b&paths=/srv:/boot&disks=c:/data",
			want: endpoint{
				uri: "qemu:///session", hypervisor: "qemu", way: way{over: overUnix}, sockets: []string{"/run/a"}, pool: "ssd", headroom: 4,
				accelerator: "kvm",
				images:      []string{"a", "b"}, paths: []string{"/srv", "/boot"}, disks: []string{"c", "/data"},
			},
		},
		"disks are made in the pool called images": {
			raw: "qemu:///system?pool=images", want: usual(func(e *endpoint) { e.pool, e.images = "images", nil }),
		},
		"TLS": {
			raw:  "qemu+tls://rack-1/system",
			want: usual(func(e *endpoint) { e.way, e.sockets = way{over: overTLS, address: "rack-1:16514"}, nil }),
		},
		"TCP on a port of its own": {
			raw:  "qemu+tcp://[::1]:99/system",
			want: usual(func(e *endpoint) { e.way, e.sockets = way{over: overTCP, address: "[::1]:99"}, nil }),
		},
		"SSH": {
			raw:  "qemu+ssh://ops@rack-1/system",
			want: usual(func(e *endpoint) { e.way = way{over: overSSH, address: "rack-1:22", user: "ops"} }),
		},
		"SSH to the session of a user": {
			raw: "qemu+ssh://rack-1:2222/session?socket=/run/user/1000/libvirt/libvirt-sock",
			want: usual(func(e *endpoint) {
				e.uri, e.sockets = "qemu:///session", []string{"/run/user/1000/libvirt/libvirt-sock"}
				e.way = way{over: overSSH, address: "rack-1:2222"}
			}),
		},
		"a machine without a transport":      {raw: "qemu://rack-1/system", err: "must say how to reach it"},
		"a transport without a machine":      {raw: "qemu+ssh:///system", err: "must name a machine after +ssh://"},
		"an unknown transport":               {raw: "qemu+ext://rack-1/system", err: `the transport "ext": must be unix, tls, ssh or tcp`},
		"a user without a login":             {raw: "qemu+tls://ops@rack-1/system", err: "a user, which only qemu+ssh:// uses"},
		"a socket without a way to it":       {raw: "qemu+tls://rack-1/system?socket=/run/a", err: "the parameter socket"},
		"another hypervisor":                 {raw: "xen:///system", err: "not with qemu or test"},
		"a session without a socket":         {raw: "qemu:///session", err: "a session does not have the same socket"},
		"an unknown parameter":               {raw: "qemu:///system?no_verify=1", err: `the unknown parameter "no_verify"`},
		"a relative socket":                  {raw: "qemu:///system?socket=a", err: "not an absolute path"},
		"a pool that is not a name":          {raw: "qemu:///system?pool=a/b", err: "not a name"},
		"relative paths":                     {raw: "qemu:///system?paths=/srv:boot", err: "not absolute paths"},
		"images that are paths":              {raw: "qemu:///system?images=/srv", err: "not names of pools"},
		"disks that are relative paths":      {raw: "qemu:///system?disks=a/b", err: "not names of pools or absolute paths"},
		"images in the pool of made disks":   {raw: "qemu:///system?images=default", err: `the pool "default", in which disks are made`},
		"disks in the pool of made disks":    {raw: "qemu:///system?disks=default", err: `the pool "default", in which disks are made`},
		"disks and images in one pool":       {raw: "qemu:///system?disks=images", err: "among both images and disks"},
		"disks inside the paths of images":   {raw: "qemu:///system?paths=/srv&disks=/srv/disks", err: "one inside the other"},
		"the paths of images inside disks":   {raw: "qemu:///system?paths=/srv/images&disks=/srv/", err: "one inside the other"},
		"too much headroom":                  {raw: "qemu:///system?headroom=17", err: "from 1 to 16"},
		"an accelerator that does not exist": {raw: "qemu:///system?accelerator=hvf", err: "neither kvm nor qemu"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseEndpoint(test.raw)
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("got %v, want an error with %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(endpoint{}, way{})); err == nil && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestObjectsNameOnlyWhatTheHostAllows(t *testing.T) {
	t.Parallel()
	e := endpoint{images: []string{"images"}, paths: []string{"/srv/images", "/boot/"}, disks: []string{"shared", "/data"}}
	for name, want := range map[string]struct{ image, disk error }{
		"/srv/images/a.img":              {disk: machine.ErrInvalid},
		"/srv/images/deep/a.img":         {disk: machine.ErrInvalid},
		"/boot/vmlinuz":                  {disk: machine.ErrInvalid},
		"images/a.img":                   {disk: machine.ErrInvalid},
		"shared/a":                       {image: machine.ErrInvalid},
		"/data/a":                        {image: machine.ErrInvalid},
		"default/a":                      {image: machine.ErrInvalid, disk: machine.ErrInvalid},
		"/etc/shadow":                    {image: machine.ErrInvalid, disk: machine.ErrInvalid},
		"/srv/images/../../etc/shadow":   {image: machine.ErrInvalid, disk: machine.ErrInvalid},
		"/srv/images2/a":                 {image: machine.ErrInvalid, disk: machine.ErrInvalid},
		"/dev/sda":                       {image: machine.ErrInvalid, disk: machine.ErrInvalid},
		"a.img":                          {image: machine.ErrImageNotFound, disk: machine.ErrImageNotFound},
		"images/":                        {image: machine.ErrImageNotFound, disk: machine.ErrImageNotFound},
		"/images/a relative pool's name": {image: machine.ErrInvalid, disk: machine.ErrInvalid},
	} {
		if err := e.allowsImage(name); !errors.Is(err, want.image) {
			t.Errorf("as an image, %q: got %v, want %v", name, err, want.image)
		}
		if err := e.allowsDisk(name); !errors.Is(err, want.disk) {
			t.Errorf("as a disk, %q: got %v, want %v", name, err, want.disk)
		}
	}
}

func TestDomain(t *testing.T) {
	t.Parallel()
	spec := machine.Spec{
		Identity:  machine.Identity{Installation: "inst", UID: uid, Namespace: "default", Name: "web"},
		Hash:      "abc",
		Resources: machine.Resources{MilliCPU: 1500, MemoryBytes: 1_000_000_000, RootDiskBytes: 1 << 30},
		Boot:      machine.Boot{Kernel: "/k", Initrd: "/i", Cmdline: "a <b>"},
		Networks: []machine.Network{
			{Name: "out", Type: machine.NetworkUser},
			{Name: "lan", Type: machine.NetworkNamed, Source: "default", MAC: "52:54:00:AA:BB:CC"},
			{Name: "dmz", Type: machine.NetworkBridged, Source: "br0"},
		},
	}
	host := hostFacts{cpus: 8, arch: "x86_64", domainType: "kvm", headroom: 2}
	root := volumePrefix(spec.Identity) + "root.qcow2"
	disks := []disk{
		host.diskOf(attachment{pool: "default", volume: root, format: formatQCOW2}, 0, false),
		host.diskOf(attachment{device: "/dev/sdz", format: formatRaw}, 1, true),
	}
	made := recordOf(spec)
	made.Volumes = []volume{{Pool: "default", Name: root}}
	d, err := domainOf(spec, host, "default-web-0f9a63b2", made, disks, "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := xml.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/domain.xml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What libvirt gives back is read as what was asked for.
	read, err := describe(string(got))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(spec.Resources, read.resources()); diff != "" {
		t.Errorf("the size was (-asked +read):\n%s", diff)
	}
	if r := read.Metadata.Record; r.identity() != spec.Identity || !r.ours(read.UUID) || len(r.Volumes) != 1 {
		t.Errorf("the record is read as %+v", r)
	}
}

func TestSizeIsWhatTheDomainHas(t *testing.T) {
	t.Parallel()
	var d described
	d.Metadata.Record = record{MilliCPU: 1500, MemoryBytes: 1_000_000_000, RootDiskBytes: 5}
	d.VCPU, d.CurrentMemory = vcpus{Maximum: 4, Current: 2}, amount{Value: 954 << 10}
	if got := d.resources(); got != (machine.Resources{MilliCPU: 1500, MemoryBytes: 1_000_000_000, RootDiskBytes: 5}) {
		t.Errorf("a domain that has what was asked for has %+v", got)
	}
	d.Memory.Value, d.CurrentMemory.Value = 2<<20, 2<<20
	if got := d.resources().MemoryBytes; got != 1_000_000_000 {
		t.Errorf("a guest that has not yet given back its headroom has %d bytes", got)
	}
	d.Memory.Value = 954 << 10
	d.VCPU.Current, d.CurrentMemory.Value = 0, 1<<19
	if got := d.resources(); got != (machine.Resources{MilliCPU: 4000, MemoryBytes: 1 << 29, RootDiskBytes: 5}) {
		t.Errorf("a domain that somebody has changed has %+v", got)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	id := machine.Identity{Installation: "inst", UID: uid, Namespace: strings.Repeat("n", 63), Name: strings.Repeat("m", 253)}
	for _, name := range namesOf(id) {
		if len(name) > 200 || !strings.Contains(name, id.UID[:8]) {
			t.Errorf("a domain may be called %q, of %d bytes", name, len(name))
		}
	}
	if parsed, ok := uuidOf(uid); !ok || textOf(parsed) != uid {
		t.Errorf("%s is read as %s, %t", uid, textOf(parsed), ok)
	}
	for _, bad := range []string{"", "vm", strings.ReplaceAll(uid, "-", ""), strings.Replace(uid, "0f", "zz", 1)} {
		if _, ok := uuidOf(bad); ok {
			t.Errorf("%q was taken for a UUID", bad)
		}
	}
	for uuid, want := range map[string]bool{uid: true, strings.ToUpper(uid): true, strings.Replace(uid, "0f", "1f", 1): false} {
		if r := (record{Installation: "inst", UID: uid}); r.ours(uuid) != want {
			t.Errorf("a domain with UUID %q is ours: %t", uuid, !want)
		}
	}
	other := id
	other.Installation = "another"
	if volumePrefix(id) == volumePrefix(other) {
		t.Error("two installations have volumes of one name")
	}
}

func TestMAC(t *testing.T) {
	t.Parallel()
	first, err := macOf(uid, machine.Network{Name: "a"})
	if err != nil || !strings.HasPrefix(first, "52:54:00:") {
		t.Fatalf("got %q, %v", first, err)
	}
	if again, _ := macOf(uid, machine.Network{Name: "a"}); again != first {
		t.Errorf("the address was %s and is %s", first, again)
	}
	if second, _ := macOf(uid, machine.Network{Name: "b"}); second == first {
		t.Error("two cards have one address")
	}
	for _, bad := range []string{"x", "01:00:5e:00:00:01", "00:00:00:00:00:00:00:01"} {
		if _, err := macOf(uid, machine.Network{Name: "a", MAC: bad}); !errors.Is(err, machine.ErrInvalid) {
			t.Errorf("%q returned %v", bad, err)
		}
	}
}

func TestSpecsThatNoHostCanRun(t *testing.T) {
	t.Parallel()
	good := machine.Spec{
		Identity: machine.Identity{Installation: "inst", UID: uid, Namespace: "default", Name: "web"},
		Boot:     machine.Boot{Kernel: "/k"},
	}
	if err := check(good); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*machine.Spec)
		kind   error
	}{
		"no UUID":             {func(s *machine.Spec) { s.UID = "vm" }, machine.ErrInvalid},
		"no installation":     {func(s *machine.Spec) { s.Installation = "" }, machine.ErrInvalid},
		"a name with a slash": {func(s *machine.Spec) { s.Name = "../web" }, machine.ErrInvalid},
		"nothing to boot":     {func(s *machine.Spec) { s.Boot = machine.Boot{} }, machine.ErrInvalid},
		"initrd alone": {func(s *machine.Spec) {
			s.Boot, s.Image.Name = machine.Boot{Initrd: "/i"}, "a/b"
		}, machine.ErrInvalid},
		"a kernel here or there":       {func(s *machine.Spec) { s.Boot.Kernel = "vmlinuz" }, machine.ErrInvalid},
		"a kernel by a crooked way":    {func(s *machine.Spec) { s.Boot.Kernel = "/srv/current/../k" }, machine.ErrInvalid},
		"an initrd by a crooked way":   {func(s *machine.Spec) { s.Boot.Initrd = "/srv/current/../i" }, machine.ErrInvalid},
		"less memory than a guest has": {func(s *machine.Spec) { s.Resources.MemoryBytes = 512 << 10 }, machine.ErrInvalid},
		"less CPU than a guest has":    {func(s *machine.Spec) { s.Resources.MilliCPU = 5 }, machine.ErrInvalid},
		"a root disk below zero":       {func(s *machine.Spec) { s.Resources.RootDiskBytes = -1 }, machine.ErrInvalid},
		"a network of no kind": {func(s *machine.Spec) {
			s.Networks = []machine.Network{{Name: "a", Type: "tap"}}
		}, machine.ErrInvalid},
		"a pull of the image": {func(s *machine.Spec) { s.Image.PullPolicy = machine.PullAlways }, machine.ErrUnsupported},
		"a pull secret":       {func(s *machine.Spec) { s.Image.Registry = &machine.RegistryAuth{Username: "a"} }, machine.ErrUnsupported},
		"a container's ports": {func(s *machine.Spec) { s.Ports = []machine.Port{{Port: 80}} }, machine.ErrUnsupported},
		"a container's env":   {func(s *machine.Spec) { s.Env = []machine.EnvVar{{Name: "A"}} }, machine.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := good
			test.change(&spec)
			if err := check(spec); !errors.Is(err, test.kind) {
				t.Errorf("got %v, want %v", err, test.kind)
			}
		})
	}
}

func TestCapabilities(t *testing.T) {
	t.Parallel()
	guest := func(arch string, types ...string) string {
		return "<guest><os_type>hvm</os_type><arch name='" + arch + "'><domain type='" + strings.Join(types, "'/><domain type='") + "'/></arch></guest>"
	}
	host := "<capabilities><host><cpu><arch>x86_64</arch></cpu></host>"
	for name, test := range map[string]struct{ text, want string }{
		"KVM is taken where it is":       {guest("x86_64", "qemu", "kvm"), "kvm"},
		"emulation is better than none":  {guest("i686", "kvm") + guest("x86_64", "qemu"), "qemu"},
		"another architecture is no use": {guest("aarch64", "qemu"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := readCapabilities(host + test.text + "</capabilities>")
			if got != test.want || (err != nil) != (test.want == "") {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestKVMIsBelievedOfTheProcessorOnly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arch, cpuinfo string
		err           error
		want          bool
	}{
		"Intel":                 {arch: "x86_64", cpuinfo: "model : a\nflags\t\t: fpu vmx sse\n", want: true},
		"AMD":                   {arch: "x86_64", cpuinfo: "flags\t\t: fpu svm\n", want: true},
		"a guest itself":        {arch: "x86_64", cpuinfo: "flags\t\t: fpu hypervisor\nvmx flags : vnmi\n"},
		"svm is part of a word": {arch: "x86_64", cpuinfo: "flags\t\t: svm_lock nosvm\n"},
		"nobody knows":          {arch: "x86_64", err: io.EOF},
		"ARM has no such flag":  {arch: "aarch64", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := accelerates(test.arch, func() (string, error) { return test.cpuinfo, test.err }); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	spec := machine.Spec{
		Identity: machine.Identity{UID: uid, Name: "web"},
		CloudInit: machine.CloudInit{
			UserData: "#cloud-config\n" + strings.Repeat("x", 60_000), NetworkData: "version: 2\n",
		},
	}
	image, err := seedImage(spec)
	if err != nil {
		t.Fatal(err)
	}
	memory := &memoryFile{content: image}
	volume, err := fat12.Read(file.New(memory, true), int64(len(image)), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if label := strings.TrimSpace(volume.Label()); label != seedLabel {
		t.Errorf("the label is %q", label)
	}
	for name, want := range map[string]string{
		"user-data":      spec.CloudInit.UserData,
		"network-config": "version: 2\n",
		"meta-data":      "instance-id: " + uid + "\nlocal-hostname: web\n",
	} {
		in, err := volume.OpenFile("/"+name, os.O_RDONLY)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if err != nil || string(got) != want {
			t.Errorf("%s has %d bytes and is %.60q, %v, want %.60q", name, len(got), got, err, want)
		}
	}
}

func TestSeedSaysNothingOfWhatIsInIt(t *testing.T) {
	t.Parallel()
	_, err := seedImage(machine.Spec{CloudInit: machine.CloudInit{UserData: "hunter2" + strings.Repeat("x", maxSeed)}})
	if !errors.Is(err, machine.ErrInvalid) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestWorkingSet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		values map[string]uint64
		want   uint64
	}{
		"the guest says what it needs": {map[string]uint64{
			"balloon.available": 1000, "balloon.usable": 600, "balloon.rss": 900, "balloon.current": 1000,
		}, 400},
		"the guest says nothing":           {map[string]uint64{"balloon.rss": 300, "balloon.current": 1000}, 300},
		"its process has more than it has": {map[string]uint64{"balloon.rss": 1300, "balloon.current": 1000}, 1000},
		"nobody says anything":             {map[string]uint64{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := workingSet(test.values); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	ran := described{}
	ran.Metadata.Record.Run = "a"
	for name, test := range map[string]struct {
		domain found
		want   machine.State
		cause  string
	}{
		"new": {found{state: golibvirt.DomainShutoff}, machine.StateCreated, ""},
		"off since the daemon was started": {
			found{described: ran, state: golibvirt.DomainShutoff}, machine.StateStopped, "",
		},
		"turned off": {
			found{state: golibvirt.DomainShutoff, reason: int32(golibvirt.DomainShutoffDestroyed)}, machine.StateStopped, "",
		},
		"killed": {
			found{state: golibvirt.DomainShutoff, reason: int32(golibvirt.DomainShutoffCrashed)}, machine.StateStopped, "crashed",
		},
		// Its first start had failed, and it counted as one that had ended by itself: with runStrategy Once, it was never started.
		"new, and could not be started": {
			found{state: golibvirt.DomainShutoff, reason: int32(golibvirt.DomainShutoffFailed)}, machine.StateCreated, "could not be started",
		},
		"could not be started again": {
			found{described: ran, state: golibvirt.DomainShutoff, reason: int32(golibvirt.DomainShutoffFailed)}, machine.StateStopped, "could not be started",
		},
		"kept after a crash": {found{state: golibvirt.DomainCrashed}, machine.StateStopped, "crashed"},
		"on":                 {found{state: golibvirt.DomainRunning}, machine.StateRunning, ""},
		"asleep":             {found{state: golibvirt.DomainPmsuspended, reason: 5}, machine.StatePaused, ""},
		"suspended by somebody": {
			found{state: golibvirt.DomainPaused, reason: int32(golibvirt.DomainPausedUser)}, machine.StatePaused, "",
		},
		// Its disk was full, and it was said to wait for somebody who had suspended it.
		"suspended by its host": {
			found{state: golibvirt.DomainPaused, reason: int32(golibvirt.DomainPausedIoerror)},
			machine.StatePaused,
			"I/O error, as of a disk of the host that is full",
		},
		"on its way":      {found{state: golibvirt.DomainShutdown}, machine.StateStopping, ""},
		"from the future": {found{state: 42}, machine.StateUnknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := stateOf(&test.domain); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			observed, err := new(driver).observe(t.Context(), &test.domain)
			if running := test.domain.state == golibvirt.DomainRunning; !running && (err != nil || observed.Cause != test.cause) {
				t.Errorf("got %q, %v, want %q", observed.Cause, err, test.cause)
			}
		})
	}
}
