// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// BenchmarkMachine makes and starts machines through the driver, and as many containers with the engine's client alone, in turns. The ratio
// is what the driver costs; -benchtime=100x makes a hundred of each.
func BenchmarkMachine(b *testing.B) {
	_, driver, api := shared(b)
	var ours, bare time.Duration
	for i := 0; b.Loop(); i++ {
		// The second of the two finds more containers in the engine.
		if i%2 == 0 {
			ours += timed(func() { throughDriver(b, driver) })
			bare += timed(func() { throughClient(b, api) })
		} else {
			bare += timed(func() { throughClient(b, api) })
			ours += timed(func() { throughDriver(b, driver) })
		}
	}
	b.ReportMetric(float64(ours)/float64(bare), "ratio")
	b.ReportMetric(ours.Seconds()*1000/float64(b.N), "ms/machine")
	b.ReportMetric(bare.Seconds()*1000/float64(b.N), "ms/container")
}

// BenchmarkStats reads the counters of twenty machines.
func BenchmarkStats(b *testing.B) {
	_, driver, _ := shared(b)
	id := newIdentity()
	for range 20 {
		one := newIdentity()
		one.Installation = id.Installation
		run(b, driver, specOf(one))
	}
	for b.Loop() {
		if samples, err := driver.Stats(b.Context(), id.Installation); err != nil || len(samples) != 20 {
			b.Fatalf("Stats returned %d samples, %v", len(samples), err)
		}
	}
}

func timed(do func()) time.Duration {
	begin := time.Now()
	do()
	return time.Since(begin)
}

func throughDriver(b *testing.B, driver machine.Driver) {
	b.Helper()
	spec := specOf(newIdentity())
	removeAtEnd(b, driver, spec.Identity)
	if _, err := driver.Create(b.Context(), spec); err != nil {
		b.Fatal(err)
	}
	if err := driver.Start(b.Context(), spec.Identity); err != nil {
		b.Fatal(err)
	}
}

func throughClient(b *testing.B, api *client.Client) {
	b.Helper()
	made, err := api.ContainerCreate(b.Context(), client.ContainerCreateOptions{
		Config: &container.Config{Image: dockertest.Image},
		HostConfig: &container.HostConfig{Resources: container.Resources{
			NanoCPUs: 100_000_000, Memory: 32 << 20, MemorySwap: 32 << 20,
		}},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { removeForeign(b, api, made.ID) })
	if _, err := api.ContainerStart(b.Context(), made.ID, client.ContainerStartOptions{}); err != nil {
		b.Fatal(err)
	}
}
