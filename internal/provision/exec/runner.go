// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/confine"
)

// Options say how tools are run.
type Options struct {
	// Root is the directory that everything is kept in. It must outlive the process, or runs cannot be found again.
	Root string
	// Paths says where tools are, by name. Others are looked up in PATH.
	Paths map[string]string
	// ConfigRoot is the directory that users' files must be in.
	ConfigRoot confine.Root
	// Limit is how many runs can be under way at the same time.
	Limit int
	// Supervisor is the command that runs Supervise with the directory of the run as its last argument.
	Supervisor []string
	// Environment returns the manager's environment, as NAME=value.
	Environment func() []string
	// Isolation says whether tools are kept from files that they do not need; empty means none.
	Isolation Isolation
	// Secret are files and directories, besides Root, that no directory with a configuration may contain if tools are isolated.
	Secret []string
	// Now is the time, which only Watch reads.
	Now func() time.Time
}

// Runner implements provision.Provisioner.
type Runner struct {
	options Options
	changed chan string
	// ended has an element if a run of this process has ended since Watch looked last.
	ended chan struct{}
	// queue holds the clusters that found no slot.
	queue provision.Queue

	// mu is held for a whole call, so that others see all of its steps or none.
	mu sync.Mutex
}

// New returns a Runner, which makes its root.
func New(options Options) (*Runner, error) {
	root, err := filepath.Abs(options.Root)
	if err != nil {
		return nil, fmt.Errorf("cannot find %q: %w", options.Root, err)
	}
	options.Root = root
	if err := os.MkdirAll(root, dirMode); err != nil {
		return nil, fmt.Errorf("cannot make directory %q: %w", root, err)
	}
	return &Runner{options: options, changed: make(chan string, 64), ended: make(chan struct{}, 1)}, nil
}

// of returns the layout of a cluster. Its UID becomes the name of a directory.
func (r *Runner) of(cluster string) (layout, error) {
	if cluster == "" || cluster != filepath.Base(cluster) || strings.HasPrefix(cluster, ".") {
		return layout{}, fmt.Errorf("cannot use %q as the name of a directory", cluster)
	}
	return layout{dir: filepath.Join(r.options.Root, cluster)}, nil
}

// Start implements provision.Provisioner.
func (r *Runner) Start(ctx context.Context, wanted provision.Request) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	files, err := r.of(wanted.Cluster)
	if err != nil {
		return err
	}
	for _, dir := range []string{files.dir, files.work(), files.run()} {
		if err := os.MkdirAll(dir, dirMode); err != nil {
			return fmt.Errorf("cannot make directory %q: %w", dir, noRoom(err))
		}
	}
	lock, err := takeSoon(ctx, files.lock(), syscall.LOCK_EX)
	if err != nil {
		return fmt.Errorf("cannot lock the run of %q: %w", wanted.Name, err)
	}
	if lock == nil {
		return r.underWay(files, wanted.ID)
	}
	defer func() { _ = lock.Close() }() // the supervisor has its own hold of the same lock
	var last record
	if known, err := read(files.record(), &last); err == nil && known && last.ID == wanted.ID && !last.StartedAt.Before(wanted.Since) {
		return nil // it has ended, or was interrupted
	}
	file, err := r.userFile(wanted.Place)
	if err != nil {
		return err
	}
	if count, err := r.count(files, file); err != nil {
		return err
	} else if count > r.options.Limit {
		r.queue.Join(wanted.Cluster)
		return provision.ErrLimit
	}
	r.queue.Leave(wanted.Cluster)
	endRemains(last)
	argv, err := r.prepare(files, wanted)
	if err != nil {
		return err
	}
	asked := request{
		ID: wanted.ID, Action: wanted.Action, Argv: argv, Env: r.environment(files, wanted), Dir: files.work(),
		Timeout: wanted.Timeout, Grace: wanted.Grace, File: file, KeepsDaemons: wanted.Tool.KeepsDaemons,
	}
	asked.Access, asked.NotIsolated, err = r.accessOf(files, wanted, asked, files.configPath(wanted.Place, wanted.Tool))
	if err != nil {
		return err
	}
	if err := wanted.CallBefore(ctx); err != nil {
		return err
	}
	return r.launch(ctx, files, lock, asked, private{PrivateKey: wanted.PrivateKey, Secrets: wanted.Secrets})
}

// underWay answers for a lock that is held, by the supervisor of this very run or of another.
func (r *Runner) underWay(files layout, id string) error {
	var asked request
	if known, err := read(files.request(), &asked); err != nil || known && asked.ID == id {
		return err
	}
	return provision.ErrBusy
}

// count returns how many runs are under way, including the one whose lock was just taken. The error is ErrBusy if one of another cluster works on the
// same file: Clusters that were created together may not know of each other.
func (r *Runner) count(own layout, file string) (int, error) {
	clusters, err := os.ReadDir(r.options.Root)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, cluster := range clusters {
		other := layout{dir: filepath.Join(r.options.Root, cluster.Name())}
		busy, err := held(other.lock())
		if err == nil && busy && other != own {
			err = other.spares(file)
		}
		if err != nil {
			return 0, err
		}
		if busy {
			count++
		}
	}
	return count, nil
}

