// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// scene is a host with a victim, whose disks and seed others try to get at, and a secret of the host's.
type scene struct {
	*stage

	secret string
	victim machine.Spec
}

func newScene(t *testing.T, parameters ...string) *scene {
	t.Helper()
	s := &scene{stage: newStorage(t, libvirttest.Start(t), parameters...)}
	s.secret = s.daemon.Path("secret")
	wantSuccess(t, "WriteFile", os.WriteFile(s.secret, []byte(strings.Repeat("secret of the host\n", 4096)), 0o600))
	s.victim = s.diskSpec("victim")
	s.victim.CloudInit.UserData = "secret of the victim"
	wantSuccess(t, "Create", s.ensure(t, s.victim))
	return s
}

// attacker returns a machine of another owner.
func (s *scene) attacker(edit func(*machine.Spec)) machine.Spec {
	spec := s.diskSpec("attacker")
	spec.UID = "bbbbbbbb-bbbb-4ccc-8ddd-eeeeeeeeeeee"
	edit(&spec)
	return spec
}

// wantRefused wants a machine that is refused before anything is made for it.
func (s *scene) wantRefused(t *testing.T, what string, edit func(*machine.Spec)) {
	t.Helper()
	before := strings.Join(s.volumes(t), "\n")
	spec := s.attacker(edit)
	wantError(t, what, s.driver.Prepare(t.Context(), spec), machine.ErrInvalid)
	_, err := s.driver.Create(t.Context(), spec)
	if err == nil {
		t.Errorf("%s: there is a machine", what)
	}
	if now := strings.Join(s.volumes(t), "\n"); now != before {
		t.Errorf("%s: the volumes were\n%s\nand are\n%s", what, before, now)
	}
}

// forge returns the header of a qcow2 image whose backing file is the path, as a guest writes it.
func forge(path string) []byte {
	const at = 112
	out := make([]byte, 64<<10)
	copy(out, "QFI\xfb")
	number := binary.BigEndian
	number.PutUint32(out[4:], 3)
	number.PutUint64(out[8:], at)
	number.PutUint32(out[16:], uint32(len(path)))
	number.PutUint32(out[20:], 16)      // cluster bits
	number.PutUint64(out[24:], 1<<20)   // size
	number.PutUint32(out[36:], 1)       // entries of the first table
	number.PutUint64(out[40:], 3*1<<16) // where it is
	number.PutUint64(out[48:], 1<<16)   // where references are counted
	number.PutUint32(out[56:], 1)
	number.PutUint32(out[96:], 4)
	number.PutUint32(out[100:], 104)
	copy(out[at:], path)
	return out
}

func TestAttackWithAGuestWrittenHeaderThatNamesABackingFile(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	root := s.disk(t, "-root")
	write(t, root, forge(s.secret))
	s.refresh(t)
	volume := root[strings.LastIndex(root, "/")+1:]
	// libvirt takes a link to a directory for another directory.
	wantSuccess(t, "Symlink", os.Symlink(s.daemon.Path("pool"), s.daemon.Path("link")))
	for what, name := range map[string]string{
		"by its volume":    "default/" + volume,
		"by its path":      root,
		"by a link":        s.daemon.Path("link", volume),
		"by a crooked way": s.daemon.Path("images") + "/../pool/" + volume,
	} {
		s.wantRefused(t, what+" as image", func(spec *machine.Spec) { spec.Image.Name = name })
		s.wantRefused(t, what+" as disk", func(spec *machine.Spec) {
			spec.Disks = []machine.Disk{{Name: "stolen", Source: name, ReadOnly: true}}
		})
	}
	// The machine itself keeps its disk as it was.
	undefine(t, s.api, s.victim.Identity)
	wantError(t, "Prepare", s.driver.Prepare(t.Context(), s.victim), machine.ErrDiskMismatch)
}

func TestAttackWithAnotherMachinesDisk(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, end := range []string{"-root", "-disk-data", "-seed"} {
		path := s.disk(t, end)
		for _, name := range []string{path, "default/" + path[strings.LastIndex(path, "/")+1:]} {
			s.wantRefused(t, name+" as image", func(spec *machine.Spec) { spec.Image.Name = name })
			s.wantRefused(t, name+" as disk", func(spec *machine.Spec) { spec.Disks = []machine.Disk{{Name: "stolen", Source: name}} })
			s.wantRefused(t, name+" as disk to read", func(spec *machine.Spec) {
				spec.Disks = []machine.Disk{{Name: "stolen", Source: name, ReadOnly: true}}
			})
		}
	}
}

func TestAttackWithASeed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	seed := s.disk(t, "-seed")
	for what, boot := range map[string]machine.Boot{
		"initrd": {Kernel: s.daemon.Path("images/base.img"), Initrd: seed},
		"kernel": {Kernel: seed},
	} {
		s.wantRefused(t, "a seed as "+what, func(spec *machine.Spec) { spec.Boot = boot })
	}
	// It was copied to a place of images: its name still says what it is.
	content, err := os.ReadFile(seed)
	wantSuccess(t, "ReadFile", err)
	copied := s.daemon.Path("images", seed[strings.LastIndex(seed, "/")+1:])
	wantSuccess(t, "WriteFile", os.WriteFile(copied, content, 0o600))
	s.wantRefused(t, "a copied seed", func(spec *machine.Spec) { spec.Image.Name = copied })
}

