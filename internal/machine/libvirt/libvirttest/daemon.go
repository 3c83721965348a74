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

// patience is how long the daemon may take to start, on the slowest machine there is.
const patience = 2 * time.Minute

// boot makes the new namespaces habitable and runs the daemon. What it keeps is below its directory, so that it is there again after Kill
// and Run; all that must not survive is in /run, as after a reboot.
//
// There is no /dev/kvm: it may be one that can be opened and runs no guest, and no test is to depend on that. The shell stays, because
// it is the first process of its namespace: QEMU leaves its parent when it starts, and somebody has to take leave of it when it ends. A
// daemon that had to do that itself would wait most of a minute for every QEMU it asks what it can do. On HUP the shell ends the daemon and
// starts another one; guests go on.
const boot = `
dir=$1; shift
mount --make-rprivate / && mount -t proc none /proc && mount -t tmpfs none /run || exit
for place in /etc/libvirt /var/lib/libvirt /var/cache/libvirt /var/log/libvirt; do
	mkdir -p "$place" && mount --bind "$dir/root$place" "$place" || exit
done
mkdir -p "$dir/dev" && mount -t tmpfs none "$dir/dev" && mkdir "$dir/dev/pts" "$dir/dev/shm" || exit
for node in null zero full random urandom tty; do
	: >"$dir/dev/$node" && mount --bind "/dev/$node" "$dir/dev/$node" || exit
done
mount -t devpts -o newinstance,ptmxmode=0666 none "$dir/dev/pts" && ln -s pts/ptmx "$dir/dev/ptmx" || exit
mount --rbind "$dir/dev" /dev || exit
trap 'again=yes; kill -KILL "$daemon"' HUP
while :; do
	again=
	libvirtd "$@" &
	daemon=$!
	while kill -0 "$daemon" 2>/dev/null; do wait "$daemon"; done
	test "$again" || break
done
`

