// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirttest

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// KernelEnv is the environment variable with the directory of an unpacked Debian package of a cloud kernel, for machines on which the package is
// not installed.
const KernelEnv = "WINDLASS_TEST_KERNEL"

// QEMU is the program that runs guests.
const QEMU = "qemu-system-x86_64"

// Guest has the paths of what a guest boots.
type Guest struct{ Kernel, Initrd string }

// NewGuest finds a kernel and packs the program of package guest into an initrd below the daemon's directory. It skips the test where there is no
// kernel or no QEMU.
func NewGuest(tb testing.TB, d *Daemon) Guest {
	tb.Helper()
	if _, err := exec.LookPath(QEMU); err != nil {
		tb.Skip("no virtual machine: " + QEMU + " is not installed (Debian has it in qemu-system-x86)")
	}
	root := cmp.Or(os.Getenv(KernelEnv), "/")
	kernels, err := filepath.Glob(filepath.Join(root, "boot/vmlinuz-*-cloud-amd64"))
	if err != nil || len(kernels) == 0 {
		tb.Skip("no virtual machine: there is no kernel " + filepath.Join(root, "boot/vmlinuz-*-cloud-amd64") +
			" (Debian has it in linux-image-cloud-amd64; " + KernelEnv + " says where it was unpacked)")
	}
	kernel := slices.Max(kernels)
	initrd, err := packInitrd(tb.Context(), tb.TempDir(), filepath.Join(root, "lib/modules", strings.TrimPrefix(filepath.Base(kernel), "vmlinuz-")))
	if err != nil {
		tb.Fatal(err)
	}
	out := Guest{Kernel: d.Path("vmlinuz"), Initrd: d.Path("initrd")}
	text, err := os.ReadFile(kernel)
	if err != nil {
		tb.Fatal(err)
	}
	for path, content := range map[string][]byte{out.Kernel: text, out.Initrd: initrd} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// packInitrd returns a file system with the program, and with the modules for disks and the power button.
func packInitrd(ctx context.Context, dir, modules string) ([]byte, error) {
	program := filepath.Join(dir, "guest")
	const pkg = "github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest/guest"
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot compile the guest: %w\n%s", err, out)
	}
	order, err := loadOrder(modules, "button", "evdev", "virtio_pci", "virtio_blk", "virtio_balloon", "vfat", "nls_cp437", "nls_ascii")
	if err != nil {
		return nil, err
	}
	var archive newc
	archive.directory("dev")
	archive.device("dev/console", 5, 1)
	archive.directory("modules")
	files := []string{program}
	names := []string{"init"}
	for i, path := range order {
		files, names = append(files, path), append(names, fmt.Sprintf("modules/%03d", i))
	}
	for i, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot pack an initrd: %w", err)
		}
		archive.file(names[i], content)
	}
	return archive.bytes(), nil
}

// loadOrder returns the paths of the modules and of their dependencies, which come first. The lists of depmod exist only where a kernel is
// installed, so it reads the modules themselves.
func loadOrder(root string, wanted ...string) ([]string, error) {
	paths := map[string]string{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(filepath.Base(path), ".ko"); ok {
			paths[strings.ReplaceAll(name, "-", "_")] = path
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot find modules: %w", err)
	}
	var order []string
	seen := map[string]bool{}
	var add func(name string) error
	add = func(name string) error {
		path, ok := paths[name]
		if seen[name] || !ok { // A name without a module is built into the kernel.
			return nil
		}
		seen[name] = true
		needs, err := needsOf(path)
		if err != nil {
			return err
		}
		for _, need := range needs {
			if err := add(need); err != nil {
				return err
			}
		}
		order = append(order, path)
		return nil
	}
	for _, name := range wanted {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// needsOf returns the names of the modules that a module depends on.
func needsOf(path string) ([]string, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read module %q: %w", path, err)
	}
	defer func() { _ = file.Close() }()
	section := file.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("cannot read module %q: it has no .modinfo", path)
	}
	info, err := section.Data()
	if err != nil {
		return nil, fmt.Errorf("cannot read module %q: %w", path, err)
	}
	for line := range strings.SplitSeq(string(info), "\x00") {
		if needs, ok := strings.CutPrefix(line, "depends="); ok && needs != "" {
			return strings.Split(strings.ReplaceAll(needs, "-", "_"), ","), nil
		}
	}
	return nil, nil
}

// newc is an archive in cpio's format newc, which the kernel unpacks.
type newc struct {
	out   bytes.Buffer
	inode int
}

func (n *newc) directory(name string) { n.entry(name, 0o040755, 0, 0, nil) }

func (n *newc) device(name string, major, minor int) { n.entry(name, 0o020600, major, minor, nil) }

func (n *newc) file(name string, content []byte) { n.entry(name, 0o100755, 0, 0, content) }

func (n *newc) bytes() []byte {
	n.entry("TRAILER!!!", 0, 0, 0, nil)
	return n.out.Bytes()
}

// entry writes a header of thirteen numbers, the name and the content. Name and content are padded to four bytes.
func (n *newc) entry(name string, mode, major, minor int, content []byte) {
	n.inode++
	n.out.WriteString("070701")
	for _, field := range []int{n.inode, mode, 0, 0, 1, 0, len(content), 0, 0, major, minor, len(name) + 1, 0} {
		fmt.Fprintf(&n.out, "%08X", field)
	}
	n.out.WriteString(name + "\x00")
	n.fill()
	n.out.Write(content)
	n.fill()
}

func (n *newc) fill() { n.out.Write(make([]byte, -n.out.Len()&3)) }
