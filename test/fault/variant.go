// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strings"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// variant is one way in which a call can go wrong.
type variant struct {
	name, about string
	// strike lets it go wrong.
	strike func(i *injector, c call)
	// lasting variants strike all later calls of the same verb and object too, until somebody can have heard of it.
	lasting bool
	// refused variants leave the call without effect.
	refused bool
	// slow variants let a call take effect after a time, without the manager hearing of it.
	slow bool
	// host is true for what happens to calls of hosts only, and api for what happens to writes to the API server only.
	host, api bool
}

// appliesTo reports whether the effect can go wrong in this way.
func (v variant) appliesTo(e effect) bool {
	if isOnHost(e) {
		// What is on libvirt's mock is gone with its daemon.
		kept := !strings.HasPrefix(v.name, "crash-host") || !strings.HasPrefix(e.Object, onHost(machine.DriverLibvirt, "objects", ""))
		makes := strings.HasPrefix(e.Verb, "create") || e.Verb == "copy-volume" || e.Verb == "define"
		return !v.api && kept && (v.name != killLate || !makes)
	}
	return !v.host
}

// killLate is the variant in which a request outlives its manager. It does not strike what makes containers, networks, volumes and domains: a host
// that makes one seconds after the next manager has made its own leaves one that nobody needs, until the machine starts again or is deleted.
const killLate = "kill-late"

// late is the variant in which a call takes seconds.
const late = "delay"

// delay is how long a delayed call takes: long enough for all that waits for nothing to go on without it.
const delay = 2 * time.Second

// variants are all ways in which a call goes wrong.
func variants() []variant {
	refuse := func(code int) func(*injector, call) {
		return func(_ *injector, c call) { c.refuse(code) }
	}
	return []variant{
		{name: "cut", about: "the connection ends before the request arrives", strike: func(_ *injector, c call) { c.cut() }, refused: true},
		{name: "lost", about: "the request takes effect and the connection ends before the answer", strike: func(_ *injector, c call) {
			c.send()
			c.cut()
		}},
		{name: "409", about: "a conflict", strike: refuse(http.StatusConflict), api: true, refused: true},
		{name: tooMany, about: "too many requests", strike: refuse(http.StatusTooManyRequests), api: true, refused: true, slow: true},
		{name: "500", about: "an internal error", strike: refuse(http.StatusInternalServerError), refused: true},
		{name: timeout, about: "a timeout without effect", strike: refuse(http.StatusGatewayTimeout), api: true, refused: true},
		{name: "late-504", about: "a timeout after the request took effect", strike: func(_ *injector, c call) {
			c.send()
			c.refuse(http.StatusGatewayTimeout)
		}},
		{name: late, about: "the request takes seconds", strike: func(_ *injector, c call) {
			time.Sleep(delay) //nolint:forbidigo // because the delay is the fault
			c.send()
			c.answer()
		}, slow: true},
		{name: killBefore, about: "the manager is killed before the request arrives", strike: func(i *injector, c call) {
			i.crash()
			c.cut()
		}},
		{name: killAfter, about: "the manager is killed after the request took effect", strike: func(i *injector, c call) {
			c.send()
			i.crash()
			c.cut()
		}},
		{name: killLate, about: "the manager is killed, and the request takes effect seconds later", host: true, strike: func(i *injector, c call) {
			i.crash()
			time.Sleep(delay) //nolint:forbidigo // because the delay is the fault
			c.send()
			c.answer()
		}},
		{name: "crash-host", about: "the host is killed before the request arrives, and starts again; for a tool it is its supervisor", host: true, strike: func(_ *injector, c call) {
			crashHost(c)
			c.cut()
		}},
		{name: "crash-host-after", about: "the same after the request took effect", host: true, strike: func(_ *injector, c call) {
			c.send()
			crashHost(c)
			c.cut()
		}},
		{
			name: lasts, about: "an internal error each time, until a log line, a condition or an event tells of it",
			strike: refuse(http.StatusInternalServerError), lasting: true,
		},
	}
}
