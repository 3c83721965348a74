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
		"the host where most still fit":            {[]Candidate{candidate("a", 8, 64, 0, 0), candidate("b", 16, 64, 0, 0)}, need, "", "b"},
		"what is free decides, not the size":       {[]Candidate{candidate("a", 8, 64, 0, 0), candidate("b", 16, 64, 10, 0)}, need, "", "a"},
		"the scarcest resource decides":            {[]Candidate{candidate("a", 64, 8, 0, 0), candidate("b", 8, 64, 0, 0)}, need, "", "b"},
		"the first by name among equals":           {[]Candidate{candidate("b", 8, 64, 0, 0), candidate("a", 8, 64, 0, 0)}, need, "", "a"},
		"the one with the fewest machines of them": {[]Candidate{machines(candidate("a", 8, 64, 0, 0), 1), candidate("b", 8, 64, 0, 0)}, need, "", "b"},
		"a machine may take the last byte":         {[]Candidate{candidate("a", 2, 4, 0, 0)}, need, "", "a"},
		"one that is down is left out":             {[]Candidate{problem(candidate("a", 64, 64, 0, 0), "gone"), candidate("b", 8, 8, 0, 0)}, need, "", "b"},
		"the wanted host, although another has more": {
			[]Candidate{candidate("a", 8, 64, 0, 0), candidate("b", 64, 64, 0, 0)}, need, "a", "a",
		},
		"a host with known capacity before one without":     {[]Candidate{candidate("a", 0, 0, 0, 0), candidate("b", 2, 4, 0, 0)}, need, "", "b"},
		"a host with unknown capacity if no other has room": {[]Candidate{candidate("a", 0, 0, 0, 0), candidate("b", 1, 4, 0, 0)}, need, "", "a"},
		"for a machine without limits, the one with the fewest machines": {
			[]Candidate{machines(candidate("a", 64, 64, 0, 0), 3), machines(candidate("b", 1, 1, 1, 1), 2)}, machine.Resources{}, "", "b",
		},
		"without a CPU limit, memory decides": {
			[]Candidate{candidate("a", 64, 8, 64, 0), candidate("b", 8, 16, 8, 0)}, machine.Resources{MemoryBytes: 1 << 30}, "", "b",
		},
		"a host with another driver is left out": {
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
		many[i] = candidate("h", 1, 64, 0, 0)
	}
	withDisk := candidate("a", 8, 64, 0, 0)
	withDisk.Capacity.RootDiskBytes = 5 << 30
	for name, c := range map[string]struct {
		hosts  []Candidate
		wanted string
		kind   error
		want   string
	}{
		"no host is configured": {nil, "", machine.ErrNoHost, "host not configured: no host has driver simulated"},
		"no host has the driver": {
			[]Candidate{{Name: "a", Driver: machine.DriverDocker}},
			"", machine.ErrNoHost,
			"host not configured: no host has driver simulated",
		},
		"the wanted host is not configured": {
			[]Candidate{candidate("a", 8, 8, 0, 0)}, "b", machine.ErrNoHost, `host not configured: "b"`,
		},
		"the wanted host has another driver": {
			[]Candidate{{Name: "b", Driver: machine.DriverDocker}},
			"b", machine.ErrNoHost,
			`host not configured: host "b" has driver docker, not simulated`,
		},
		"none is up": {
			[]Candidate{problem(candidate("b", 8, 8, 0, 0), "no answer"), problem(candidate("a", 8, 8, 0, 0), "no route")},
			"", machine.ErrUnreachable,
			`host unreachable: host "a" is down (no route); host "b" is down (no answer)`,
		},
		"one cannot tell what it has": {
			[]Candidate{{Name: "a", Driver: machine.DriverSimulated, Problem: "it has not listed its machines yet", Up: true}},
			"", machine.ErrUnreachable, `host unreachable: host "a" does not take machines now (it has not listed its machines yet)`,
		},
		"one has told, and nobody knows what that takes": {
			[]Candidate{{Name: "a", Driver: machine.DriverSimulated, Problem: "one hangs", Up: true, Listed: true}},
			"", machine.ErrNoCapacity, `not enough capacity: host "a" does not take machines now (one hangs)`,
		},
		"each host lacks something else": {
			[]Candidate{candidate("a", 4, 64, 2, 0), candidate("b", 16, 8, 0, 6), candidate("c", 2, 2, 2, 2), problem(candidate("d", 1, 1, 0, 0), "gone")},
			"",
			machine.ErrNoCapacity, `not enough capacity: host "a" has 2 of 4 CPU free, 2500m needed; ` +
				`host "b" has 2Gi of 8Gi memory free, 4G needed; ` +
				`host "c" has 0 of 2 CPU free, 2500m needed and 0 of 2Gi memory free, 4G needed; host "d" is down (gone)`,
		},
		"there is too little disk": {
			[]Candidate{withDisk}, "", machine.ErrNoCapacity, `not enough capacity: host "a" has 5Gi of 5Gi disk free, 10Gi needed`,
		},
		"more is allocated than the host has": {
			[]Candidate{candidate("a", 4, 64, 6, 0)}, "a", machine.ErrNoCapacity, `not enough capacity: host "a" has 0 of 4 CPU free, 2500m needed`,
		},
		"the error names five hosts at most": {many, "", machine.ErrNoCapacity, `not enough capacity: ` +
			strings.Repeat(`host "h" has 1 of 1 CPU free, 2500m needed; `, maxListed) + `and 3 more hosts`},
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

// TestChooseProperties places machines on random hosts and checks the promises of Choose.
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
				t.Fatalf("seed %d: %q was chosen for %+v, which does not fit: %+v", seed, got, need, host)
			}
		}
		if (fits > 0) != (err == nil) {
			t.Fatalf("seed %d: %d of the hosts have room for %+v, but Choose says %v: %+v", seed, fits, need, err, hosts)
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
				t.Fatalf("seed %d: %q was chosen, but refused when wanted: %q, %v", seed, got, wanted, err)
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

// takes reports whether a machine fits on the host, as simply as possible.
func takes(host Candidate, need machine.Resources) bool {
	cpu := host.Capacity.MilliCPU == 0 || need.MilliCPU == 0 || host.Allocated.Resources.MilliCPU+need.MilliCPU <= host.Capacity.MilliCPU
	memory := host.Capacity.MemoryBytes == 0 || need.MemoryBytes == 0 ||
		host.Allocated.Resources.MemoryBytes+need.MemoryBytes <= host.Capacity.MemoryBytes
	return cpu && memory
}

// TestChooseSpreads fills equal hosts and expects them to fill evenly.
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
			t.Fatalf("after %d machines, one host has %d and another %d", n+1, high, low)
		}
	}
	if _, err := Choose(hosts, need, machine.DriverSimulated, ""); !errors.Is(err, machine.ErrNoCapacity) || !strings.Contains(err.Error(), "0 of 16 CPU free") {
		t.Errorf("one machine more than fits: %v", err)
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

// A machine without a size could use the whole host, and took no room.
func TestChooseWantsTheSizesThatAreLimited(t *testing.T) {
	t.Parallel()
	limited := candidate("a", 4, 64, 0, 0)
	limited.Quota = machine.Resources{MilliCPU: 4000}
	cases := map[string]struct {
		hosts   []Candidate
		need    machine.Resources
		want    string
		refusal string
	}{
		"a machine without a size is refused": {
			hosts: []Candidate{limited}, need: machine.Resources{MemoryBytes: 1 << 30},
			refusal: `not enough capacity: host "a" takes machines with resource.cpu only, because its capacity is limited`,
		},
		"a machine with the size is taken":     {hosts: []Candidate{limited}, need: machine.Resources{MilliCPU: 1000}, want: "a"},
		"a host that is not limited is chosen": {hosts: []Candidate{limited, candidate("b", 4, 64, 0, 0)}, want: "b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Choose(tc.hosts, tc.need, machine.DriverSimulated, "")
			refusal := ""
			if err != nil {
				refusal = err.Error()
			}
			if got != tc.want || refusal != tc.refusal {
				t.Errorf("got host %q and the refusal %q, want %q and %q", got, refusal, tc.want, tc.refusal)
			}
		})
	}
}

