// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Config returns the settings of a connection to the host, nil for none. The host is always verified. The client certificate is read
// for every connection, so that a renewed one is used.
func (f *TLSFiles) Config() (*tls.Config, error) {
	if f == nil {
		return nil, nil //nolint:nilnil // because no files are no settings
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.CA != "" {
		pem, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, fmt.Errorf("cannot read the CA: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("cannot use CA %q: %w: the file contains no certificate", f.CA, ErrInvalid)
		}
	}
	if f.Cert == "" {
		return config, nil
	}
	read := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, fmt.Errorf("cannot read the client certificate: %w", err)
		}
		return &pair, nil
	}
	if _, err := read(nil); err != nil {
		return nil, err
	}
	config.GetClientCertificate = read
	return config, nil
}
