// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// ssh reaches an engine through the SSH client of this machine, as the docker command does: for every connection it runs "docker system
// dial-stdio" on the host, whose input and output are the connection.
type ssh struct {
	program string
	args    []string
}

// What may stand in an endpoint. Everything goes through a command line here and a shell there, so nothing is let through that either
// of them could take for more than a name.
var (
	sshUser = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	sshHost = regexp.MustCompile(`^[A-Za-z0-9:][A-Za-z0-9.:_-]*$`)
	sshPort = regexp.MustCompile(`^[0-9]{1,5}$`)
	sshPath = regexp.MustCompile(`^/[A-Za-z0-9._/-]+$`)
)

// dialSSH returns the dialler for ssh://[user@]host[:port][/socket].
func dialSSH(endpoint *url.URL, files *machine.SSHFiles) (func(context.Context, string, string) (net.Conn, error), error) {
	args, err := sshArgs(endpoint, files)
	if err != nil {
		return nil, err
	}
	return (&ssh{program: "ssh", args: args}).dial, nil
}

// sshArgs returns the arguments of the SSH client. The host's key is always checked, and nobody is there to answer a question.
func sshArgs(endpoint *url.URL, files *machine.SSHFiles) ([]string, error) {
	args := []string{
		"-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "ConnectTimeout=10",
		"-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
	}
	if files != nil && files.KnownHostsFile != "" {
		args = append(args, "-o", "UserKnownHostsFile="+files.KnownHostsFile)
	}
	if files != nil && files.IdentityFile != "" {
		args = append(args, "-o", "IdentityFile="+files.IdentityFile, "-o", "IdentitiesOnly=yes")
	}
	if user := endpoint.User.Username(); user != "" {
		args = append(args, "-l", user)
	}
	if port := endpoint.Port(); port != "" {
		args = append(args, "-p", port)
	}
	args = append(args, "--", endpoint.Hostname(), "docker")
	if path := strings.TrimSuffix(endpoint.Path, "/"); path != "" {
		args = append(args, "--host", "unix://"+path)
	}
	return append(args, "system", "dial-stdio"), checkSSH(endpoint, files)
}

// sshPart is a part of an endpoint that may be missing.
type sshPart struct {
	what, value string
	allowed     *regexp.Regexp
}

// checkSSH refuses what is more than a name.
func checkSSH(endpoint *url.URL, files *machine.SSHFiles) error {
	parts := []sshPart{
		{"user", endpoint.User.Username(), sshUser},
		{"port", endpoint.Port(), sshPort},
		{"path", strings.TrimSuffix(endpoint.Path, "/"), sshPath},
	}
	if files != nil {
		parts = append(parts,
			sshPart{"identity file", files.IdentityFile, sshPath},
			sshPart{"known hosts file", files.KnownHostsFile, sshPath})
	}
	for _, part := range parts {
		if part.value != "" && !part.allowed.MatchString(part.value) {
			return fmt.Errorf("%w: the %s of its endpoint has characters that are not allowed there", machine.ErrInvalid, part.what)
		}
	}
	if !sshHost.MatchString(endpoint.Hostname()) {
		return fmt.Errorf("%w: the host name of its endpoint has characters that are not allowed there", machine.ErrInvalid)
	}
	return nil
}

// dial starts an SSH client. Its input and output are one end of a pair of sockets, and the other end is a connection like any other, with
// deadlines.
func (s *ssh) dial(context.Context, string, string) (net.Conn, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot make a pair of sockets: %w", err)
	}
	near, far := os.NewFile(uintptr(pair[0]), "ssh"), os.NewFile(uintptr(pair[1]), "ssh")
	defer near.Close() //nolint:errcheck // because the connection has its own copy
	defer far.Close()  //nolint:errcheck // because the program has its own copy
	conn, err := net.FileConn(near)
	if err != nil {
		return nil, fmt.Errorf("cannot use a pair of sockets: %w", err)
	}
	words := &lastWords{}
	command := exec.Command(s.program, s.args...) //nolint:gosec,noctx // because names are checked, and the connection outlives its dialling
	command.Stdin, command.Stdout, command.Stderr = far, far, words
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.WaitDelay = time.Second // Whatever it has started may go on and hold its output.
	if err := command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start the SSH client: %w", err), conn.Close())
	}
	out := &sshConn{Conn: conn, command: command, words: words, ended: make(chan struct{})}
	go func() {
		defer close(out.ended)
		_ = command.Wait() // What it has to say is in words.
	}()
	return out, nil
}

// sshConn is a connection through an SSH client.
type sshConn struct {
	net.Conn

	command *exec.Cmd
	words   *lastWords
	ended   chan struct{}
	close   sync.Once
}

// Read implements net.Conn. Where the other side says nothing more, what the SSH client had to say is the reason.
func (c *sshConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		return n, err
	}
	// A client that has closed its output has ended, or is about to.
	select {
	case <-c.ended:
	case <-time.After(time.Second):
	}
	if words := c.words.String(); words != "" {
		return 0, fmt.Errorf("the SSH client gave up: %s: %w", words, err)
	}
	return 0, err
}

// Close implements net.Conn and ends the SSH client with all it has started.
func (c *sshConn) Close() error {
	err := c.Conn.Close()
	c.close.Do(func() {
		select {
		case <-c.ended:
		default:
			_ = syscall.Kill(-c.command.Process.Pid, syscall.SIGKILL) // It has ended just now.
			<-c.ended
		}
	})
	return err
}

// lastWords keeps the end of what a program writes.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if extra := len(w.text) - maxWords; extra > 0 {
		w.text = bytes.Clone(w.text[extra:])
	}
	return len(p), nil
}

// String returns what was written last, in one line.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(w.text), "")), " ")
}