// What the daemon is told: nobody is asked who he is, and guests run as root, without anything that the machine would have to offer.
const (
	daemonConf = `
unix_sock_dir = %q
auth_unix_rw = "none"
auth_unix_ro = "none"
log_outputs = "3:stderr"
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

	process *os.Process
	ended   chan struct{}
}

// Missing says why no daemon can run here, empty if one can.
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

// program is where Debian has it, which is not where everybody looks.
const program = "/usr/sbin/libvirtd"

// Start starts a daemon for the test, which is skipped where none can run.
func Start(tb testing.TB) *Daemon {
	tb.Helper()
	if why := Missing(); why != "" {
		tb.Skip("no libvirt: " + why)
	}
	d, err := Open(tb.Context())
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
func Open(ctx context.Context) (*Daemon, error) {
	sweep()
	// A short path: that of a socket must not have more than a hundred bytes or so.
	dir, err := os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a directory: %w", err)
	}
	d := &Daemon{dir: dir}
	if err := errors.Join(d.configure(), d.Run(ctx)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// configure writes what the daemon is told.
func (d *Daemon) configure() error {
	var errs []error
	for _, place := range []string{"etc/libvirt", "var/lib/libvirt", "var/cache/libvirt", "var/log/libvirt"} {
		errs = append(errs, os.MkdirAll(d.Path("root", place), 0o755))
	}
	errs = append(errs,
		os.WriteFile(d.Path("libvirtd.conf"), fmt.Appendf(nil, daemonConf, d.dir), 0o600),
		os.WriteFile(d.Path("root/etc/libvirt/qemu.conf"), []byte(qemuConf), 0o600))
	return errors.Join(errs...)
}

// Close ends the daemon with all its guests, and removes what they have written.
func (d *Daemon) Close() error {
	d.Kill()
	return os.RemoveAll(d.dir)
}

// Path returns a path below the daemon's directory, which it sees under the same name.
func (d *Daemon) Path(names ...string) string {
	return filepath.Join(append([]string{d.dir}, names...)...)
}

// Socket is the path of the daemon's socket.
func (d *Daemon) Socket() string { return d.Path("libvirt-sock") }

// Host returns a hypervisor of the daemon as an entry of a hosts file: "test:///default" or "qemu:///system", with the parameters given.
func (d *Daemon) Host(hypervisor string, parameters ...string) machine.Host {
	return HostAt(d.Socket(), hypervisor, parameters...)
}

// HostAt returns a hypervisor that is reached through the socket as an entry of a hosts file. Its files may lie anywhere, as those of tests do,
// unless a parameter says otherwise.
func HostAt(socket, hypervisor string, parameters ...string) machine.Host {
	parameters = append([]string{"socket=" + socket, "paths=/"}, parameters...)
	return machine.Host{
		Name: "libvirt", Driver: machine.DriverLibvirt, MaxCalls: machine.DefaultMaxCalls,
		Endpoint: hypervisor + "?" + strings.Join(parameters, "&"),
	}
}

// Dial connects to a hypervisor of the daemon, as virsh does. What the hypervisor "test:///default" holds is gone with the last connection
// to it. The connection ends with the test.
func (d *Daemon) Dial(tb testing.TB, hypervisor string) *libvirt.Libvirt {
	tb.Helper()
	api, conn, err := d.dial(tb.Context(), hypervisor)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() }) // The daemon may be gone.
	return api
}

func (d *Daemon) dial(ctx context.Context, hypervisor string) (*libvirt.Libvirt, net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", d.Socket())
	if err != nil {
		return nil, nil, err
	}
	// The library would wait for ever for a daemon that does not answer.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	api := libvirt.NewWithDialer(dialers.NewAlreadyConnected(conn))
	if err := api.ConnectToURI(libvirt.ConnectURI(hypervisor)); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return api, conn, nil
}

// Kill ends the daemon and all its guests at once, as a power cut would. What is on its disk stays.
func (d *Daemon) Kill() {
	if d.process == nil {
		return
	}
	// The first process of a namespace: the kernel ends all others with it, before anybody hears of its end.
	_ = d.process.Kill() // It has ended already.
	<-d.ended
	d.process = nil
}

// Freeze stops the daemon in its tracks: it takes connections, and answers nothing. Thaw lets it go on.
func (d *Daemon) Freeze() error { return syscall.Kill(-d.process.Pid, syscall.SIGSTOP) }

// Thaw lets the daemon go on.
func (d *Daemon) Thaw() error { return syscall.Kill(-d.process.Pid, syscall.SIGCONT) }

// Restart kills the daemon and starts it again, and returns when it answers. Guests go on.
func (d *Daemon) Restart(ctx context.Context) error {
	_, conn, err := d.dial(ctx, "test:///default")
	if err != nil {
		return err
	}
	if err := d.process.Signal(syscall.SIGHUP); err != nil {
		return fmt.Errorf("cannot end libvirtd: %w", err)
	}
	// When the connection ends, the old one is gone.
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
	defer log.Close()                                             //nolint:errcheck // because libvirtd has it now
	command := exec.Command("/bin/sh", "-c", boot, "boot", d.dir, //nolint:noctx // because it outlives this call
		"--config", d.Path("libvirtd.conf"))
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
		// The daemon dies with the thread that started it, which therefore has to stay.
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
		if _, conn, err := d.dial(ctx, "test:///default"); err == nil {
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

// Inside returns the path by which a file of the daemon's namespaces is seen from here.
func (d *Daemon) Inside(path string) string {
	return filepath.Join("/proc", strconv.Itoa(d.process.Pid), "root", path)
}

// LogTail is what the daemon said last.
func (d *Daemon) LogTail() string {
	log, err := os.ReadFile(d.Path("log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(log)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// prefix of what a daemon leaves behind if nobody closes it; the number of its process follows.
const prefix = "lvt-"

// sweep removes what daemons of processes have left that did not come to close them. What cannot be removed is somebody else's trouble.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, path := range left {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), prefix), "-")
		if _, err := os.Stat(filepath.Join("/proc", owner)); owner != "" && errors.Is(err, fs.ErrNotExist) {
			_ = os.RemoveAll(path)
		}
	}
}
