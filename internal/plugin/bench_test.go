// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// BenchmarkStartup is the CPU time of the plugin from its start to its end, with a command that asks nobody, and that of kubectl.
func BenchmarkStartup(b *testing.B) {
	b.Run("plugin", func(b *testing.B) { measureCPU(b, "../../bin/windlass", "", "version") })
	b.Run("kubectl", func(b *testing.B) { measureCPU(b, "../../bin/k8s/kubectl", "", "version", "--client") })
}

// BenchmarkStatus is the CPU time of the plugin's status with 5,000 nodes of 10 KB each.
func BenchmarkStatus(b *testing.B) {
	server := httptest.NewServer(&manyNodes{count: 5000, padding: strings.Repeat("x", 10_000), asked: map[string]int{}})
	defer server.Close()
	config := kubeconfigFor(b, &rest.Config{Host: server.URL}, "")
	measureCPU(b, "../../bin/windlass", config, "status")
}

// measureCPU runs a program that was built, the plugin under its name, and reports the CPU time of its process.
func measureCPU(b *testing.B, path, kubeconfig string, args ...string) {
	b.Helper()
	program, err := filepath.Abs(path)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		b.Skip(path + " is not built")
	}
	var spent time.Duration
	for b.Loop() {
		command := exec.CommandContext(b.Context(), program, args...)
		command.Args[0] = strings.Replace(filepath.Base(program), "windlass", "kubectl-windlass", 1)
		command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
		if out, err := command.CombinedOutput(); err != nil && command.ProcessState.ExitCode() != exitNotReady {
			b.Fatalf("%v: %s", err, out)
		}
		spent += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(spent.Milliseconds())/float64(b.N), "cpu-ms/op")
}
