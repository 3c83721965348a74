// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"sync"
	"time"
)

// call is an effect under way, held by a proxy between the manager and what it calls: the API server or a driver. A variant decides which of the methods are called, and in which order.
type call interface {
	// send lets the call take effect, and keeps its answer.
	send()
	// answer hands the kept answer to the manager.
	answer()
	// refuse answers with an HTTP status, or with what comes next to it in another protocol.
	refuse(code int)
	// cut ends the connection without an answer. It comes last, and does not need to return.
	cut()
}

// fault is what happens to which effect of a run.
type fault struct {
	Effect  effect
	Variant variant
}

// injector sees all effects of a run, and lets its fault happen to one of them.
type injector struct {
	// fault is nil in a run that only records.
	fault *fault
	// crash ends the manager as a power cut would, and starts it again.
	crash func()
	// before are called with each effect before anything else happens to it, and hold it until they return.
	before []func(effect)

	mutex sync.Mutex
	armed bool
	// step counts the steps of the scenario in which something is done.
	step    int
	effects []effect
	counts  map[string]int
	struck  chan struct{}
	lifted  bool
	last    time.Time
}

func newInjector(f *fault, crash func()) *injector {
	return &injector{fault: f, crash: crash, counts: map[string]int{}, struck: make(chan struct{}), last: time.Now()}
}

// carry lets an effect take its course, or the course of the fault.
func (i *injector) carry(e effect, c call) {
	e, struck := i.meet(e)
	for _, hook := range i.before {
		hook(e)
	}
	defer i.touch()
	if struck {
		i.fault.Variant.strike(i, c)
		return
	}
	c.send()
	c.answer()
}

// arm begins to count: what came before was preparation.
func (i *injector) arm() {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.armed = true
}

// begin notes that a step begins. What the manager does from now on may be because of it.
func (i *injector) begin() {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.step++
}

// meet notes the effect, and says whether the fault strikes.
func (i *injector) meet(e effect) (effect, bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.last = time.Now()
	if !i.armed {
		return e, false
	}
	kind := e.Verb + " " + e.Object
	i.counts[kind]++
	e.Nth, e.Number, e.Step = i.counts[kind], len(i.effects)+1, i.step
	i.effects = append(i.effects, e)
	if i.fault == nil || kind != i.fault.Effect.Verb+" "+i.fault.Effect.Object {
		return e, false
	}
	if e.Nth == i.fault.Effect.Nth {
		close(i.struck)
		return e, true
	}
	return e, i.fault.Variant.lasting && e.Nth > i.fault.Effect.Nth && !i.lifted
}

// touch notes that something happened just now.
func (i *injector) touch() {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.last = time.Now()
}

// lift ends a fault that lasts.
func (i *injector) lift() {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.lifted = true
}

// hasStruck says whether the fault has happened.
func (i *injector) hasStruck() bool {
	select {
	case <-i.struck:
		return true
	default:
		return false
	}
}

// quiet returns for how long nothing has happened.
func (i *injector) quiet() time.Duration {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	return time.Since(i.last)
}

// isLateEvent says whether an effect is the event that the fault has struck, on its way again.
func (i *injector) isLateEvent(e effect) bool {
	return i.fault != nil && e.Verb == i.fault.Effect.Verb && e.Object == i.fault.Effect.Object && e.isEvent()
}

// seen returns all effects so far.
func (i *injector) seen() []effect {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	return slices.Clone(i.effects)
}
