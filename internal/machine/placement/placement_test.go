// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// candidate returns a host for simulated machines with whole CPUs and GiB.
func candidate(name string, cpu, memory, usedCPU, usedMemory int64) Candidate {
	return Candidate{
		Name: name, Driver: machine.DriverSimulated,
		Capacity:  machine.Resources{MilliCPU: cpu * 1000, MemoryBytes: memory << 30},
		Allocated: Allocation{Resources: machine.Resources{MilliCPU: usedCPU * 1000, MemoryBytes: usedMemory << 30}},
	}
}

func problem(r Candidate, sentence string) Candidate { r.Problem = sentence; return r }

func machines(r Candidate, n int) Candidate { r.Allocated.Machines = n; return r }

func TestChoose(t *testing.T) {
	t.Parallel()
	need := machine.Resources{MilliCPU: 2000, MemoryBytes: 4 << 30}
	for name, c := range map[string]struct {
		hosts  []Candidate
		need   machine.Resources
		wanted string
		want   string
	}{
		"the host where most still fit":        {[]Candidate{candidate("a", 8, 64, 0, 0), candidate("b", 16, 64, 0, 0)}, need, "", "b"},
		"free counts, not size":                {[]Candidate{candidate("a", 8, 64, 0, 0), candidate("b", 16, 64, 10, 0)}, need, "", "a"},
		"the scarcest resource counts":         {[]Candidate{candidate("a", 64, 8, 0, 0), candidate("b", 8, 64, 0, 0)}, need, "", "b"},
		"the first by name among equals":       {[]Candidate{candidate("b", 8, 64, 0, 0), candidate("a", 8, 64, 0, 0)}, need, "", "a"},
		"the one with fewest machines of them": {[]Candidate{machines(candidate("a", 8, 64, 0, 0), 1), candidate("b", 8, 64, 0, 0)}, need, "", "b"},
		"to the last byte":                     {[]Candidate{candidate("a", 2, 4, 0, 0)}, need, "", "a"},
		"one that is not well is left out":     {[]Candidate{problem(candidate("a", 64, 64, 0, 0), "gone"), candidate("b", 8, 8, 0, 0)}, need, "", "b"},
		"the one that is wanted, though another has more": {
			[]Candidate{candidate("a", 8, 64, 0, 0), candidate("b", 64, 64, 0, 0)}, need, "a", "a",
		},
		"one that knows what it has before one that does not": {[]Candidate{candidate("a", 0, 0, 0, 0), candidate("b", 2, 4, 0, 0)}, need, "", "b"},
		"one that does not know if there is no other":         {[]Candidate{candidate("a", 0, 0, 0, 0), candidate("b", 1, 4, 0, 0)}, need, "", "a"},
		"no limits: the one with fewest machines": {
			[]Candidate{machines(candidate("a", 64, 64, 0, 0), 3), machines(candidate("b", 1, 1, 1, 1), 2)}, machine.Resources{}, "", "b",
		},
		"no CPU limit: memory counts": {
			[]Candidate{candidate("a", 64, 8, 64, 0), candidate("b", 8, 16, 8, 0)}, machine.Resources{MemoryBytes: 1 << 30}, "", "b",
		},
		"one of another driver is left out": {
			[]Candidate{{Name: "a", Driver: machine.DriverDocker}, candidate("b", 8, 8, 0, 0)}, need, "", "b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Choose(c.hosts, c.need, machine.DriverSimulated, c.wanted)
			if err != nil || got != c.want {
				t.Errorf("Choose: %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestChooseRefuses(t *testing.T) {
	t.Parallel()
	need := machine.Resources{MilliCPU: 2500, MemoryBytes: 4e9, RootDiskBytes: 10 << 30}
	many := make([]Candidate, 8)
	for i := range many {
		many[i] = candidate(fmt.Sprintf("h%d", i), 1, 64, 0, 0)
	}
	withDisk := candidate("a", 8, 64, 0, 0)
	withDisk.Capacity.RootDiskBytes = 5 << 30
	for name, c := range map[string]struct {
		hosts  []Candidate
		wanted string
		kind   error
		want   string
	}{
		"nothing is configured": {nil, "", machine.ErrNoHost, "no such host is configured: there is none for simulated machines"},
		"nothing of the driver": {
			[]Candidate{{Name: "a", Driver: machine.DriverDocker}},
			"", machine.ErrNoHost,
			"no such host is configured: there is none for simulated machines",
		},
		"the wanted one is not there": {
			[]Candidate{candidate("a", 8, 8, 0, 0)}, "b", machine.ErrNoHost, `no such host is configured: there is none called "b"`,
		},
		"the wanted one is of another driver": {
			[]Candidate{{Name: "b", Driver: machine.DriverDocker}},
			"b", machine.ErrNoHost,
			`no such host is configured: host "b" runs docker machines, not simulated ones`,
		},
		"none is well": {
			[]Candidate{problem(candidate("b", 8, 8, 0, 0), "no answer"), problem(candidate("a", 8, 8, 0, 0), "no route")},
			"", machine.ErrUnreachable,
			"host unreachable: a is not well (no route); b is not well (no answer)",
		},
		"each lacks something else": {
			[]Candidate{candidate("a", 4, 64, 2, 0), candidate("b", 16, 8, 0, 6), candidate("c", 2, 2, 2, 2), problem(candidate("d", 1, 1, 0, 0), "gone")},
			"",
			machine.ErrNoCapacity, "host has not enough capacity: a has CPU 2 of 4 free, 2500m needed; " +
				"b has memory 2Gi of 8Gi free, 4G needed; " +
				"c has CPU 0 of 2 free, 2500m needed and memory 0 of 2Gi free, 4G needed; d is not well (gone)",
		},
		"disk is short": {
			[]Candidate{withDisk}, "", machine.ErrNoCapacity, "host has not enough capacity: a has disk 5Gi of 5Gi free, 10Gi needed",
		},
		"more is given away than there is": {
			[]Candidate{candidate("a", 4, 64, 6, 0)}, "a", machine.ErrNoCapacity, "host has not enough capacity: a has CPU 0 of 4 free, 2500m needed",
		},
		"many lack the same": {many, "", machine.ErrNoCapacity, "host has not enough capacity: " +
			"h0 has CPU 1 of 1 free, 2500m needed; h1 has CPU 1 of 1 free, 2500m needed; h2 has CPU 1 of 1 free, 2500m needed; " +
			"h3 has CPU 1 of 1 free, 2500m needed; h4 has CPU 1 of 1 free, 2500m needed; and 3 more hosts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Choose(c.hosts, need, machine.DriverSimulated, c.wanted)
			if got != "" || !errors.Is(err, c.kind) {
				t.Fatalf("Choose: %q, %v; want an error that is %v", got, err, c.kind)
			}
			if err.Error() != c.want {
				t.Errorf("the error is\n%s\nwant\n%s", err, c.want)
			}
		})
	}
}

// TestChooseProperties places machines on random hosts and holds the outcome against what was promised.
func TestChooseProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		dice := rand.New(rand.NewPCG(seed, 1))
		hosts := randomCandidates(dice)
		need := machine.Resources{MilliCPU: dice.Int64N(5) * 500, MemoryBytes: dice.Int64N(5) << 30}
		got, err := Choose(hosts, need, machine.DriverSimulated, "")

		fits := 0
		for _, host := range hosts {
			if host.Driver == machine.DriverSimulated && host.Problem == "" && takes(host, need) {
				fits++
			}
			if host.Name == got && (host.Driver != machine.DriverSimulated || host.Problem != "" || !takes(host, need)) {
				t.Fatalf("seed %d: %q was chosen for %+v and does not take it: %+v", seed, got, need, host)
			}
		}
		if (fits > 0) != (err == nil) {
			t.Fatalf("seed %d: %d of the hosts take %+v, and Choose says %v: %+v", seed, fits, need, err, hosts)
		}
		if err != nil && len(err.Error()) > 1500 {
			t.Fatalf("seed %d: the error has %d bytes", seed, len(err.Error()))
		}
		dice.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		again, errAgain := Choose(hosts, need, machine.DriverSimulated, "")
		if again != got || fmt.Sprint(errAgain) != fmt.Sprint(err) {
			t.Fatalf("seed %d: the order of hosts matters: %q, %v; then %q, %v", seed, got, err, again, errAgain)
		}
		if got != "" {
			if wanted, err := Choose(hosts, need, machine.DriverSimulated, got); err != nil || wanted != got {
				t.Fatalf("seed %d: %q was chosen, and is refused when wanted: %q, %v", seed, got, wanted, err)
			}
		}
	}
}

func randomCandidates(dice *rand.Rand) []Candidate {
	hosts := make([]Candidate, dice.IntN(8))
	for i := range hosts {
		hosts[i] = candidate(fmt.Sprintf("h%d", i), dice.Int64N(6), dice.Int64N(6), dice.Int64N(6), dice.Int64N(6))
		hosts[i].Allocated.Machines = dice.IntN(4)
		if dice.IntN(4) == 0 {
			hosts[i].Problem = "gone"
		}
		if dice.IntN(6) == 0 {
			hosts[i].Driver = machine.DriverDocker
		}
	}
	return hosts
}

// takes is whether a host takes the machine, said as simply as can be.
func takes(host Candidate, need machine.Resources) bool {
	cpu := host.Capacity.MilliCPU == 0 || need.MilliCPU == 0 || host.Allocated.Resources.MilliCPU+need.MilliCPU <= host.Capacity.MilliCPU
	memory := host.Capacity.MemoryBytes == 0 || need.MemoryBytes == 0 ||
		host.Allocated.Resources.MemoryBytes+need.MemoryBytes <= host.Capacity.MemoryBytes
	return cpu && memory
}

// TestChooseSpreads fills equal hosts and wants them to be filled alike.
func TestChooseSpreads(t *testing.T) {
	t.Parallel()
	hosts := []Candidate{candidate("a", 16, 64, 0, 0), candidate("b", 16, 64, 0, 0), candidate("c", 16, 64, 0, 0)}
	need := machine.Resources{MilliCPU: 1000, MemoryBytes: 1 << 30}
	for n := range 48 {
		name, err := Choose(hosts, need, machine.DriverSimulated, "")
		if err != nil {
			t.Fatalf("machine %d: %v", n, err)
		}
		for i := range hosts {
			if hosts[i].Name == name {
				hosts[i].Allocated.Resources.MilliCPU += need.MilliCPU
				hosts[i].Allocated.Resources.MemoryBytes += need.MemoryBytes
				hosts[i].Allocated.Machines++
			}
		}
		if low, high := min(hosts[0].Allocated.Machines, hosts[1].Allocated.Machines, hosts[2].Allocated.Machines),
			max(hosts[0].Allocated.Machines, hosts[1].Allocated.Machines, hosts[2].Allocated.Machines); high-low > 1 {
			t.Fatalf("after %d machines one host has %d and another %d", n+1, high, low)
		}
	}
	if _, err := Choose(hosts, need, machine.DriverSimulated, ""); !errors.Is(err, machine.ErrNoCapacity) || !strings.Contains(err.Error(), "CPU 0 of 16 free") {
		t.Errorf("one more than fits: %v", err)
	}
}

func BenchmarkChoose(b *testing.B) {
	hosts := make([]Candidate, 256)
	for i := range hosts {
		hosts[i] = candidate(fmt.Sprintf("h%d", i), 64, 256, int64(i%60), int64(i%200))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Choose(hosts, machine.Resources{MilliCPU: 2000, MemoryBytes: 4e9}, machine.DriverSimulated, ""); err != nil {
			b.Fatal(err)
		}
	}
}
