// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

func TestSSHArgs(t *testing.T) {
	t.Parallel()
	always := []string{
		"-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "ConnectTimeout=10",
		"-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
	}
	for name, test := range map[string]struct {
		endpoint string
		files    *machine.SSHFiles
		want     []string
	}{
		"a host":          {"ssh://rack-1", nil, []string{"--", "rack-1", "docker", "system", "dial-stdio"}},
		"an IPv6 address": {"ssh://[::1]:22", nil, []string{"-p", "22", "--", "::1", "docker", "system", "dial-stdio"}},
		"everything": {
			"ssh://ops@rack-1:2222/run/other.sock", &machine.SSHFiles{IdentityFile: "/etc/id", KnownHostsFile: "/etc/known"},
			[]string{
				"-o", "UserKnownHostsFile=/etc/known", "-o", "IdentityFile=/etc/id", "-o", "IdentitiesOnly=yes", "-l", "ops", "-p", "2222",
				"--", "rack-1", "docker", "--host", "unix:///run/other.sock", "system", "dial-stdio",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint, err := url.Parse(test.endpoint)
			if err != nil {
				t.Fatal(err)
			}
			got, err := sshArgs(endpoint, test.files)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append(slices.Clip(always), test.want...), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// relayed is the path of the socket that this program connects its input and output to, in place of a test.
const relayed = "WINDLASS_TEST_RELAY"

// TestRelay is not a test: it is the program that an SSH client would run on the host.
func TestRelay(t *testing.T) { //nolint:paralleltest // because it is alone in its process
	path := os.Getenv(relayed)
	if path == "" {
		t.Skip("only another test runs this")
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(conn, os.Stdin) }()
	_, _ = io.Copy(os.Stdout, conn)
	os.Exit(0)
}

func TestSSHConnectionCarriesTheAPI(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1.41/info" {
			_, _ = io.WriteString(w, `{"ServerVersion":"1"}`)
			return
		}
		w.Header().Set("Api-Version", "1.41")
	})}
	go server.Serve(listener) //nolint:errcheck // because it is closed in the end
	t.Cleanup(func() { _ = server.Close() })
	t.Setenv(relayed, path)
	dial := (&ssh{program: os.Args[0], args: []string{"-test.run=^TestRelay$"}}).dial

	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return dial(ctx, network, address)
	}}
	api, err := client.New(client.WithHost("http://host"), client.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		t.Fatal(err)
	}
	info, err := api.Info(t.Context(), client.InfoOptions{})
	if err != nil || info.Info.ServerVersion != "1" {
		t.Errorf("Info returned %q, %v", info.Info.ServerVersion, err)
	}
	if err := api.Close(); err != nil {
		t.Error(err)
	}
}

// An SSH client that had ended before anything was written to it left "broken pipe", and not its own words.
func TestSSHSaysWhyAlsoWhereItEndsFirst(t *testing.T) {
	t.Parallel()
	conn, err := (&ssh{program: "sh", args: []string{"-c", "echo no route to it >&2; exit 255"}}).dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ended, ok := conn.(*sshConn)
	if !ok {
		t.Fatalf("the connection is a %T", conn)
	}
	<-ended.ended
	if _, err := conn.Write([]byte("GET /info HTTP/1.1\r\n")); err == nil || !strings.Contains(err.Error(), "the SSH client ended: no route to it") {
		t.Errorf("Write returned %v, want the words of the SSH client", err)
	}
}
