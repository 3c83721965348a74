// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/confine"
)

// maxFile bounds a file that a tool leaves behind, in bytes. A Secret holds 1 MiB.
const maxFile = 8 << 20

// workspace is the directory that a tool works in: where the configuration is, and where the tool writes its state and the kubeconfig.
// Nothing outside of it is read or written through it, wherever links lead.
type workspace struct {
	dir *os.Root
	// config is the path of the configuration, name its name in the directory.
	config, name string
	// own says that the directory is ours, and not that of the user's file.
	own bool
}

// openWorkspace opens the workspace of a place. A user's file has to be inside the root.
func openWorkspace(root confine.Root, files layout, place provision.Place, tool provision.Tool) (*workspace, error) {
	config := files.configPath(place, tool)
	w := &workspace{config: config, name: filepath.Base(config), own: place.ConfigPath == ""}
	var err error
	if w.own {
		w.dir, err = os.OpenRoot(filepath.Dir(config))
		return w, err
	}
	if _, err := root.ReadFile(config, maxFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, refused(err)
	}
	w.dir, err = root.OpenDir(filepath.Dir(config))
	return w, refused(err)
}

// refused says that a path is outside of the root, if that is what the error is.
func refused(err error) error {
	if errors.Is(err, confine.ErrOutside) {
		return fmt.Errorf("%w: %w", provision.ErrPathRefused, err)
	}
	return err
}

func (w *workspace) close() { _ = w.dir.Close() }

// putConfig writes the configuration where the tool expects it, unless the user's file has it.
func (w *workspace) putConfig(wanted provision.Request) error {
	if !w.own {
		if has, err := w.makeRoom(wanted); has || err != nil {
			return err
		}
	}
	if err := w.write(w.name, wanted.Config); err != nil {
		return fmt.Errorf("cannot write the configuration: %w", err)
	}
	return nil
}

// makeRoom reports whether the user's file already has the configuration that the tool needs. It never overwrites the file. But a cluster is
// removed with the configuration that it was created from, and then makeRoom renames a file that has another one.
func (w *workspace) makeRoom(wanted provision.Request) (has bool, err error) {
	current, err := confine.ReadFile(w.dir, w.name, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return len(wanted.Config) == 0, nil
	case wanted.Action == provision.Up, len(wanted.Config) == 0, err == nil && same(current, wanted.Config):
		return true, nil
	}
	if err := w.dir.Rename(w.name, aside(w.name, current)); err != nil {
		return false, fmt.Errorf("cannot set %q aside: %w", w.config, noRoom(err))
	}
	return false, nil
}

// same reports whether two texts are the same configuration.
func same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	left, err := provision.ReadConfig(a)
	if err != nil {
		return false
	}
	right, err := provision.ReadConfig(b)
	return err == nil && left.Digest == right.Digest
}

// aside is the name of a file that was never applied, beside the one that was. It follows from the text, so that none replaces another.
func aside(name string, text []byte) string {
	return name + ".unapplied-" + digestOf(text)
}

// digestOf tells contents apart in the names of files.
func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:4])
}

// putState writes the state files that are gone, torn, or from before Request.StateFrom. What is there otherwise is newer: a later run wrote it, on this machine
// or in a directory that another one shares. Only the tool's own files are written: earlier versions could also store the state of another cluster in the same
// directory, which may have been removed since.
func (w *workspace) putState(wanted provision.Request) error {
	values := provision.Values{Name: wanted.Name, Config: w.config}
	for _, name := range slices.Sorted(maps.Keys(wanted.State)) {
		file := filepath.Base(name)
		if !wanted.Tool.Keeps(values, file) {
			continue
		}
		lost, err := w.loses(file, wanted.State[name], wanted.StateFrom)
		if err == nil && lost {
			err = w.write(file, wanted.State[name])
		}
		if err != nil {
			return fmt.Errorf("cannot write the state file %q: %w", name, err)
		}
	}
	return nil
}

// loses reports whether a state file has to be written from its copy. A whole one that does is renamed: only clocks tell that it is older, and without it the
// machines that only it knows of would be lost.
func (w *workspace) loses(file string, stored []byte, from time.Time) (bool, error) {
	content, err := w.read(file)
	lost := errors.Is(err, fs.ErrNotExist) || err == nil && torn(content)
	if err == nil && !lost && w.predates(file, from) && !bytes.Equal(content, stored) {
		return true, noRoom(w.dir.Rename(file, outdated(file, content)))
	}
	return lost, nil
}

// outdatedMark is in the name of a state file that a newer copy has replaced.
const outdatedMark = ".outdated-"

// outdated is the name of such a file, which follows from its content.
func outdated(name string, content []byte) string {
	return name + outdatedMark + digestOf(content)
}

// predates reports whether a file was last written before a time.
func (w *workspace) predates(name string, since time.Time) bool {
	info, err := w.dir.Lstat(name)
	return err == nil && info.ModTime().Before(since)
}

