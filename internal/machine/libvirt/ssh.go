// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/windlass-operator/windlass/internal/machine"
)

// sshConn is a connection to a socket of the host, and the login that carries it.
type sshConn struct {
	net.Conn

	login *ssh.Client
}

// Close implements net.Conn. To close the channel first would need a host that still listens.
func (c *sshConn) Close() error { return c.login.Close() }

// dialSSH logs in and has sshd connect to a socket of the host. Unlike libvirt's own client it runs no program on either side, so
// nothing of the endpoint goes through a shell. The host key is always checked, and nobody is asked for a password.
func (w way) dialSSH(ctx context.Context, sockets []string) (net.Conn, error) {
	files := cmp.Or(w.ssh, &machine.SSHFiles{})
	config := &ssh.ClientConfig{User: w.user}
	if config.User == "" {
		current, err := user.Current()
		if err != nil {
			return nil, fmt.Errorf("cannot tell which user to log in as: %w: name it in the endpoint, as in qemu+ssh://root@rack-1", err)
		}
		config.User = current.Username
	}
	known, err := knownhosts.NewDB(cmp.Or(files.KnownHostsFile, inHome("known_hosts")))
	if err != nil {
		return nil, fmt.Errorf("cannot read the known hosts: %w", err)
	}
	// Without the list, the host could choose a key of a type that is not in the file.
	config.HostKeyCallback, config.HostKeyAlgorithms = known.HostKeyCallback(), known.HostKeyAlgorithms(w.address)
	signers, done, err := signersOf(ctx, files.IdentityFile)
	if err != nil {
		return nil, err
	}
	defer done()
	config.Auth = []ssh.AuthMethod{ssh.PublicKeys(signers...)}
	login, err := w.login(ctx, config)
	if err != nil {
		return nil, err
	}
	conn, err := firstOf(sockets, func(path string) (net.Conn, error) { return login.DialContext(ctx, "unix", path) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot connect to libvirt's socket on %s: %w", w.address, err), login.Close())
	}
	return &sshConn{Conn: conn, login: login}, nil
}

// login returns a client that has logged in.
func (w way) login(ctx context.Context, config *ssh.ClientConfig) (*ssh.Client, error) {
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", w.address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	conn, channels, requests, err := ssh.NewClientConn(raw, w.address, config)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, errors.Join(fmt.Errorf("cannot log in to %s as %s: %w", w.address, config.User, err), raw.Close())
	}
	return ssh.NewClient(conn, channels, requests), nil
}

// signersOf returns the keys to log in with: the one in the file, or those that the ssh program would try, of the agent and of the home
// directory. The agent is needed until done is called.
func signersOf(ctx context.Context, identity string) (signers []ssh.Signer, done func(), err error) {
	if identity != "" {
		signer, err := readKey(identity)
		return []ssh.Signer{signer}, func() {}, err
	}
	signers, done = agentSigners(ctx)
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		if signer, err := readKey(inHome(name)); err == nil {
			signers = append(signers, signer)
		}
	}
	if len(signers) == 0 {
		done()
		return nil, nil, errors.New("there is no key to log in with: name one in ssh.identityFile of the hosts file")
	}
	return signers, done, nil
}

// agentSigners returns the keys of the SSH agent. An agent that does not answer has none.
func agentSigners(ctx context.Context) (signers []ssh.Signer, done func()) {
	path := os.Getenv("SSH_AUTH_SOCK")
	if path == "" {
		return nil, func() {}
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, func() {}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	signers, _ = agent.NewClient(conn).Signers()
	return signers, func() {
		stop()
		_ = conn.Close() // It was only read from.
	}
}

// readKey reads a private key without a passphrase.
func readKey(path string) (ssh.Signer, error) {
	text, err := os.ReadFile(path) //nolint:gosec // because the hosts file names it, which only administrators write
	if err != nil {
		return nil, fmt.Errorf("cannot read the SSH key: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(text)
	if _, encrypted := errors.AsType[*ssh.PassphraseMissingError](err); encrypted {
		return nil, fmt.Errorf("cannot use SSH key %q: it has a passphrase, and nobody can be asked for it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use SSH key %q: %w", path, err)
	}
	return signer, nil
}

// inHome returns the path of a file of the SSH program.
func inHome(name string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join("/etc/ssh", name)
	}
	return filepath.Join(home, ".ssh", name)
}
