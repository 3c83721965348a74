// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package realnode

import (
	"fmt"

	"github.com/containerd/containerd/v2/plugins/snapshots/overlay/overlayutils"
	"golang.org/x/sys/unix"
)

// snapshotter returns overlayfs if the file system supports it, or else the one that copies, which works anywhere.
func snapshotter(dir string) string {
	if overlayutils.Supported(dir) == nil {
		return "overlayfs"
	}
	return "native"
}

// lacksResources reports whether this process has no CAP_SYS_RESOURCE. Without it, containers cannot be protected from the
// out-of-memory killer better than this process, and containerd must not try.
func lacksResources() (bool, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return false, fmt.Errorf("cannot read the capabilities of this process: %w", err)
	}
	return sets[0].Effective&(1<<unix.CAP_SYS_RESOURCE) == 0, nil
}
