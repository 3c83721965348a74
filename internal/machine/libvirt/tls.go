// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/windlass-operator/windlass/internal/machine"
)

// accepted is what libvirtd sends after the handshake if it takes the client's certificate, before anything else.
const accepted = 1

// dialTLS connects to a libvirtd that listens for TLS. The host is always verified.
func (w way) dialTLS(ctx context.Context) (net.Conn, error) {
	config, err := cmp.Or(w.tls, &machine.TLSFiles{}).Config()
	if err != nil {
		return nil, err
	}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", w.address)
	if err != nil {
		return nil, err
	}
	if err := readAccepted(ctx, conn); err != nil {
		return nil, errors.Join(fmt.Errorf("libvirt on %s does not accept the client certificate: %w", w.address, err), conn.Close())
	}
	return conn, nil
}

// readAccepted waits for the word of libvirtd about the client's certificate.
func readAccepted(ctx context.Context, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var word [1]byte
	_, err := io.ReadFull(conn, word[:])
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case word[0] != accepted:
		return errors.New("it is not on the list of libvirtd")
	}
	return nil
}
