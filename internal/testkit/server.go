// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-operator/windlass/internal/kube"
)

// server is the API server of the package under test; config is nil where there is none, and skip says why.
var server struct { //nolint:gochecknoglobals // TestMain starts it, the tests find it: a test has no other way to be handed it
	config *rest.Config
	skip   string
}

// Main runs the tests of a package with an API server of its own. Call it from TestMain. With -short, or where the API
// server has not been built, tests that ask for a harness are skipped and all others run.
func Main(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	root := Root()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join(root, "bin", "k8s")
	}
	if testing.Short() {
		server.skip = "needs an API server, which -short leaves out"
		return m.Run()
	}
	if _, err := os.Stat(filepath.Join(assets, "kube-apiserver")); err != nil {
		server.skip = fmt.Sprintf("needs an API server in %s: run \"make build\" first", assets)
		return m.Run()
	}

	environment := &envtest.Environment{
		BinaryAssetsDirectory:   assets,
		CRDDirectoryPaths:       []string{filepath.Join(root, "config", "crd", "bases")},
		ErrorIfCRDPathMissing:   true,
		ControlPlaneStopTimeout: 20 * time.Second,
		// Other packages start theirs at the same time.
		ControlPlaneStartTimeout: 2 * time.Minute,
		CRDInstallOptions:        envtest.CRDInstallOptions{MaxTime: 2 * time.Minute},
	}
	// Owners are only referenced with the right to: a missing finalizers permission has to show in the tests. Kubelets write what
	// they may write in every cluster.
	environment.ControlPlane.GetAPIServer().Configure().
		Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement,NodeRestriction")
	config, err := environment.Start()
	if err != nil {
		// What could be started before the error would outlive the tests.
		fmt.Fprintf(os.Stderr, "cannot start the API server of the tests: %v\n", errors.Join(err, environment.Stop()))
		return 1
	}
	config.QPS = -1
	server.config = config

	code := 1
	if err := awaitKinds(config); err != nil {
		fmt.Fprintf(os.Stderr, "the API server of the tests does not serve the kinds: %v\n", err)
	} else {
		code = m.Run()
	}
	if err := environment.Stop(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot stop the API server of the tests: %v\n", err)
	}
	return code
}

// awaitKinds waits until the clients of the tests find the kinds of Windlass.
func awaitKinds(config *rest.Config) error {
	return wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, missing, err := kube.NewMapper(config, kube.Kinds()...)
		return len(missing) == 0, err
	})
}

// Root returns the top folder of the repository.
func Root() string {
	_, file, _, ok := runtime.Caller(0)
	if ok && filepath.IsAbs(file) {
		return filepath.Join(filepath.Dir(file), "..", "..")
	}
	// Built with -trimpath the compiler knows no path: go test runs in the package's folder, somewhere below the root.
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return "."
}
