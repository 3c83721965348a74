// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package process

import (
	"os"
	"testing"
)

func TestProcessIsTheSameInAnotherTimeZoneAndLanguage(t *testing.T) {
	t.Setenv("TZ", "Asia/Tokyo")
	p, _ := start(t, untilKilled)
	t.Setenv("TZ", "America/New_York")
	t.Setenv("LC_ALL", "zh_CN.UTF-8")
	if !alive(t, p.ID) {
		t.Error("a running process counts as ended")
	}
}

func TestProcessIsNotSaidToHaveEndedWithoutPs(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if alive, err := (ID{PID: os.Getpid(), Started: "then"}).Alive(); err == nil {
		t.Errorf("got %v without an error", alive)
	}
}
