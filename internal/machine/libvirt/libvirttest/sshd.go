// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirttest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// User is the one that an SSH server of a test lets in.
const User = "ops"

// StartSSH starts an SSH server that ends with the test, and returns its address, the files of a client that can log in, and how many have. The
// server only connects to sockets of this machine, as sshd does for a key that is restricted to "port-forwarding". It has two host keys, and the
// client knows the one that the server would not choose by itself.
func StartSSH(tb testing.TB) (address string, files *machine.SSHFiles, logins *atomic.Int64) {
	tb.Helper()
	dir := tb.TempDir()
	files = &machine.SSHFiles{IdentityFile: filepath.Join(dir, "id"), KnownHostsFile: filepath.Join(dir, "known_hosts")}
	allowed := writeKey(tb, files.IdentityFile)
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(who ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if who.User() != User || !bytes.Equal(key.Marshal(), allowed.PublicKey().Marshal()) {
				return nil, errors.New("not allowed")
			}
			return &ssh.Permissions{}, nil
		},
	}
	first, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	_, second, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	known := signer(tb, second)
	config.AddHostKey(signer(tb, first))
	config.AddHostKey(known)
	logins = &atomic.Int64{}
	address = serve(tb, func(ctx context.Context, conn net.Conn) { serveSSH(ctx, conn, config, logins) })
	line := knownhosts.Line([]string{address}, known.PublicKey())
	if err := os.WriteFile(files.KnownHostsFile, []byte(line+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	return address, files, logins
}

// writeKey makes a key to log in with, and writes its private part to the file.
func writeKey(tb testing.TB, path string) ssh.Signer {
	tb.Helper()
	key := testkit.PrivateKey(tb)
	if err := os.WriteFile(path, key, 0o600); err != nil {
		tb.Fatal(err)
	}
	out, err := ssh.ParsePrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func signer(tb testing.TB, key crypto.Signer) ssh.Signer {
	tb.Helper()
	out, err := ssh.NewSignerFromSigner(key)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// serveSSH serves one login, and counts it as long as it lasts.
func serveSSH(ctx context.Context, raw net.Conn, config *ssh.ServerConfig, logins *atomic.Int64) {
	conn, channels, requests, err := ssh.NewServerConn(raw, config)
	if err != nil {
		return
	}
	logins.Add(1)
	defer logins.Add(-1)
	defer func() { _ = conn.Close() }()
	go ssh.DiscardRequests(requests)
	for asked := range channels {
		go forward(ctx, asked)
	}
}

// forward connects a channel to the socket that it names.
func forward(ctx context.Context, asked ssh.NewChannel) {
	var target struct {
		Path, Reserved string
		Unused         uint32
	}
	if asked.ChannelType() != "direct-streamlocal@openssh.com" || ssh.Unmarshal(asked.ExtraData(), &target) != nil {
		_ = asked.Reject(ssh.Prohibited, "only sockets")
		return
	}
	to, err := new(net.Dialer).DialContext(ctx, "unix", target.Path)
	if err != nil {
		_ = asked.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	channel, requests, err := asked.Accept()
	if err != nil {
		_ = to.Close()
		return
	}
	go ssh.DiscardRequests(requests)
	join(channel, to)
}
