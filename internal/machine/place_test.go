// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// room returns a host for simulated machines with whole CPUs and GiB.
func room(name string, cpu, memory, usedCPU, usedMemory int64) Room {
	return Room{
		Name: name, Driver: DriverSimulated,
		Capacity: Resources{MilliCPU: cpu * 1000, MemoryBytes: memory << 30},
		Used:     Resources{MilliCPU: usedCPU * 1000, MemoryBytes: usedMemory << 30},
	}
}

func problem(r Room, sentence string) Room { r.Problem = sentence; return r }

func machines(r Room, n int) Room { r.Machines = n; return r }

func TestPlace(t *testing.T) {
	t.Parallel()
	need := Resources{MilliCPU: 2000, MemoryBytes: 4 << 30}
	for name, c := range map[string]struct {
		hosts  []Room
		need   Resources
		wanted string
		want   string
	}{
		"the host where most still fit":        {[]Room{room("a", 8, 64, 0, 0), room("b", 16, 64, 0, 0)}, need, "", "b"},
		"free counts, not size":                {[]Room{room("a", 8, 64, 0, 0), room("b", 16, 64, 10, 0)}, need, "", "a"},
		"the scarcest resource counts":         {[]Room{room("a", 64, 8, 0, 0), room("b", 8, 64, 0, 0)}, need, "", "b"},
		"the first by name among equals":       {[]Room{room("b", 8, 64, 0, 0), room("a", 8, 64, 0, 0)}, need, "", "a"},
		"the one with fewest machines of them": {[]Room{machines(room("a", 8, 64, 0, 0), 1), room("b", 8, 64, 0, 0)}, need, "", "b"},
		"to the last byte":                     {[]Room{room("a", 2, 4, 0, 0)}, need, "", "a"},
		"one that is not well is left out":     {[]Room{problem(room("a", 64, 64, 0, 0), "gone"), room("b", 8, 8, 0, 0)}, need, "", "b"},
		"the one that is wanted, though another has more": {
			[]Room{room("a", 8, 64, 0, 0), room("b", 64, 64, 0, 0)}, need, "a", "a",
		},
		"one that knows what it has before one that does not": {[]Room{room("a", 0, 0, 0, 0), room("b", 2, 4, 0, 0)}, need, "", "b"},
		"one that does not know if there is no other":         {[]Room{room("a", 0, 0, 0, 0), room("b", 1, 4, 0, 0)}, need, "", "a"},
		"no limits: the one with fewest machines": {
			[]Room{machines(room("a", 64, 64, 0, 0), 3), machines(room("b", 1, 1, 1, 1), 2)}, Resources{}, "", "b",
		},
		"no CPU limit: memory counts": {
			[]Room{room("a", 64, 8, 64, 0), room("b", 8, 16, 8, 0)}, Resources{MemoryBytes: 1 << 30}, "", "b",
		},
		"one of another driver is left out": {
			[]Room{{Name: "a", Driver: DriverDocker}, room("b", 8, 8, 0, 0)}, need, "", "b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Place(c.hosts, c.need, DriverSimulated, c.wanted)
			if err != nil || got != c.want {
				t.Errorf("Place: %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestPlaceRefuses(t *testing.T) {
	t.Parallel()
	need := Resources{MilliCPU: 2500, MemoryBytes: 4e9, RootDiskBytes: 10 << 30}
	many := make([]Room, 8)
	for i := range many {
		many[i] = room(fmt.Sprintf("h%d", i), 1, 64, 0, 0)
	}
	withDisk := room("a", 8, 64, 0, 0)
	withDisk.Capacity.RootDiskBytes = 5 << 30
	for name, c := range map[string]struct {
		hosts  []Room
		wanted string
		kind   error
		want   string
	}{
		"nothing is configured": {nil, "", ErrNoHost, "no such host is configured: there is none for simulated machines"},
		"nothing of the driver": {
			[]Room{{Name: "a", Driver: DriverDocker}},
			"", ErrNoHost,
			"no such host is configured: there is none for simulated machines",
		},
		"the wanted one is not there": {
			[]Room{room("a", 8, 8, 0, 0)}, "b", ErrNoHost, `no such host is configured: there is none called "b"`,
		},
		"the wanted one is of another driver": {
			[]Room{{Name: "b", Driver: DriverDocker}},
			"b", ErrNoHost,
			`no such host is configured: host "b" runs docker machines, not simulated ones`,
		},
		"none is well": {
			[]Room{problem(room("b", 8, 8, 0, 0), "no answer"), problem(room("a", 8, 8, 0, 0), "no route")},
			"", ErrUnreachable,
			"host unreachable: a is not well (no route); b is not well (no answer)",
		},
		"each lacks something else": {
			[]Room{room("a", 4, 64, 2, 0), room("b", 16, 8, 0, 6), room("c", 2, 2, 2, 2), problem(room("d", 1, 1, 0, 0), "gone")},
			"",
			ErrNoCapacity, "host has not enough capacity: a has CPU 2 of 4 free, 2500m needed; " +
				"b has memory 2Gi of 8Gi free, 4G needed; " +
				"c has CPU 0 of 2 free, 2500m needed and memory 0 of 2Gi free, 4G needed; d is not well (gone)",
		},
		"disk is short": {
			[]Room{withDisk}, "", ErrNoCapacity, "host has not enough capacity: a has disk 5Gi of 5Gi free, 10Gi needed",
		},
		"more is given away than there is": {
			[]Room{room("a", 4, 64, 6, 0)}, "a", ErrNoCapacity, "host has not enough capacity: a has CPU 0 of 4 free, 2500m needed",
		},
		"many lack the same": {many, "", ErrNoCapacity, "host has not enough capacity: " +
			"h0 has CPU 1 of 1 free, 2500m needed; h1 has CPU 1 of 1 free, 2500m needed; h2 has CPU 1 of 1 free, 2500m needed; " +
			"h3 has CPU 1 of 1 free, 2500m needed; h4 has CPU 1 of 1 free, 2500m needed; and 3 more hosts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Place(c.hosts, need, DriverSimulated, c.wanted)
			if got != "" || !errors.Is(err, c.kind) {
				t.Fatalf("Place: %q, %v; want an error that is %v", got, err, c.kind)
			}
			if err.Error() != c.want {
				t.Errorf("the error is\n%s\nwant\n%s", err, c.want)
			}
		})
	}
}

// TestPlaceProperties places machines on random hosts and holds the outcome against what was promised.
func TestPlaceProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		dice := rand.New(rand.NewPCG(seed, 1))
		hosts := randomRooms(dice)
		need := Resources{MilliCPU: dice.Int64N(5) * 500, MemoryBytes: dice.Int64N(5) << 30}
		got, err := Place(hosts, need, DriverSimulated, "")

		fits := 0
		for _, host := range hosts {
			if host.Driver == DriverSimulated && host.Problem == "" && takes(host, need) {
				fits++
			}
			if host.Name == got && (host.Driver != DriverSimulated || host.Problem != "" || !takes(host, need)) {
				t.Fatalf("seed %d: %q was chosen for %+v and does not take it: %+v", seed, got, need, host)
			}
		}
		if (fits > 0) != (err == nil) {
			t.Fatalf("seed %d: %d of the hosts take %+v, and Place says %v: %+v", seed, fits, need, err, hosts)
		}
		if err != nil && len(err.Error()) > 1500 {
			t.Fatalf("seed %d: the error has %d bytes", seed, len(err.Error()))
		}
		dice.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		again, errAgain := Place(hosts, need, DriverSimulated, "")
		if again != got || fmt.Sprint(errAgain) != fmt.Sprint(err) {
			t.Fatalf("seed %d: the order of hosts matters: %q, %v; then %q, %v", seed, got, err, again, errAgain)
		}
		if got != "" {
			if wanted, err := Place(hosts, need, DriverSimulated, got); err != nil || wanted != got {
				t.Fatalf("seed %d: %q was chosen, and is refused when wanted: %q, %v", seed, got, wanted, err)
			}
		}
	}
}

func randomRooms(dice *rand.Rand) []Room {
	hosts := make([]Room, dice.IntN(8))
	for i := range hosts {
		hosts[i] = room(fmt.Sprintf("h%d", i), dice.Int64N(6), dice.Int64N(6), dice.Int64N(6), dice.Int64N(6))
		hosts[i].Machines = dice.IntN(4)
		if dice.IntN(4) == 0 {
			hosts[i].Problem = "gone"
		}
		if dice.IntN(6) == 0 {
			hosts[i].Driver = DriverDocker
		}
	}
	return hosts
}

// takes is whether a host takes the machine, said as simply as can be.
func takes(host Room, need Resources) bool {
	cpu := host.Capacity.MilliCPU == 0 || need.MilliCPU == 0 || host.Used.MilliCPU+need.MilliCPU <= host.Capacity.MilliCPU
	memory := host.Capacity.MemoryBytes == 0 || need.MemoryBytes == 0 ||
		host.Used.MemoryBytes+need.MemoryBytes <= host.Capacity.MemoryBytes
	return cpu && memory
}

// TestPlaceSpreads fills equal hosts and wants them to be filled alike.
func TestPlaceSpreads(t *testing.T) {
	t.Parallel()
	hosts := []Room{room("a", 16, 64, 0, 0), room("b", 16, 64, 0, 0), room("c", 16, 64, 0, 0)}
	need := Resources{MilliCPU: 1000, MemoryBytes: 1 << 30}
	for n := range 48 {
		name, err := Place(hosts, need, DriverSimulated, "")
		if err != nil {
			t.Fatalf("machine %d: %v", n, err)
		}
		for i := range hosts {
			if hosts[i].Name == name {
				hosts[i].Used.MilliCPU += need.MilliCPU
				hosts[i].Used.MemoryBytes += need.MemoryBytes
				hosts[i].Machines++
			}
		}
		if low, high := min(hosts[0].Machines, hosts[1].Machines, hosts[2].Machines),
			max(hosts[0].Machines, hosts[1].Machines, hosts[2].Machines); high-low > 1 {
			t.Fatalf("after %d machines one host has %d and another %d", n+1, high, low)
		}
	}
	if _, err := Place(hosts, need, DriverSimulated, ""); !errors.Is(err, ErrNoCapacity) || !strings.Contains(err.Error(), "CPU 0 of 16 free") {
		t.Errorf("one more than fits: %v", err)
	}
}

func BenchmarkPlace(b *testing.B) {
	hosts := make([]Room, 256)
	for i := range hosts {
		hosts[i] = room(fmt.Sprintf("h%d", i), 64, 256, int64(i%60), int64(i%200))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Place(hosts, Resources{MilliCPU: 2000, MemoryBytes: 4e9}, DriverSimulated, ""); err != nil {
			b.Fatal(err)
		}
	}
}