// putKnownHosts writes the file of host keys. Without any there is no file, so that a tool does not trust those of an earlier run. That run can
// have left a link in the place of the directory: it must not choose which file the manager replaces or removes.
func putKnownHosts(files layout, content []byte) error {
	dir, err := os.OpenRoot(files.work())
	if err != nil {
		return fmt.Errorf("cannot open the working directory: %w", err)
	}
	w := &workspace{dir: dir}
	defer w.close()
	info, err := dir.Lstat(sshDir)
	if err == nil && !info.IsDir() {
		err = dir.Remove(sshDir)
	}
	if err == nil && len(content) == 0 {
		err = dir.Remove(hostsFile)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove the known hosts: %w", err)
	}
	if len(content) == 0 {
		return nil
	}
	if err := dir.MkdirAll(sshDir, dirMode); err != nil {
		return fmt.Errorf("cannot make directory %q: %w", sshDir, noRoom(err))
	}
	if err := w.write(hostsFile, content); err != nil {
		return fmt.Errorf("cannot write the known hosts: %w", err)
	}
	return nil
}

// collect reads what the tool left behind. What cannot be one of its files is left out, and no error: the machines are there, and an error would come again
// with each pass.
func (w *workspace) collect(name string, tool provision.Tool) (provision.Artifacts, error) {
	values := provision.Values{Name: name, Config: w.config}
	left := provision.Artifacts{State: map[string][]byte{}, KubeconfigPath: tool.KubeconfigPath(name, w.config)}
	for _, pattern := range tool.StateFiles {
		pattern = values.Pattern(pattern)
		files, err := fs.Glob(w.dir.FS(), pattern)
		if err != nil || pattern != filepath.Base(pattern) {
			continue // provision.Tool.Check tells of it
		}
		if err := w.collectState(files, &left); err != nil {
			return left, err
		}
	}
	file := path.Clean(values.Expand(tool.KubeconfigFile))
	if left.KubeconfigPath == "" || !filepath.IsLocal(file) {
		return left, nil
	}
	content, err := w.read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoFile), errors.Is(err, syscall.ENOTDIR):
	case err != nil: // also if a link on the way there leads out of the directory
		left.Unread = append(left.Unread, file)
	default:
		left.Kubeconfig = content
	}
	return left, nil
}

// collectState reads state files, as many as fit into the manager's memory. The others are told of: the next run would miss them.
func (w *workspace) collectState(files []string, left *provision.Artifacts) error {
	size := 0
	for _, content := range left.State {
		size += len(content)
	}
	for _, file := range files {
		if _, known := left.State[file]; known || strings.Contains(file, outdatedMark) {
			continue // by another pattern, or no state any more
		}
		content, err := w.read(file)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoFile): // it can have been removed since
		case unreadable(err), err == nil && size+len(content) > provision.MaxState:
			left.Unread = append(left.Unread, file)
		case err != nil:
			return err
		case torn(content):
			left.Torn = append(left.Torn, file)
		default:
			left.State[file] = content
			size += len(content)
		}
	}
	return nil
}

// unreadable reports whether reading a file fails until somebody changes it. The run has failed then, and whoever asks goes on.
func unreadable(err error) bool {
	return errors.Is(err, errTooLarge) || errors.Is(err, fs.ErrPermission)
}

// torn reports whether a state file was not written to its end, because the disk was full or the tool was killed: it is empty, or starts
// as JSON and does not end as such. It must not replace the copy of a whole one, without which the cluster would be lost.
func torn(content []byte) bool {
	text := bytes.TrimSpace(content)
	return len(text) == 0 || text[0] == '{' && !json.Valid(text)
}

// The errors for what is not read: a directory, a link and the like, and what no Secret has room for.
var (
	errNoFile   = errors.New("it is not a regular file")
	errTooLarge = fmt.Errorf("it is larger than %d bytes", maxFile)
)

// read reads a file that the tool wrote. A link is refused: a tool does not choose what Windlass reads.
func (w *workspace) read(name string) ([]byte, error) {
	info, err := w.dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot read %q: %w", name, errNoFile)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("cannot read %q: %w", name, errTooLarge)
	}
	return confine.ReadFile(w.dir, name, maxFile)
}

// write replaces a file in one step. A tool can know the name of the temporary file: a pipe that it left there would hold up who opens it.
func (w *workspace) write(name string, content []byte) error {
	temporary := path.Join(path.Dir(name), "."+aside(path.Base(name), content))
	_ = w.dir.Remove(temporary)
	file, err := w.dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return noRoom(err)
	}
	defer func() { _ = w.dir.Remove(temporary) }()
	_, err = file.Write(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return noRoom(err)
	}
	return noRoom(w.dir.Rename(temporary, name))
}
