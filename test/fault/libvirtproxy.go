// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"sync"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// hypervisorProxy stands between a manager and a libvirt daemon, and lets the injector carry each call that changes something.
type hypervisorProxy struct {
	listener net.Listener
	target   string
	effects  *injector

	mutex sync.Mutex
	wires map[*wire]bool
	// serving are the connections that have not ended.
	serving sync.WaitGroup
}

// newHypervisorProxy starts a proxy on a socket, before the socket of a daemon.
func newHypervisorProxy(socket, target string, effects *injector) (*hypervisorProxy, error) {
	listener, err := net.Listen("unix", socket) //nolint:noctx // because it is a file
	if err != nil {
		return nil, fmt.Errorf("cannot listen for calls of libvirt: %w", err)
	}
	p := &hypervisorProxy{listener: listener, target: target, effects: effects, wires: map[*wire]bool{}}
	go p.serve()
	return p, nil
}

// close ends the proxy and all connections.
func (p *hypervisorProxy) close() error {
	err := p.listener.Close()
	p.mutex.Lock()
	for w := range p.wires {
		w.end()
	}
	p.mutex.Unlock()
	p.serving.Wait()
	return err
}

func (p *hypervisorProxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		daemon, err := net.Dial("unix", p.target) //nolint:noctx // because it is a file
		if err != nil {
			_ = client.Close()
			continue
		}
		w := &wire{proxy: p, client: client, daemon: daemon, awaited: map[uint32]chan message{}, ended: make(chan struct{})}
		p.mutex.Lock()
		p.wires[w] = true
		p.mutex.Unlock()
		p.serving.Go(w.bring)
		p.serving.Go(w.fetch)
	}
}

// message is a message of libvirt's protocol with its header: numbers of four bytes that are its length, the program, its version, the procedure,
// the type, the serial number and the status.
type message []byte

const (
	headerLength = 28
	maxMessage   = 64 << 20
	// remote is the program of the calls of domains and volumes.
	remote    = 0x20008086
	typeCall  = 0
	typeReply = 1
	refused   = 1
)

func (m message) number(at int) uint32 { return binary.BigEndian.Uint32(m[4*at:]) }
func (m message) program() uint32      { return m.number(1) }
func (m message) procedure() uint32    { return m.number(3) }
func (m message) kind() uint32         { return m.number(4) }
func (m message) serial() uint32       { return m.number(5) }

func readMessage(from io.Reader) (message, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size < headerLength || size > maxMessage {
		return nil, fmt.Errorf("a message of libvirt has %d bytes", size)
	}
	m := make(message, size)
	copy(m, length[:])
	_, err := io.ReadFull(from, m[4:])
	return m, err
}

// Procedures that change something, and what they do. The numbers are those of libvirt's remote protocol, and never change.
func hypervisorVerbs() map[uint32]string {
	return map[uint32]string{
		28: "resume", 34: "suspend", 93: "create-volume", 94: "delete-volume", 125: "copy-volume", 196: "start", 199: "set-vcpus", 204: "set-memory",
		208: "upload", 219: "set-scheduler", 231: "undefine", 234: "destroy", 251: "resize-disk", 258: "shut-down", 260: "resize-volume",
		264: "set-metadata", 267: "wake-up", 350: "define",
	}
}

// wire is a connection of a manager.
type wire struct {
	proxy          *hypervisorProxy
	client, daemon net.Conn
	once           sync.Once
	ended          chan struct{}
	// carrying are calls under way: what a manager has sent takes effect although it died.
	carrying sync.WaitGroup

	mutex   sync.Mutex
	awaited map[uint32]chan message
}

// end ends the connection.
func (w *wire) end() {
	w.once.Do(func() {
		close(w.ended)
		_ = w.client.Close()
		_ = w.daemon.Close()
	})
}

// bring passes on what the manager sends.
func (w *wire) bring() {
	defer func() {
		w.carrying.Wait()
		w.end()
		w.proxy.mutex.Lock()
		defer w.proxy.mutex.Unlock()
		delete(w.proxy.wires, w)
	}()
	verbs := hypervisorVerbs()
	for {
		m, err := readMessage(w.client)
		if err != nil {
			return
		}
		verb := verbs[m.procedure()]
		if m.program() != remote || m.kind() != typeCall || verb == "" {
			w.send(w.daemon, m)
			continue
		}
		c := &hypervisorCall{wire: w, m: m}
		e := effect{Verb: verb, Object: onHost(machine.DriverLibvirt, "objects", subject(m[headerLength:]))}
		w.carrying.Go(func() { w.proxy.effects.carry(e, c) })
	}
}