func TestGrow(t *testing.T) {
	t.Parallel()
	host := Candidate{
		Name: "a", Capacity: machine.Resources{MilliCPU: 4000, MemoryBytes: 8 << 30, RootDiskBytes: 1},
		Quota:     machine.Resources{MilliCPU: 4000, MemoryBytes: 8 << 30},
		Allocated: Allocation{Resources: machine.Resources{MilliCPU: 2000, MemoryBytes: 12 << 30}},
	}
	size := func(milli, gibibytes int64) machine.Resources {
		return machine.Resources{MilliCPU: milli, MemoryBytes: gibibytes << 30}
	}
	cases := map[string]struct {
		have, want machine.Resources
		refusal    string
	}{
		"what is free can be taken": {have: size(1000, 1), want: size(2000, 1)},
		"more is refused": {
			have: size(1000, 1), want: size(2001, 1),
			refusal: `not enough capacity: resource.cpu is 2001m, host "a" has a capacity of 4, and other machines use 2 of it`,
		},
		"a host that has too much already lets a machine shrink": {have: size(1000, 2), want: size(1000, 1)},
		"and does not let it grow": {
			have: size(1000, 1), want: size(1000, 2),
			refusal: `not enough capacity: resource.memory is 2Gi, host "a" has a capacity of 8Gi, and other machines use 12Gi of it`,
		},
		"every field that is too large is named": {
			have: size(1000, 1), want: size(3000, 2),
			refusal: `not enough capacity: resource.cpu is 3, host "a" has a capacity of 4, and other machines use 2 of it; ` +
				`resource.memory is 2Gi, host "a" has a capacity of 8Gi, and other machines use 12Gi of it`,
		},
		"a machine cannot give up a size that is limited": {
			have: size(1000, 1), want: size(0, 1),
			refusal: `not enough capacity: host "a" takes machines with resource.cpu only, because its capacity is limited`,
		},
		"what the hosts file does not limit is for the driver to refuse": {
			have: machine.Resources{MilliCPU: 1000, MemoryBytes: 1, RootDiskBytes: 1}, want: machine.Resources{MilliCPU: 1000, MemoryBytes: 1, RootDiskBytes: 2},
		},
		"a machine that never had a size gets one": {have: size(0, 1), want: size(3000, 1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refusal := ""
			if err := host.Grow(tc.have, tc.want); err != nil {
				refusal = err.Error()
			}
			if refusal != tc.refusal {
				t.Errorf("the refusal is %q, want %q", refusal, tc.refusal)
			}
		})
	}
}