// prepare writes what the tool reads, and returns its call.
func (r *Runner) prepare(files layout, wanted provision.Request) ([]string, error) {
	if err := files.clear(wanted.StateFrom); err != nil {
		return nil, err
	}
	work, err := openWorkspace(r.options.ConfigRoot, files, wanted.Place, wanted.Tool)
	if err != nil {
		return nil, fmt.Errorf("cannot open the directory of the configuration: %w", err)
	}
	defer work.close()
	if err := work.putConfig(wanted); err != nil {
		return nil, err
	}
	if err := work.putState(wanted); err != nil {
		return nil, err
	}
	if err := putKnownHosts(files, wanted.KnownHosts); err != nil {
		return nil, err
	}
	argv := wanted.Tool.Argv(wanted.Action, files.values(wanted.Place, wanted.Tool), len(wanted.PrivateKey) > 0)
	program, err := r.find(argv[0])
	if err != nil {
		return nil, err
	}
	return append([]string{program}, argv[1:]...), nil
}

// find returns the path of a tool.
func (r *Runner) find(name string) (string, error) {
	if path, ok := r.options.Paths[name]; ok {
		name = path
	}
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", provision.ErrToolMissing, err)
	}
	return path, nil
}

// launch starts the supervisor and gives it the lock. It does not wait: the run must not depend on this process.
func (r *Runner) launch(ctx context.Context, files layout, lock *os.File, asked request, secrets private) error {
	for _, old := range []string{files.result(), files.record(), files.log(), files.log() + ".1"} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("cannot remove what the last run left: %w", err)
		}
	}
	if err := writeJSON(files.request(), asked); err != nil {
		return fmt.Errorf("cannot write the request: %w", err)
	}
	in, out, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("cannot make a pipe: %w", err)
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), r.options.Supervisor[0], append(slices.Clone(r.options.Supervisor[1:]), files.dir)...)
	command.Env, command.Dir = []string{}, files.run()
	command.ExtraFiles = []*os.File{lock, in}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = command.Start()
	_ = in.Close() // the supervisor has its own: if that ends, a write must not wait for a reader
	if err != nil {
		_ = out.Close()
		return fmt.Errorf("cannot start the supervisor: %w", err)
	}
	go func() {
		_ = command.Wait()
		select {
		case r.ended <- struct{}{}:
		default:
		}
	}()
	if err := send(out, secrets); err != nil {
		return fmt.Errorf("cannot send the secrets to the supervisor: %w", err)
	}
	return nil
}

// environment returns the tool's environment: what every program needs, what its preset passes on, and what the spec adds.
func (r *Runner) environment(files layout, wanted provision.Request) []string {
	pass := append([]string{
		"PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
		"no_proxy",
	}, wanted.Tool.PassEnv...)
	env := []string{"HOME=" + files.work(), "TMPDIR=" + files.work()}
	for _, variable := range r.options.Environment() {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(pass, name) {
			env = append(env, variable)
		}
	}
	values := files.values(wanted.Place, wanted.Tool)
	for _, variable := range wanted.Tool.Env {
		env = append(env, values.Expand(variable))
	}
	return env
}

// Changed implements provision.Provisioner.
func (r *Runner) Changed() <-chan string { return r.changed }

// lookEvery is how often the logs and locks of runs are checked.
const lookEvery = 500 * time.Millisecond

// Watch sends the clusters whose run has made progress or has ended to Changed, and those that there is a slot for, until ctx ends. That
// includes the runs that an earlier process started.
func (r *Runner) Watch(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	seen := map[string]look{}
	var called []string
	for {
		now := r.look()
		for cluster, state := range now {
			if seen[cluster] != state && r.tell(cluster) {
				seen[cluster] = state
			}
		}
		maps.DeleteFunc(seen, func(cluster string, _ look) bool { _, there := now[cluster]; return !there })
		called = append(called, r.queue.Call(r.options.Limit-slotsIn(now), r.options.Now())...)
		called = slices.DeleteFunc(called, r.tell)
		select {
		case <-ctx.Done():
			return nil
		case <-r.ended:
		case <-tick.C:
		}
	}
}

// tell sends a cluster to Changed, and reports whether it could: a slow reader is told the next time.
func (r *Runner) tell(cluster string) bool {
	select {
	case r.changed <- cluster:
		return true
	default:
		return false
	}
}

// look is what changes when a run does: whether it is under way, when it was asked for, and how much it has printed. Without the time, a run that
// begins and ends between two looks could not be told from one before it that printed as much.
type look struct {
	busy    bool
	asked   int64
	printed int64
}

// look returns what is to be seen of the run of each cluster.
func (r *Runner) look() map[string]look {
	clusters, err := os.ReadDir(r.options.Root)
	if err != nil {
		return nil
	}
	looks := make(map[string]look, len(clusters))
	for _, cluster := range clusters {
		files := layout{dir: filepath.Join(r.options.Root, cluster.Name())}
		var now look
		now.busy, _ = held(files.lock())
		if info, err := os.Stat(files.request()); err == nil {
			now.asked = info.ModTime().UnixNano()
		}
		if info, err := os.Stat(files.log()); err == nil {
			now.printed = info.Size()
		}
		looks[cluster.Name()] = now
	}
	return looks
}

// slotsIn counts the runs that are under way.
func slotsIn(looks map[string]look) int {
	count := 0
	for _, now := range looks {
		if now.busy {
			count++
		}
	}
	return count
}
