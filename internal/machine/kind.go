// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
)

// KindOf returns the kind of a driver's error in a word, empty for none. That a machine does not exist is an answer and not an error.
func KindOf(err error) string {
	if err == nil || errors.Is(err, ErrNotFound) {
		return ""
	}
	for _, kind := range []struct {
		err  error
		name string
	}{
		{ErrUnreachable, "unreachable"},
		{ErrConflict, "conflict"},
		{ErrDiskMismatch, "disk_mismatch"},
		{ErrDiskLost, "disk_lost"},
		{ErrInvalid, "invalid"},
		{ErrUnsupported, "unsupported"},
		{ErrImageNotFound, "image_not_found"},
		{ErrImagePull, "image_pull"},
		{ErrNoCapacity, "no_capacity"},
		{ErrBusy, "busy"},
		{ErrOff, "off"},
		{ErrRestartRequired, "restart_required"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "timeout"},
	} {
		if errors.Is(err, kind.err) {
			return kind.name
		}
	}
	return "other"
}
