// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/windlass-operator/windlass/internal/provision"
)

// Isolation says whether a tool is kept from the files of the machine that it does not need.
type Isolation string

// The isolations. With Required, what cannot be isolated does not run; with Preferred it does, and its log says so.
const (
	IsolationNone      Isolation = "none"
	IsolationPreferred Isolation = "preferred"
	IsolationRequired  Isolation = "required"
)

// access is which files a tool can use. It can neither read, nor run, nor write any other. Paths that do not exist are left out.
type access struct {
	// Read are files, and directories with everything in them, that it can read and run.
	Read []string `json:"read"`
	// Write are those that it can change, too.
	Write []string `json:"write"`
	// Alone keeps it from sending signals to processes that it did not start. A tool whose daemons are the cluster has to end those of an
	// earlier run.
	Alone bool `json:"alone"`
}

// system are the files that programs need whatever they do: themselves, libraries, certificates, names, and facts about the machine. There
// is nothing in them that belongs to somebody.
func system() []string {
	paths := []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/opt"}
	for _, name := range []string{
		"alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "gai.conf", "group", "host.conf", "hosts", "ld.so.cache",
		"ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki", "protocols", "resolv.conf",
		"services", "ssh/ssh_config", "ssh/ssh_config.d", "ssl", "terminfo", "timezone",
	} {
		paths = append(paths, filepath.Join("/etc", name))
	}
	for _, name := range []string{"cgroups", "cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys", "uptime", "version"} {
		paths = append(paths, filepath.Join("/proc", name))
	}
	return append(paths, "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm")
}

// devices are the files of devices that hold nothing.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
}

// accessOf returns which files a run can use; nil if it is not isolated, and then why not if it should be.
func (r *Runner) accessOf(files layout, wanted provision.Request, asked request, config string) (allowed *access, open string, err error) {
	if r.options.Isolation != IsolationPreferred && r.options.Isolation != IsolationRequired {
		return nil, "", nil
	}
	switch obstacle := r.obstacle(filepath.Dir(config)); {
	case obstacle == "":
	case r.options.Isolation == IsolationRequired:
		return nil, "", fmt.Errorf("%w: --tool-isolation is required, and %s", provision.ErrPathRefused, obstacle)
	default:
		return nil, obstacle, nil
	}
	allowed = &access{
		Read:  append(system(), asked.Argv[0]),
		Write: append(devices(), files.work(), filepath.Dir(config)),
		Alone: !wanted.Tool.KeepsDaemons,
	}
	if wanted.Tool.KeepsDaemons {
		// They look for each other. What belongs to a process of somebody else stays closed: environment, memory and files.
		allowed.Read = append(allowed.Read, "/proc")
	}
	for _, variable := range asked.Env {
		switch name, value, _ := strings.Cut(variable, "="); name {
		case "SSL_CERT_FILE":
			allowed.Read = append(allowed.Read, value)
		case "SSL_CERT_DIR":
			allowed.Read = append(allowed.Read, filepath.SplitList(value)...)
		case "DEVCLUSTER_DIR":
			if slices.Contains(wanted.Tool.PassEnv, name) {
				allowed.Write = append(allowed.Write, value)
			}
		}
	}
	return allowed, "", nil
}

// obstacle returns why a tool that can use all of the directory cannot be isolated, empty if it can: the machine does not offer it,
// or the directory contains what tools are kept from.
func (r *Runner) obstacle(dir string) string {
	if err := CanIsolate(); err != nil {
		return err.Error()
	}
	home, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "" // what cannot be found cannot be used either
	}
	for _, path := range append([]string{r.options.Root}, r.options.Secret...) {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		if below, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(below) {
			return fmt.Sprintf("the directory %q of the configuration contains %q, which no tool can have: move the configuration into "+
				"a directory of its own", dir, path)
		}
	}
	return ""
}

// apart calls a function on a thread that can use these files only, as can every process that it starts. The thread ends with the function.
func apart(allowed *access, call func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: no other goroutine gets a thread that may do less
		if allowed != nil {
			if err := restrict(allowed); err != nil {
				result <- fmt.Errorf("cannot isolate it: %w", err)
				return
			}
		}
		result <- call()
	}()
	return <-result
}