// A root disk without a size has that of its image, and takes no room. One that got a size was compared with nothing.
func TestGrowOfARootDiskWithoutASize(t *testing.T) {
	t.Parallel()
	host := Candidate{
		Name: "a", Quota: machine.Resources{RootDiskBytes: 100 << 30},
		Allocated: Allocation{Resources: machine.Resources{RootDiskBytes: 40 << 30}},
	}
	if err := host.Grow(machine.Resources{}, machine.Resources{RootDiskBytes: 60 << 30}); err != nil {
		t.Errorf("what is free is refused: %v", err)
	}
	err := host.Grow(machine.Resources{}, machine.Resources{RootDiskBytes: 61 << 30})
	want := `not enough capacity: resource.rootDisk is 61Gi, host "a" has a capacity of 100Gi, and other machines use 40Gi of it`
	if err == nil || err.Error() != want {
		t.Errorf("the refusal is %v, want %q", err, want)
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	host := candidate("a", 4, 8, 2, 12)
	size := func(cpu, memory int64) machine.Resources {
		return machine.Resources{MilliCPU: cpu * 1000, MemoryBytes: memory << 30}
	}
	cases := map[string]struct {
		have, want machine.Resources
		holds      bool
	}{
		"what is free":                                {size(1, 1), size(2, 1), true},
		"not more":                                    {size(1, 1), size(3, 1), false},
		"a machine that keeps what it has":            {size(3, 9), size(3, 9), true},
		"a machine that becomes smaller":              {size(3, 9), size(1, 1), true},
		"not what a machine without a limit asks for": {size(0, 9), size(3, 9), false},
		"what it does not know":                       {size(1, 1), machine.Resources{MilliCPU: 1000, MemoryBytes: 1 << 30, RootDiskBytes: 1}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := host.Holds(tc.have, tc.want); got != tc.holds {
				t.Errorf("it holds that: %t, want %t", got, tc.holds)
			}
		})
	}
}
