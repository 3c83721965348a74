// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// serveAgent serves a private key to the tool through an SSH agent. The key stays in the memory of the supervisor: the tool can sign with
// it, but not read it. The socket is in a directory that only the user of the manager can enter.
func serveAgent(privateKey []byte) (socket string, stop func(), err error) {
	key, err := ssh.ParseRawPrivateKey(privateKey)
	if err != nil {
		return "", nil, errors.New("it is not a private key, or it has a passphrase")
	}
	keyring := agent.NewKeyring()
	if err := keyring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		return "", nil, fmt.Errorf("cannot add it to the agent: %w", err)
	}
	dir, err := os.MkdirTemp("", "windlass-agent-") // a short name: the length of a socket's path is limited
	if err != nil {
		return "", nil, noRoom(err)
	}
	socket = filepath.Join(dir, "agent")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, fmt.Errorf("cannot listen on the agent's socket: %w", err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = connection.Close() }()
				_ = agent.ServeAgent(keyring, connection)
			}()
		}
	}()
	return socket, func() { _ = listener.Close(); _ = os.RemoveAll(dir) }, nil
}