// fetch passes on what the daemon sends.
func (w *wire) fetch() {
	defer w.end()
	for {
		m, err := readMessage(w.daemon)
		if err != nil {
			return
		}
		w.mutex.Lock()
		answer := w.awaited[m.serial()]
		if m.kind() != typeReply {
			answer = nil
		}
		if answer != nil {
			delete(w.awaited, m.serial())
		}
		w.mutex.Unlock()
		if answer != nil {
			answer <- m
			continue
		}
		w.send(w.client, m)
	}
}

// send sends a message in one piece. A connection that has ended is not an error.
func (w *wire) send(to net.Conn, m message) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	_, _ = to.Write(m)
}

// hypervisorCall is a call of libvirt, under way.
type hypervisorCall struct {
	wire    *wire
	m, kept message
}

// send implements call.
func (c *hypervisorCall) send() {
	answer := make(chan message, 1)
	c.wire.mutex.Lock()
	c.wire.awaited[c.m.serial()] = answer
	c.wire.mutex.Unlock()
	c.wire.send(c.wire.daemon, c.m)
	select {
	case c.kept = <-answer:
	case <-c.wire.ended:
	case <-time.After(patience): // a daemon that hangs is a finding of what waits for it
	}
}

// answer implements call.
func (c *hypervisorCall) answer() {
	if c.kept != nil {
		c.wire.send(c.wire.client, c.kept)
	}
}

// refuse implements call: it answers with an error of libvirt, which is a code, its source, an optional text, a level, and seven values that are left
// out or zero.
func (c *hypervisorCall) refuse(code int) {
	text := fmt.Sprintf("%s: %d", marker, code)
	const internalError, level = 1, 2
	var body []byte
	number := func(n int) { body = binary.BigEndian.AppendUint32(body, uint32(n)) } //nolint:gosec // the numbers are small
	number(internalError)
	number(0)
	number(1) // there is a text
	number(len(text))
	body = append(body, text...)
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	number(level)
	for range 7 {
		number(0)
	}
	answer := append(make(message, headerLength), body...)
	copy(answer, c.m[:headerLength])
	binary.BigEndian.PutUint32(answer, uint32(len(answer))) //nolint:gosec // it is short
	binary.BigEndian.PutUint32(answer[16:], typeReply)
	binary.BigEndian.PutUint32(answer[24:], refused)
	c.wire.send(c.wire.client, answer)
}

// cut implements call.
func (c *hypervisorCall) cut() { c.wire.end() }

// installation is in the names of volumes, and each lane has another one.
var installation = regexp.MustCompile(`\bwindlass-[0-9a-f]{8}-`)

// unfinished is the end of the name of a volume that is being made, and is random.
var unfinished = regexp.MustCompile(`\.new-[0-9a-f]{12}$`)

// nameOfRun returns the name of a domain or a volume without what differs in each run or on each lane.
func nameOfRun(name string) string {
	return installation.ReplaceAllString(withoutUIDs(unfinished.ReplaceAllString(name, ".new")), "windlass-")
}

// subject returns the name of what a call changes: the first text of its arguments is a name or a description, or a pool, with the name of a volume
// or its description after it.
func subject(arguments []byte) string {
	first, rest, err := text(arguments)
	if err != nil {
		return "unknown"
	}
	if name := described(first); name != "" {
		return nameOfRun(name)
	}
	const uuid = 16
	for _, at := range []int{0, uuid} {
		if len(rest) < at {
			break
		}
		second, _, err := text(rest[at:])
		switch name := described(second); {
		case err != nil || second == "":
		case name != "":
			return nameOfRun(name)
		case installation.MatchString(second):
			return nameOfRun(second)
		}
	}
	return nameOfRun(first)
}

// described returns the name in a description, which is XML.
func described(description string) string {
	var object struct {
		Name string `xml:"name"`
	}
	if xml.Unmarshal([]byte(description), &object) != nil {
		return ""
	}
	return object.Name
}

// text returns the text that arguments begin with: its length, and itself, filled up to four bytes.
func text(in []byte) (string, []byte, error) {
	if len(in) < 4 {
		return "", nil, errors.New("a text is cut off")
	}
	size := binary.BigEndian.Uint32(in)
	whole := (uint64(size) + 3) / 4 * 4
	if in = in[4:]; whole > uint64(len(in)) {
		return "", nil, errors.New("a text is cut off")
	}
	return string(in[:size]), in[whole:], nil
}
