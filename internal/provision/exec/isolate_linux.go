// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The versions of Landlock's interface that brought more to restrict.
const (
	landlockRefer    = 2
	landlockTruncate = 3
	landlockIoctl    = 5
	landlockScopes   = 6
)

// What a tool can do with files that it can read, and which rights exist for directories only.
const (
	rightsToRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	rightsOfDirs = unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
)

// CanIsolate returns nil if this machine can isolate tools, or else why not.
func CanIsolate() error {
	_, err := landlockVersion()
	return err
}

// landlockVersion returns the version of Landlock's interface. Landlock needs no right, and so works in a container as well; libraries for
// it restrict the whole process, but the supervisor has to go on working.
func landlockVersion() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("the kernel does not offer Landlock (%w): it needs Linux 5.13 or later with landlock among its lsm", errno)
	}
	return int(version), nil
}

// restrict lets this thread, and every process that it starts, use these files only.
func restrict(allowed *access) error {
	version, err := landlockVersion()
	if err != nil {
		return err
	}
	rights := allRights(version)
	rules := unix.LandlockRulesetAttr{Handled_access_fs: rights}
	if allowed.Alone && version >= landlockScopes {
		rules.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	created, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), unsafe.Sizeof(rules), 0) //nolint:gosec // how a system call takes a structure
	if errno != 0 {
		return fmt.Errorf("cannot create rules: %w", errno)
	}
	defer func() { _ = unix.Close(int(created)) }()
	for _, path := range allowed.Read {
		err = errors.Join(err, allow(created, path, rights&rightsToRead))
	}
	for _, path := range allowed.Write {
		err = errors.Join(err, allow(created, path, rights))
	}
	if err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	// Otherwise a program that runs as its owner could have more than the one that started it.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot give up new rights: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, created, 0, 0); errno != 0 {
		return fmt.Errorf("cannot apply rules: %w", errno)
	}
	return nil
}

// dropCapabilities takes from the programs that this thread starts what leads root past its rules: to the memory of other processes, to
// devices, and into the kernel. Who is not root has nothing of it.
func dropCapabilities() error {
	for _, capability := range []uintptr{
		unix.CAP_BPF, unix.CAP_DAC_READ_SEARCH, unix.CAP_MKNOD, unix.CAP_PERFMON, unix.CAP_SYS_ADMIN, unix.CAP_SYS_BOOT, unix.CAP_SYS_MODULE,
		unix.CAP_SYS_PTRACE, unix.CAP_SYS_RAWIO,
	} {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) { // EINVAL: the kernel does not know it
			return fmt.Errorf("cannot drop capability %d: %w", capability, err)
		}
	}
	return nil
}

// allRights returns what the version can restrict, which is therefore forbidden unless a rule allows it.
func allRights(version int) uint64 {
	rights := uint64(rightsToRead | rightsOfDirs&^unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_WRITE_FILE)
	for since, right := range map[int]uint64{
		landlockRefer: unix.LANDLOCK_ACCESS_FS_REFER, landlockTruncate: unix.LANDLOCK_ACCESS_FS_TRUNCATE,
		landlockIoctl: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
	} {
		if version >= since {
			rights |= right
		}
	}
	return rights
}

// allow adds a rule for a file, or for a directory with everything in it.
func allow(rules uintptr, path string, rights uint64) error {
	at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil // what this process cannot reach, the tool cannot reach either
	}
	if err != nil {
		return fmt.Errorf("cannot open %q: %w", path, err)
	}
	defer func() { _ = unix.Close(at) }()
	var info unix.Stat_t
	if err := unix.Fstat(at, &info); err != nil {
		return fmt.Errorf("cannot inspect %q: %w", path, err)
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &^= rightsOfDirs
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(at)}                                                        //nolint:gosec // a descriptor is small
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0) //nolint:gosec // how a system call takes a structure
	if errno != 0 {
		return fmt.Errorf("cannot allow %q: %w", path, errno)
	}
	return nil
}
