// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// wanted is the variable by which "make causes" asks for the faults.
const wanted = "WINDLASS_CAUSES"

// sideBySide is how many faults are induced at a time. They wait most of the time.
const sideBySide = "24"

// shared is what all faults share, or why there is none.
var shared struct {
	*world

	skip string
}

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() {
		shared.skip = "needs a whole cluster, which -short leaves out"
		return m.Run()
	}
	if os.Getenv(wanted) == "" {
		shared.skip = "takes minutes of two cores: run \"make causes\""
		return m.Run()
	}
	w, err := newWorld()
	if err != nil {
		shared.skip = err.Error()
		return m.Run()
	}
	if err := flag.Set("test.parallel", sideBySide); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	err = w.start(ctx)
	defer w.stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot start the cluster of the tests: %v\n", err)
		return 1
	}
	shared.world = w
	return m.Run()
}
