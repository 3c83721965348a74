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

// ssh connects to an engine through the SSH client of this machine, like the docker command: every connection is the input and output
// of a "docker system dial-stdio" that it runs on the host.
type ssh struct {
	program string
	args    []string
}

// What an endpoint can contain. All parts go through a command line here and a shell on the host, so everything that either could take
// for more than a name is refused.
var (
	sshUser = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	sshHost = regexp.MustCompile(`^[A-Za-z0-9:][A-Za-z0-9.:_-]*$`)
	sshPort = regexp.MustCompile(`^[0-9]{1,5}$`)
	sshPath = regexp.MustCompile(`^/[A-Za-z0-9._/-]+$`)
)

// dialSSH returns the dialer for ssh://[user@]host[:port][/socket].
func dialSSH(endpoint *url.URL, files *machine.SSHFiles) (func(context.Context, string, string) (net.Conn, error), error) {
	args, err := sshArgs(endpoint, files)
	if err != nil {
		return nil, err
	}
	return (&ssh{program: "ssh", args: args}).dial, nil
}

// sshArgs returns the arguments of the SSH client. The host key is always checked, and the client never prompts.
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

// sshPart is an optional part of an endpoint.
type sshPart struct {
	what, value string
	allowed     *regexp.Regexp
}

// checkSSH refuses an endpoint with a part that is more than a name.
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
			return fmt.Errorf("%w: the %s of its endpoint contains characters that are not allowed", machine.ErrInvalid, part.what)
		}
	}
	if !sshHost.MatchString(endpoint.Hostname()) {
		return fmt.Errorf("%w: the host name of its endpoint contains characters that are not allowed", machine.ErrInvalid)
	}
	return nil
}

// socketPair makes a pair of sockets that no program inherits: macOS cannot do that in one call.
func socketPair() ([2]int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	return pair, err
}

// dial starts an SSH client. Its input and output are one end of a socket pair. The other end is a connection with deadlines, like any
// other; it outlives ctx.
func (s *ssh) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	pair, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("cannot make a socket pair: %w", err)
	}
	near, far := os.NewFile(uintptr(pair[0]), "ssh"), os.NewFile(uintptr(pair[1]), "ssh")
	conn, err := net.FileConn(near) // which duplicates near
	if err = errors.Join(err, near.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot use a socket pair: %w", err), far.Close())
	}
	out := &sshConn{Conn: conn, stderr: &tail{}, ended: make(chan struct{})}
	//nolint:gosec // because checkSSH has checked every part of the command line
	out.command = exec.CommandContext(context.WithoutCancel(ctx), s.program, s.args...)
	out.command.Stdin, out.command.Stdout, out.command.Stderr = far, far, out.stderr
	out.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out.command.WaitDelay = time.Second // for its child processes, which may keep its output open
	if err := errors.Join(out.command.Start(), far.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start the SSH client: %w", err), conn.Close())
	}
	go func() {
		defer close(out.ended)
		_ = out.command.Wait() // its stderr says more
	}()
	return out, nil
}

// sshConn is a connection through an SSH client.
type sshConn struct {
	net.Conn

	command *exec.Cmd
	stderr  *tail
	ended   chan struct{}
	close   sync.Once
}

// Read implements net.Conn. At the end of the connection, its error is what the SSH client wrote to stderr.
func (c *sshConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		return n, err
	}
	return 0, c.explain(err)
}

// Write implements net.Conn. A client that could not connect may have ended before anything is written to it.
func (c *sshConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		err = c.explain(err)
	}
	return n, err
}

// explain adds what the SSH client wrote to stderr to the error with which the connection ended.
func (c *sshConn) explain(err error) error {
	// A client that has closed its output has ended or is about to.
	select {
	case <-c.ended:
	case <-time.After(time.Second):
	}
	if text := c.stderr.String(); text != "" {
		return fmt.Errorf("the SSH client ended: %s: %w", text, err)
	}
	return err
}

// Close implements net.Conn and kills the SSH client with its child processes.
func (c *sshConn) Close() error {
	err := c.Conn.Close()
	c.close.Do(func() {
		select {
		case <-c.ended:
		default:
			_ = syscall.Kill(-c.command.Process.Pid, syscall.SIGKILL) // fails if it has just ended
			<-c.ended
		}
	})
	return err
}

// maxText bounds what an error repeats of the output of the SSH client.
const maxText = 1024

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if extra := len(w.text) - maxText; extra > 0 {
		w.text = bytes.Clone(w.text[extra:])
	}
	return len(p), nil
}

// String returns the end of what was written, on one line.
func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(w.text), "")), " ")
}
