// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// wanted is the variable by which "make causes" asks for all faults.
const wanted = "WINDLASS_CAUSES"

// sideBySide is how many faults are induced at a time: they wait most of the time. "make test" has other tests to run beside them.
const sideBySide, besideOthers = "24", "8"

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	parallel := besideOthers
	if everything() {
		parallel = sideBySide
	}
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// everything reports whether all faults are wanted, also those that need more than a control plane.
func everything() bool { return os.Getenv(wanted) != "" }