func TestAttackWithADiskThatOnlyMetadataTells(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	// Disks of this machine were made in what is now a pool of images, under another name.
	made := s.daemon.Path("images/plain.img")
	wantSuccess(t, "WriteFile", os.WriteFile(made, make([]byte, 1<<20), 0o600))
	text := `<domain type='qemu'><name>older</name><metadata><w:machine xmlns:w='urn:windlass:machine:v1' installation='i' uid='u'>` +
		`<w:volume pool='images' name='plain.img'/></w:machine></metadata><memory>1024</memory><os><type>hvm</type></os></domain>`
	_, err := s.api.DomainDefineXMLFlags(text, 0)
	wantSuccess(t, "Define", err)
	for _, name := range []string{"images/plain.img", made} {
		s.wantRefused(t, name, func(spec *machine.Spec) { spec.Image.Name = name })
	}
}

func TestAttackWithAnImageThatAGuestWritesTo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.wantRefused(t, "an image as disk to write", func(spec *machine.Spec) {
		spec.Disks = []machine.Disk{{Name: "image", Source: "images/base.img"}}
	})
	// Somebody else's domain has it as its disk.
	text := `<domain type='qemu'><name>foreign</name><memory>1024</memory><os><type>hvm</type></os><devices><disk type='file' device='disk'>` +
		`<source file='` + s.daemon.Path("images/base.img") + `'/><target dev='vda' bus='virtio'/></disk></devices></domain>`
	_, err := s.api.DomainDefineXMLFlags(text, 0)
	wantSuccess(t, "Define", err)
	s.wantRefused(t, "an image that a domain writes to", func(*machine.Spec) {})
}

func TestAttackWithASharedDiskAndAForgedHeader(t *testing.T) {
	t.Parallel()
	s := newScene(t, "disks=shared", "paths=/boot")
	s.definePool(t, "shared", "shared")
	shared := s.daemon.Path("shared/disk.img")
	wantSuccess(t, "WriteFile", os.WriteFile(shared, forge(s.secret), 0o600))
	s.wantRefused(t, "a shared disk as image", func(spec *machine.Spec) { spec.Image.Name = "shared/disk.img" })
	// It is attached as what it is.
	for _, readOnly := range []bool{false, true} {
		spec := s.attacker(func(spec *machine.Spec) {
			spec.Image.Name = "images/base.img"
			spec.Disks = []machine.Disk{{Name: "shared", Source: "shared/disk.img", ReadOnly: readOnly}}
		})
		wantSuccess(t, "Create", s.ensure(t, spec))
		text, err := s.api.DomainGetXMLDesc(domainOf(t, s.api, spec.Identity), 0)
		if err != nil || strings.Contains(text, "qcow2") || strings.Count(text, `type='raw'`) != 2 {
			t.Errorf("the domain is\n%s\n%v", text, err)
		}
		wantSuccess(t, "Delete", s.driver.Delete(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.Hard}))
	}
}

func TestAttackWithAnImageThatRefersToAnotherFile(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	image := func(name string) string { return s.daemon.Path("images", name) }
	qemuImg(t, "create", "-q", "-f", "qcow2", "-b", s.secret, "-F", "raw", image("backed.qcow2"), "1M")
	qemuImg(t, "create", "-q", "-f", "qcow2", "-o", "data_file="+image("data"), image("split.qcow2"), "1M")
	qemuImg(t, "create", "-q", "-f", "qcow2", "--object", "secret,id=s,data=password", "-o", "encrypt.format=aes,encrypt.key-secret=s",
		image("locked.qcow2"), "1M")
	qemuImg(t, "create", "-q", "-f", "qed", "-b", s.secret, "-F", "raw", image("backed.qed"), "1M")
	qemuImg(t, "create", "-q", "-f", "vmdk", image("a.vmdk"), "1M")
	wantSuccess(t, "WriteFile", os.WriteFile(image("b.vmdk"), []byte("# Disk DescriptorFile\nversion=1\nCID=fffffffe\nparentCID=ffffffff\n"+
		"createType=\"monolithicFlat\"\nRW 2048 FLAT \""+s.secret+"\" 0\n"), 0o600))
	wantSuccess(t, "WriteFile", os.WriteFile(image("forged.img"), forge(s.secret), 0o600))
	for _, name := range []string{"backed.qcow2", "split.qcow2", "locked.qcow2", "backed.qed", "a.vmdk", "b.vmdk", "forged.img"} {
		s.wantRefused(t, name, func(spec *machine.Spec) { spec.Image.Name = "images/" + name })
		s.wantRefused(t, name+" to read", func(spec *machine.Spec) {
			spec.Disks = []machine.Disk{{Name: "image", Source: image(name), ReadOnly: true}}
		})
	}
}
