// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/digitalocean/go-libvirt"
	"github.com/digitalocean/go-libvirt/socket/dialers"

	"github.com/windlass-operator/windlass/internal/machine"
)

// patience is how long the daemon can take to start on a slow machine.
const patience = 2 * time.Minute

// boot sets up the new namespaces and runs the daemon. The daemon's state is below its directory and survives Kill and Run. Everything in /run
// does not, as after a reboot.
//
// There is no /dev/kvm: on some machines it can be opened but runs no guest, and tests must not depend on that. The shell stays because it is
// the first process of its namespace and has to reap QEMU, which leaves its parent when it starts. A daemon as the first process would wait
// most of a minute for each QEMU that it starts to detect features. On USR1, which unlike HUP is not ignored below nohup, the shell kills
// the daemon and starts another one; guests keep running.
const boot = `
dir=$1; shift
mount --make-rprivate / && mount -t proc none /proc && mount -t tmpfs none /run && mkdir -m 1777 /run/lock || exit
for place in /etc/libvirt /var/lib/libvirt /var/cache/libvirt /var/log/libvirt; do
	mkdir -p "$place" && mount --bind "$dir/root$place" "$place" || exit
done
mkdir -p "$dir/dev" && mount -t tmpfs none "$dir/dev" && mkdir "$dir/dev/pts" "$dir/dev/shm" || exit
for node in null zero full random urandom tty; do
	: >"$dir/dev/$node" && mount --bind "/dev/$node" "$dir/dev/$node" || exit
done
mount -t devpts -o newinstance,ptmxmode=0666 none "$dir/dev/pts" && ln -s pts/ptmx "$dir/dev/ptmx" || exit
mount --rbind "$dir/dev" /dev || exit
trap 'again=yes; kill -KILL "$daemon"' USR1
while :; do
	again=
	libvirtd "$@" &
	daemon=$!
	while kill -0 "$daemon" 2>/dev/null; do wait "$daemon"; done
	test "$again" || break
done
`

// The configuration of the daemon: no authentication, and guests that run as root, without features that the machine would have to offer.
const (
	daemonConf = `
unix_sock_dir = %q
auth_unix_rw = "none"
auth_unix_ro = "none"
log_outputs = "3:stderr"
`
	listenConf = `
listen_tls = 1
listen_tcp = 1
auth_tls = "none"
auth_tcp = "none"
ca_file = %q
cert_file = %q
key_file = %q
`
	qemuConf = `
user = "root"
group = "root"
security_driver = "none"
namespaces = []
cgroup_controllers = []
stdio_handler = "file"
remember_owner = 0
`
)

// Daemon is a libvirtd.
type Daemon struct {
	dir string
	// listens says that it listens on the network, too.
	listens bool

	process *os.Process
	ended   chan struct{}
}

// Missing returns why no daemon can run here, empty if one can.
func Missing() string {
	switch {
	case runtime.GOOS != "linux":
		return "libvirtd runs on Linux only"
	case os.Geteuid() != 0:
		return "libvirtd in namespaces of its own needs root"
	}
	if _, err := exec.LookPath(program); err != nil {
		return program + " is not installed (Debian has it in libvirt-daemon-system)"
	}
	return ""
}

// program is its path on Debian, which is not in every PATH.
const program = "/usr/sbin/libvirtd"

