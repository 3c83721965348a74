// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// remote returns the mock of a daemon as a host on the network. It has the images and the pool of newMock.
func remote(over, address string, parameters ...string) machine.Host {
	parameters = append([]string{mockPool, "paths=/"}, parameters...)
	return machine.Host{
		Name: "remote", Driver: machine.DriverLibvirt, MaxCalls: machine.DefaultMaxCalls,
		Endpoint: "test+" + over + "://" + address + "/default?" + strings.Join(parameters, "&"),
	}
}

// ways returns the ways on which the daemon is reached over the network.
func ways(t *testing.T, daemon *libvirttest.Daemon) map[string]machine.Host {
	t.Helper()
	encrypted := remote("tls", daemon.Forward(t, libvirttest.PortTLS))
	encrypted.TLS = libvirttest.CertificatesIn(daemon.Path())
	address, files, _ := libvirttest.StartSSH(t)
	login := remote("ssh", libvirttest.User+"@"+address, "socket="+daemon.Socket())
	login.SSH = files
	return map[string]machine.Host{"TLS": encrypted, "SSH": login, "TCP": remote("tcp", daemon.Forward(t, libvirttest.PortTCP))}
}

func TestMachineOnAHostOfTheNetwork(t *testing.T) { //nolint:tparallel // because each restarts the daemon
	t.Parallel()
	daemon := libvirttest.Start(t, libvirttest.Listening)
	for name, host := range ways(t, daemon) { //nolint:paralleltest // because each restarts the daemon
		t.Run(name, func(t *testing.T) {
			api := daemon.Dial(t, mock)
			makeImages(t, api)
			driver := open(t, host)
			spec := specOf(identity())
			create(t, driver, spec)
			wantSuccess(t, "Start", driver.Start(t.Context(), spec.Identity))
			got, err := driver.Get(t.Context(), spec.Identity)
			wantSuccess(t, "Get", err)
			if got.State != machine.StateRunning {
				t.Errorf("the machine is %v, want running", got.State)
			}
			// The connection ends with the daemon, and with it all that the mock has. The next call makes another connection.
			wantSuccess(t, "Restart", daemon.Restart(t.Context()))
			await(t, "the host is reached again", func() bool {
				_, err := driver.Info(t.Context())
				return err == nil
			})
			wantSuccess(t, "Close", driver.Close())
		})
	}
}

// Each restart of a daemon left a login behind, here and on its host.
func TestLoginsEndWithTheirDaemon(t *testing.T) {
	t.Parallel()
	daemon := libvirttest.Start(t)
	way := libvirttest.NewProxy(t, daemon)
	address, files, logins := libvirttest.StartSSH(t)
	host := remote("ssh", libvirttest.User+"@"+address, "socket="+way.Socket())
	host.SSH = files
	driver := open(t, host)
	t.Cleanup(func() { wantSuccess(t, "Close", driver.Close()) })
	reached := func() bool {
		_, err := driver.Info(t.Context())
		return err == nil
	}
	for range 10 {
		await(t, "the host is reached", reached)
		way.Cut() // as the end of a daemon does, with the channel and not with the login
		wantSuccess(t, "Mend", way.Mend())
	}
	await(t, "all logins but the last one have ended", func() bool { return reached() && logins.Load() <= 1 })
}

// TestAttackSomebodyAnswersForAHost is about what stands in the way to a host: it must learn nothing, and be believed nothing.
func TestAttackSomebodyAnswersForAHost(t *testing.T) {
	t.Parallel()
	daemon := libvirttest.Start(t, libvirttest.Listening)
	other, strangers := stranger(t)
	checkRefused(t, daemon, map[string]refusal{
		"with a certificate of another authority": {
			"TLS", func(h *machine.Host) { h.TLS.CA = other.CA }, "certificate signed by unknown authority",
		},
		"with a certificate that the system does not trust": {
			"TLS", func(h *machine.Host) { h.TLS.CA = "" }, "certificate signed by unknown authority",
		},
		"with a certificate for another name": {
			"TLS", func(h *machine.Host) { h.Endpoint = strings.Replace(h.Endpoint, "127.0.0.1", "localhost", 1) }, "wanted to match localhost",
		},
		"with a host key that is not known": {
			"SSH", func(h *machine.Host) { h.SSH.KnownHostsFile = strangers.KnownHostsFile }, "key is unknown",
		},
		"with another host key than the one that is known": {
			"SSH", func(h *machine.Host) { h.SSH.KnownHostsFile = mixUp(t, h.SSH.KnownHostsFile, strangers.KnownHostsFile) }, "key mismatch",
		},
	})
}

