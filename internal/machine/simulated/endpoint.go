// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Open opens a new simulated host that behaves like its endpoint says. Its machines end with the process.
func Open(_ context.Context, host machine.Host) (machine.Driver, error) {
	script, err := ParseEndpoint(host.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("cannot simulate host %q: %w", host.Name, err)
	}
	return NewHost(script).Open(), nil
}

// ParseEndpoint parses an endpoint:
//
//	cpu, memory, rootDisk   capacity of the host, as quantities
//	load                    share of its CPU limit that a machine uses, from 0 to 1
//	live                    what can change while a machine runs: all (the default), cpu, memory or none
//	latency                 of every call, like 20ms
//	latency.CALL            additional latency of one call, like latency.prepare=2s
//	fail.CALL               share of these calls that fail, from 0 to 1
//	seed                    of the random numbers
//
// CALL is one of info, get, list, stats, watch, output, prepare, create, replace, start, stop, resize and delete. The error lists every problem.
func ParseEndpoint(endpoint string) (Script, error) {
	parsed, err := url.Parse(endpoint)
	if err != nil {
		return Script{}, errors.New("the endpoint is not a URL")
	}
	if parsed.Scheme != machine.DriverSimulated || parsed.Host != "" || parsed.Path != "" || parsed.Fragment != "" {
		return Script{}, errors.New("the endpoint must be simulated://, with optional parameters after a ?")
	}
	parameters, err := url.ParseQuery(parsed.RawQuery)
	if err != nil {
		return Script{}, errors.New("the parameters of the endpoint must have the form a=1&b=2")
	}
	script := Script{Latency: map[Call]time.Duration{}}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		values := parameters[name]
		if len(values) > 1 {
			errs = append(errs, fmt.Errorf("%.64q is set %d times", name, len(values)))
			continue
		}
		if err := script.set(name, values[0]); err != nil {
			errs = append(errs, fmt.Errorf("%.64s=%.64s: %w", name, values[0], err))
		}
	}
	return script, errors.Join(errs...)
}

// set sets one parameter.
func (s *Script) set(name, value string) (err error) {
	kind, call, single := strings.Cut(name, ".")
	if single && !slices.Contains(allCalls(), Call(call)) {
		return errors.New("no such call")
	}
	switch {
	case name == "cpu":
		s.Capacity.MilliCPU, err = parseQuantity(value, resource.Milli)
	case name == "memory":
		s.Capacity.MemoryBytes, err = parseQuantity(value, 0)
	case name == "rootDisk":
		s.Capacity.RootDiskBytes, err = parseQuantity(value, 0)
	case name == "load":
		s.Load, err = parseShare(value)
	case name == "live":
		s.Fixed, err = parseLive(value)
	case name == "seed":
		s.Seed, err = strconv.ParseUint(value, 10, 64)
	case kind == "latency":
		s.Latency[Call(call)], err = parseLatency(value)
	case kind == "fail" && single:
		fault := Fault{Call: Call(call)}
		fault.Share, err = parseShare(value)
		s.Faults = append(s.Faults, fault)
	default:
		return errors.New("no such parameter")
	}
	return err
}

func parseQuantity(value string, scale resource.Scale) (int64, error) {
	quantity, err := resource.ParseQuantity(value)
	if err != nil || quantity.Sign() <= 0 || quantity.CmpInt64(math.MaxInt64/1000) > 0 {
		return 0, errors.New("must be a quantity like 16 or 64Gi")
	}
	return quantity.ScaledValue(scale), nil
}

func parseShare(value string) (float64, error) {
	share, err := strconv.ParseFloat(value, 64)
	if err != nil || !(share > 0 && share <= 1) {
		return 0, errors.New("must be a share greater than 0 and at most 1")
	}
	return share, nil
}

func parseLive(value string) (Fixed, error) {
	switch value {
	case "all":
		return Fixed{}, nil
	case "cpu":
		return Fixed{Memory: true, RootDisk: true}, nil
	case "memory":
		return Fixed{CPU: true, RootDisk: true}, nil
	case "none":
		return Fixed{CPU: true, Memory: true, RootDisk: true}, nil
	default:
		return Fixed{}, errors.New("must be all, cpu, memory or none")
	}
}

// maxLatency is the longest that any caller waits.
const maxLatency = time.Hour

func parseLatency(value string) (time.Duration, error) {
	latency, err := time.ParseDuration(value)
	if err != nil || latency < 0 || latency > maxLatency {
		return 0, fmt.Errorf("must be a duration like 20ms, at most %s", maxLatency)
	}
	return latency, nil
}
