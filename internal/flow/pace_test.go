// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

type pool = nodesv1.NodePool

func TestSpacingFollowsTheLoad(t *testing.T) {
	t.Parallel()
	for objects, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 10: time.Second, 20: 2 * time.Second, 200: 20 * time.Second, 5000: 30 * time.Second,
	} {
		if got := spacing(objects); got != want {
			t.Errorf("%d objects report every %s, want %s", objects, got, want)
		}
	}
}

func TestReportsOfProgressAreSpaced(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	web := build.Pool("web").With(func(p *pool) { p.UID = "1" }).Obj()
	again := build.Pool("web").With(func(p *pool) { p.UID = "2" }).Obj()
	others := func(p *pace, n int) {
		for i := range n {
			p.rest(build.Pool(strconv.Itoa(i)).With(func(p *pool) { p.UID = types.UID(p.Name) }).Obj(), start)
		}
	}
	cases := map[string]struct {
		happens func(*pace)
		object  *pool
		after   time.Duration
		want    time.Duration
	}{
		"the first one waits":                           {object: web, want: time.Second},
		"it goes on waiting":                            {func(p *pace) { p.rest(web, start) }, web, 400 * time.Millisecond, 600 * time.Millisecond},
		"then it is due":                                {func(p *pace) { p.rest(web, start) }, web, time.Second, 0},
		"the next one counts from the last":             {func(p *pace) { p.rest(web, start); p.reported(client.ObjectKeyFromObject(web), start.Add(time.Second)) }, web, 1500 * time.Millisecond, 500 * time.Millisecond},
		"after a time without news it is due":           {func(p *pace) { p.rest(web, start); p.reported(client.ObjectKeyFromObject(web), time.Time{}) }, web, 10 * time.Second, 0},
		"others make it wait longer":                    {func(p *pace) { others(p, 99); p.rest(web, start) }, web, time.Second, 9 * time.Second},
		"others that have just reported too":            {func(p *pace) { others(p, 99); reportAll(p, start) }, web, 0, 10 * time.Second},
		"others that are silent for long do not":        {func(p *pace) { others(p, 99); reportAll(p, start) }, web, time.Minute, time.Second},
		"others that are done do not":                   {func(p *pace) { others(p, 99); dropAll(p) }, web, 0, time.Second},
		"an object is counted once":                     {func(p *pace) { others(p, 9); others(p, 9); others(p, 9) }, web, 0, time.Second},
		"what is done begins anew":                      {func(p *pace) { p.rest(web, start); p.drop(client.ObjectKeyFromObject(web)) }, web, time.Hour, time.Second},
		"a clock that was set back makes it begin anew": {func(p *pace) { p.rest(web, start) }, web, -time.Hour, time.Second},
		"it does not wait less when others are done": {func(p *pace) {
			others(p, 99)
			p.rest(web, start)
			for i := range 99 {
				p.drop(client.ObjectKey{Name: strconv.Itoa(i)})
			}
		}, web, 4 * time.Second, 6 * time.Second},
		"another object of that name too": {func(p *pace) { p.rest(web, start) }, again, time.Hour, time.Second},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var p pace
			if tc.happens != nil {
				tc.happens(&p)
			}
			if got := p.rest(tc.object, start.Add(tc.after)); got != tc.want {
				t.Errorf("it waits %s, want %s", got, tc.want)
			}
		})
	}
}

func reportAll(p *pace, now time.Time) {
	for key := range p.byKey {
		p.reported(key, now)
	}
}

func dropAll(p *pace) {
	for key := range p.byKey {
		p.drop(key)
	}
}
