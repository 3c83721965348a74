// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command guest is the first and only program in the virtual machines of tests. It reports its state on the console once a second, answers what is typed there, and turns the
// machine off when the power button is pressed, unless the kernel's command line forbids it.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	if err := live(); err != nil {
		fmt.Println("guest:", err)
	}
	// The kernel panics if its first program ends.
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

func live() error {
	for _, m := range [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}} {
		if err := os.MkdirAll(m[1], 0o755); err != nil {
			return err
		}
		if err := unix.Mount("none", m[1], m[0], 0, ""); err != nil && !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("cannot mount %s: %w", m[1], err)
		}
	}
	if err := loadModules(); err != nil {
		return err
	}
	cmdline, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return err
	}
	pressed := make(chan struct{}, 1)
	if !strings.Contains(string(cmdline), "guest.ignore") {
		if err := listen(pressed); err != nil {
			return err
		}
	}
	boots, err := countBoots()
	if err != nil {
		return err
	}
	seed := readSeed()
	go answer()
	for tick := time.NewTicker(time.Second); ; {
		fmt.Printf("guest: boot=%d cpus=%d memory=%s seed=%q ready\n", boots, onlineCPUs(), totalMemory(), seed)
		select {
		case <-pressed:
			fmt.Println("guest: asked to stop")
			return nil
		case <-tick.C:
		}
	}
}

// answer repeats each line that is typed on the console.
func answer() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Printf("heard: %s\n", strings.TrimSpace(lines.Text()))
	}
}

// loadModules loads the modules in /modules in the order of their names.
func loadModules() error {
	paths, err := filepath.Glob("/modules/*")
	if err != nil {
		return err
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(file.Fd()), "", 0)
		if err = errors.Join(err, file.Close()); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("cannot load %s: %w", path, err)
		}
	}
	return nil
}

// listen waits for the power button on every input device.
func listen(pressed chan<- struct{}) error {
	devices, err := filepath.Glob("/dev/input/event*")
	if err != nil {
		return err
	}
	if len(devices) == 0 {
		return errors.New("there is no power button")
	}
	for _, device := range devices {
		file, err := os.Open(device)
		if err != nil {
			return err
		}
		go hear(file, pressed)
	}
	return nil
}

// hear reads events from a device.
func hear(file *os.File, pressed chan<- struct{}) {
	const key, power = 1, 116
	for {
		var event struct {
			Seconds, Micros uint64
			Type, Code      uint16
			Value           int32
		}
		raw := make([]byte, binary.Size(event))
		if _, err := file.Read(raw); err != nil {
			return
		}
		if err := binary.Read(bytes.NewReader(raw), binary.NativeEndian, &event); err != nil {
			return
		}
		if event.Type == key && event.Code == power && event.Value == 1 {
			select {
			case pressed <- struct{}{}:
			default:
			}
		}
	}
}

// countBoots counts boots on the first disk.
func countBoots() (int, error) {
	disk, err := os.OpenFile("/dev/vda", os.O_RDWR|os.O_SYNC, 0)
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = disk.Close() }() // It was opened for synchronous writes.
	sector := make([]byte, 512)
	if _, err := disk.ReadAt(sector, 0); err != nil {
		return 0, err
	}
	const mark = "image "
	if !bytes.HasPrefix(sector, []byte(mark)) {
		return -1, nil
	}
	sector[len(mark)]++
	_, err = disk.WriteAt(sector, 0)
	return int(sector[len(mark)] - '0'), err
}

// readSeed returns the first line of the user data and the instance ID from the seed.
func readSeed() string {
	if err := os.MkdirAll("/seed", 0o755); err != nil {
		return err.Error()
	}
	disks, _ := filepath.Glob("/dev/vd?")
	for _, disk := range disks {
		if unix.Mount(disk, "/seed", "vfat", unix.MS_RDONLY, "") != nil {
			continue
		}
		user, err := os.ReadFile("/seed/user-data")
		if err != nil {
			return err.Error()
		}
		meta, err := os.ReadFile("/seed/meta-data")
		if err != nil {
			return err.Error()
		}
		line, _, _ := strings.Cut(string(user), "\n")
		return line + "|" + strings.TrimSpace(string(meta))
	}
	return "none"
}

// onlineCPUs activates the processors that were added, and counts all.
func onlineCPUs() int {
	paths, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/online")
	for _, path := range paths {
		_ = os.WriteFile(path, []byte("1"), 0o600)
	}
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return runtime.NumCPU()
	}
	return bytes.Count(stat, []byte("cpu")) - 1
}

func totalMemory() string {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			return strings.ReplaceAll(value, " ", "")
		}
	}
	return "unknown"
}
