// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import "github.com/windlass-operator/windlass/internal/machine"

// NoticeKind says what a Notice is about.
type NoticeKind string

// The kinds of notices.
const (
	// MachineChanged: something happened to one machine, or its host answers again after a Get about it had no answer.
	MachineChanged NoticeKind = "MachineChanged"
	// HostUp: the host answers, for the first time or again.
	HostUp NoticeKind = "HostUp"
	// HostDown: the host no longer answers. Nothing is known about its machines.
	HostDown NoticeKind = "HostDown"
	// WatchStarted: from now on events of the host arrive. Earlier ones may be lost: observe every machine of the host once.
	WatchStarted NoticeKind = "WatchStarted"
)

// Notice says that something happened on a host.
type Notice struct {
	Host string
	Kind NoticeKind
	// Event says to which machine, for MachineChanged.
	Event machine.Event
}