// Start starts a daemon for the test. It skips the test where no daemon can run.
func Start(tb testing.TB, options ...Option) *Daemon {
	tb.Helper()
	if why := Missing(); why != "" {
		tb.Skip("no libvirt: " + why)
	}
	d, err := Open(tb.Context(), options...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

// Open starts a daemon, which the caller closes.
func Open(ctx context.Context, options ...Option) (*Daemon, error) {
	sweep()
	// The path is short because the path of a socket must not be longer than about a hundred bytes.
	dir, err := os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a directory: %w", err)
	}
	d := &Daemon{dir: dir}
	for _, set := range options {
		set(d)
	}
	if err := errors.Join(d.configure(), d.Run(ctx)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// configure writes the configuration of the daemon.
func (d *Daemon) configure() error {
	var errs []error
	for _, place := range []string{"etc/libvirt", "var/lib/libvirt", "var/cache/libvirt", "var/log/libvirt"} {
		errs = append(errs, os.MkdirAll(d.Path("root", place), 0o755))
	}
	conf := fmt.Appendf(nil, daemonConf, d.dir)
	if d.listens {
		conf = fmt.Appendf(conf, listenConf, d.Path(caFile), d.Path(serverCert), d.Path(serverKey))
		errs = append(errs, MakeCertificates(d.dir))
	}
	errs = append(errs,
		os.WriteFile(d.Path("libvirtd.conf"), conf, 0o600),
		os.WriteFile(d.Path("root/etc/libvirt/qemu.conf"), []byte(qemuConf), 0o600))
	return errors.Join(errs...)
}

// Close ends the daemon and all its guests, and removes their files.
func (d *Daemon) Close() error {
	d.Kill()
	return os.RemoveAll(d.dir)
}

// Path returns a path below the daemon's directory. The daemon sees it under the same name.
func (d *Daemon) Path(names ...string) string {
	return filepath.Join(append([]string{d.dir}, names...)...)
}

// Socket is the path of the daemon's socket.
func (d *Daemon) Socket() string { return d.Path("libvirt-sock") }

// Host returns a hypervisor of the daemon ("test:///default" or "qemu:///system") as an entry of a hosts file, with the parameters.
func (d *Daemon) Host(hypervisor string, parameters ...string) machine.Host {
	return HostAt(d.Socket(), hypervisor, parameters...)
}

// HostAt returns a hypervisor behind the socket as an entry of a hosts file. Its images can be anywhere, as those of tests are, unless a
// parameter says otherwise.
func HostAt(socket, hypervisor string, parameters ...string) machine.Host {
	parameters = append([]string{"socket=" + socket, "paths=/"}, parameters...)
	return machine.Host{
		Name: "libvirt", Driver: machine.DriverLibvirt, MaxCalls: machine.DefaultMaxCalls,
		Endpoint: hypervisor + "?" + strings.Join(parameters, "&"),
	}
}

// Dial connects to a hypervisor of the daemon, as virsh does. The state of the hypervisor "test:///default" ends with the last connection to
// it. The connection ends with the test.
func (d *Daemon) Dial(tb testing.TB, hypervisor string) *libvirt.Libvirt {
	tb.Helper()
	api, conn, err := d.Connect(tb.Context(), hypervisor)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() }) // The daemon may be gone.
	return api
}

// Connect is Dial for callers that are no test, who close the connection.
func (d *Daemon) Connect(ctx context.Context, hypervisor string) (*libvirt.Libvirt, net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", d.Socket())
	if err != nil {
		return nil, nil, err
	}
	// The library would wait forever for a daemon that does not answer.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	api := libvirt.NewWithDialer(dialers.NewAlreadyConnected(conn))
	if err := api.ConnectToURI(libvirt.ConnectURI(hypervisor)); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return api, conn, nil
}

// Kill ends the daemon and all its guests at once, as a power cut would. Their files stay.
func (d *Daemon) Kill() {
	if d.process == nil {
		return
	}
	// It is the first process of its namespace: the kernel ends all others before its end is visible.
	_ = d.process.Kill() // It may have ended already.
	<-d.ended
	d.process = nil
}

// Freeze stops the daemon: it accepts connections and does not answer. Thaw continues it.
func (d *Daemon) Freeze() error { return syscall.Kill(-d.process.Pid, syscall.SIGSTOP) }

// Thaw continues the daemon.
func (d *Daemon) Thaw() error { return syscall.Kill(-d.process.Pid, syscall.SIGCONT) }

// Restart kills the daemon, starts it again, and returns when it answers. Guests keep running.
func (d *Daemon) Restart(ctx context.Context) error {
	_, conn, err := d.Connect(ctx, "test:///default")
	if err != nil {
		return err
	}
	if err := d.process.Signal(syscall.SIGUSR1); err != nil {
		return fmt.Errorf("cannot end libvirtd: %w", err)
	}
	// The connection ends with the old daemon.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_, _ = conn.Read(make([]byte, 1))
	return errors.Join(ctx.Err(), d.awaitReady(ctx))
}

// Run starts the daemon again after Kill, and returns when it answers.
func (d *Daemon) Run(ctx context.Context) error {
	log, err := os.Create(d.Path("log"))
	if err != nil {
		return fmt.Errorf("cannot make a log: %w", err)
	}
	defer func() { _ = log.Close() }() // libvirtd has a handle of its own.
	args := []string{"-c", boot, "boot", d.dir, "--config", d.Path("libvirtd.conf")}
	if d.listens {
		args = append(args, "--listen")
	}
	// The daemon outlives this call.
	command := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", args...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true,
	}
	begun := make(chan error, 1)
	d.ended = make(chan struct{})
	go func() {
		defer close(d.ended)
		// The daemon dies with the thread that started it, so the thread has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		begun <- err
		if err == nil {
			_ = command.Wait() // It is always killed.
		}
	}()
	if err := <-begun; err != nil {
		return fmt.Errorf("cannot start libvirtd: %w", err)
	}
	d.process = command.Process
	return d.awaitReady(ctx)
}

// awaitReady waits until the daemon answers.
func (d *Daemon) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, conn, err := d.Connect(ctx, "test:///default"); err == nil {
			return conn.Close()
		}
		select {
		case <-d.ended:
			return fmt.Errorf("cannot start libvirtd: it ended:\n%s", d.LogTail())
		case <-ctx.Done():
			return fmt.Errorf("cannot start libvirtd: it does not answer: %w\n%s", ctx.Err(), d.LogTail())
		case <-tick.C:
		}
	}
}

// Inside returns the path from here to a file in the daemon's namespaces.
func (d *Daemon) Inside(path string) string {
	return filepath.Join("/proc", strconv.Itoa(d.process.Pid), "root", path)
}

// LogTail returns the last lines of the daemon's log.
func (d *Daemon) LogTail() string {
	log, err := os.ReadFile(d.Path("log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(log)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// prefix is the prefix of a daemon's directory. The process ID of the test follows.
const prefix = "lvt-"

// sweep removes the directories of daemons whose tests ended without closing them. It ignores those that it cannot remove.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, path := range left {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), prefix), "-")
		if _, err := os.Stat(filepath.Join("/proc", owner)); owner != "" && errors.Is(err, fs.ErrNotExist) {
			_ = os.RemoveAll(path)
		}
	}
}
