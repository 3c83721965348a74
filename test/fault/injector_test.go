// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// journal is a call that notes what is done with it.
type journal struct{ did []string }

func (j *journal) send()           { j.did = append(j.did, "send") }
func (j *journal) answer()         { j.did = append(j.did, "answer") }
func (j *journal) refuse(code int) { j.did = append(j.did, strconv.Itoa(code)) }
func (j *journal) cut()            { j.did = append(j.did, "cut") }

func TestCarry(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"":            {"send answer", "send answer", "send answer"},
		"cut":         {"send answer", "cut", "send answer"},
		"lost":        {"send answer", "send cut", "send answer"},
		"409":         {"send answer", "409", "send answer"},
		"late-504":    {"send answer", "send 504", "send answer"},
		"kill-before": {"send answer", "kill cut", "send answer"},
		"kill-after":  {"send answer", "send kill cut", "send answer"},
		"lasting":     {"send answer", "500", "500"},
	}
	for name, want := range cases {
		t.Run("variant "+name, func(t *testing.T) {
			t.Parallel()
			target := effect{Verb: "patch", Object: "nodes/a", Nth: 2}
			var f *fault
			for _, v := range variants() {
				if v.name == name {
					f = &fault{Effect: target, Variant: v}
				}
			}
			var under *journal
			i := newInjector(f, func() { under.did = append(under.did, "kill") })
			i.arm()
			var got []string
			for range want {
				under = &journal{}
				i.carry(effect{Verb: "patch", Object: "nodes/a"}, under)
				i.carry(effect{Verb: "patch", Object: "nodes/b"}, &journal{})
				got = append(got, strings.Join(under.did, " "))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what happens to three writes differs (-want +got):\n%s", diff)
			}
			if i.hasStruck() != (f != nil) || len(i.seen()) != 2*len(want) {
				t.Errorf("struck is %t after %d effects", i.hasStruck(), len(i.seen()))
			}
		})
	}
}