func TestHostThatLetsNobodyIn(t *testing.T) {
	t.Parallel()
	daemon := libvirttest.Start(t, libvirttest.Listening)
	other, strangers := stranger(t)
	checkRefused(t, daemon, map[string]refusal{
		"without a client certificate": {
			"TLS", func(h *machine.Host) { h.TLS.Cert, h.TLS.Key = "", "" }, "does not accept the client certificate",
		},
		"with a client certificate of another authority": {
			"TLS", func(h *machine.Host) {
				h.TLS.Cert, h.TLS.Key = other.Cert, other.Key
			}, "does not accept the client certificate",
		},
		"without the authority": {
			"TLS", func(h *machine.Host) { h.TLS.CA = "/nonexistent/ca.pem" }, "cannot read the CA: open /nonexistent/ca.pem",
		},
		"with a key that the host does not know": {
			"SSH", func(h *machine.Host) { h.SSH.IdentityFile = strangers.IdentityFile }, "cannot log in to 127.0.0.1:",
		},
		"as a user that the host does not know": {
			"SSH", func(h *machine.Host) {
				h.Endpoint = strings.Replace(h.Endpoint, libvirttest.User+"@", "root@", 1)
			}, " as root: ",
		},
		"without a key": {
			"SSH", func(h *machine.Host) { h.SSH.IdentityFile = "/nonexistent/id" }, "cannot read the SSH key: open /nonexistent/id",
		},
		"without known hosts": {
			"SSH", func(h *machine.Host) { h.SSH.KnownHostsFile = "/nonexistent/hosts" }, "cannot read the known hosts: open /nonexistent/hosts",
		},
		"without a daemon behind the socket": {
			"SSH", func(h *machine.Host) {
				h.Endpoint = strings.Replace(h.Endpoint, daemon.Socket(), "/nonexistent/socket", 1)
			}, "cannot connect to libvirt's socket on 127.0.0.1:",
		},
	})
}

// refusal is a change of a host after which nobody may connect to it.
type refusal struct {
	way  string
	edit func(*machine.Host)
	want string
}

// checkRefused checks for each change that the host is not connected to, and that the error says why.
func checkRefused(t *testing.T, daemon *libvirttest.Daemon, tests map[string]refusal) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := ways(t, daemon)[test.way]
			test.edit(&host)
			driver := open(t, host)
			_, err := driver.Info(t.Context())
			wantError(t, "Info", err, machine.ErrUnreachable)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want in it %q", err, test.want)
			}
			wantSuccess(t, "Close", driver.Close())
		})
	}
}

// stranger returns what somebody has who has nothing to do with a host: certificates of another authority, and the files of
// another SSH server.
func stranger(t *testing.T) (*machine.TLSFiles, *machine.SSHFiles) {
	t.Helper()
	dir := t.TempDir()
	if err := libvirttest.MakeCertificates(dir); err != nil {
		t.Fatal(err)
	}
	_, files, _ := libvirttest.StartSSH(t)
	return libvirttest.CertificatesIn(dir), files
}

// mixUp returns a file that has the host of the first known hosts with the key of the second.
func mixUp(t *testing.T, host, key string) string {
	t.Helper()
	var words [2][]string
	for i, path := range []string{host, key} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		words[i] = strings.Fields(string(text))
	}
	path := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(path, []byte(words[0][0]+" "+strings.Join(words[1][1:], " ")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
