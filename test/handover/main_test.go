// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"flag"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
