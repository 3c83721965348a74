// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// screen is what a console has printed so far.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) shows(words string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), words)
}

// console opens a console, whose screen is filled until it ends.
func console(t *testing.T, driver machine.Driver, id machine.Identity) (machine.Console, *screen) {
	t.Helper()
	at, err := driver.Console(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	printed, ended := &screen{}, make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(printed, at) // until it is closed
	}()
	t.Cleanup(func() {
		_ = at.Close() // again
		<-ended
	})
	return at, printed
}

func enter(t *testing.T, at io.Writer, line string) {
	t.Helper()
	if _, err := io.WriteString(at, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// programs returns how many processes the container has.
func programs(t *testing.T, api *client.Client, container string) int {
	t.Helper()
	top, err := api.ContainerTop(t.Context(), container, client.ContainerTopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return len(top.Processes)
}

// TestConsoleLeavesNothingBehind starts programs in a console, in front and behind. All of them end with it, and those of the machine and of
// another console do not.
func TestConsoleLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	spec.Env = []machine.EnvVar{{Name: "TEXT", Value: "of several\nlines"}}
	made := run(t, driver, spec)
	if n := programs(t, api, made.ID); n != 1 {
		t.Fatalf("the machine has %d processes", n)
	}
	other, otherScreen := console(t, driver, spec.Identity)
	at, printed := console(t, driver, spec.Identity)
	enter(t, at, "(trap '' HUP; /guest -listen :8001; /guest -listen :8001) &")
	eventually(t, func() bool { return printed.shows("ready") })
	enter(t, at, "trap '' HUP; echo fore''ground; /guest -listen :8002 -ignore")
	eventually(t, func() bool { return printed.shows("foreground") && programs(t, api, made.ID) >= 6 })
	if err := at.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, func() bool { return programs(t, api, made.ID) == 2 })
	enter(t, other, "echo still the''re")
	eventually(t, func() bool { return otherScreen.shows("still there") })
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, func() bool { return programs(t, api, made.ID) == 1 })
}

// A console that ended while its machine was suspended left its programs behind, and they went on with the machine.
func TestConsoleOfASuspendedMachineLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	made := run(t, driver, spec)
	at, printed := console(t, driver, spec.Identity)
	enter(t, at, "trap '' HUP; echo fore''ground; /guest -listen :8002 -ignore")
	eventually(t, func() bool { return printed.shows("foreground") && programs(t, api, made.ID) >= 3 })
	if err := driver.Suspend(t.Context(), spec.Identity); err != nil {
		t.Fatal(err)
	}
	if err := at.Close(); err != nil {
		t.Error(err)
	}
	if err := driver.Start(t.Context(), spec.Identity); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return programs(t, api, made.ID) == 1 })
}

// TestConsoleOfASuspendedMachineWhoseShellHangs resumes a machine in which nobody can end what a console has left. It used to run, and to count as not
// resumed.
func TestConsoleOfASuspendedMachineWhoseShellHangs(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	made := run(t, driver, spec)
	at, printed := console(t, driver, spec.Identity)
	enter(t, at, "echo lis''tens")
	eventually(t, func() bool { return printed.shows("listens") })
	replaceShell(t, api, made.ID, "#!/bin/real\nexec /guest -listen :8003 -ignore >/dev/null")
	if err := driver.Suspend(t.Context(), spec.Identity); err != nil {
		t.Fatal(err)
	}
	if err := at.Close(); err != nil {
		t.Error(err)
	}
	if err := driver.Start(t.Context(), spec.Identity); err != nil {
		t.Errorf("Start returned %v of a machine that runs", err)
	}
}

// TestConsoleIsResized has the shell tell when its terminal changes.
func TestConsoleIsResized(t *testing.T) {
	t.Parallel()
	_, driver, _ := shared(t)
	spec := specOf(newIdentity())
	run(t, driver, spec)
	at, printed := console(t, driver, spec.Identity)
	enter(t, at, "trap 'echo other si''ze' WINCH; echo lis''tens")
	eventually(t, func() bool { return printed.shows("listens") })
	if err := at.Resize(t.Context(), 132, 43); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		enter(t, at, "")
		return printed.shows("other size")
	})
	if err := at.Close(); err != nil {
		t.Error(err)
	}
}

// TestConsoleEndsWithItsShell ends the shell by hand.
func TestConsoleEndsWithItsShell(t *testing.T) {
	t.Parallel()
	_, driver, _ := shared(t)
	spec := specOf(newIdentity())
	run(t, driver, spec)
	at, err := driver.Console(t.Context(), spec.Identity)
	if err != nil {
		t.Fatal(err)
	}
	enter(t, at, "exit 3")
	if _, err := io.Copy(io.Discard, at); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if err := at.Close(); err != nil {
		t.Error(err)
	}
}

// TestConsoleWithoutAShell asks for the console of images whose shell is no program, and leads nowhere.
func TestConsoleWithoutAShell(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	for name, header := range map[string]tar.Header{
		"a file":           {Name: "sh", Mode: 0o644},
		"a link to nobody": {Name: "sh", Mode: 0o777, Typeflag: tar.TypeSymlink, Linkname: "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(newIdentity())
			made := run(t, driver, spec)
			var archive bytes.Buffer
			writer := tar.NewWriter(&archive)
			if err := errors.Join(writer.WriteHeader(&header), writer.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := api.CopyToContainer(t.Context(), made.ID, client.CopyToContainerOptions{DestinationPath: "/bin", Content: &archive}); err != nil {
				t.Fatal(err)
			}
			if _, err := driver.Console(t.Context(), spec.Identity); !errors.Is(err, machine.ErrNoShell) {
				t.Errorf("Console returned %v, want %v", err, machine.ErrNoShell)
			}
		})
	}
}

// A shell that printed without an end where its first line was due filled the memory of the manager, and the console never opened. This one fits into
// the memory of the test.
func TestAttackAShellThatPrintsWithoutALine(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	made := run(t, driver, spec)
	const script = `#!/bin/real
[ $# -gt 2 ] && exec /bin/real "$@" # what the driver runs to end the console
text=0123456789abcdef
for doubled in 1 2 3 4 5 6 7 8 9 10 11 12; do text=$text$text; done
print() { for part in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do printf %s "$text$text$text$text$text$text$text$text"; done; }
for printed in 1 2 3 4 5 6 7 8; do print; done
exec /guest -listen :8001 >/dev/null`
	replaceShell(t, api, made.ID, script)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	at, err := driver.Console(ctx, spec.Identity)
	if err == nil {
		err = at.Close()
	}
	if ctx.Err() != nil || err == nil || !strings.Contains(err.Error(), "did not begin as expected") {
		t.Errorf("Console returned %v after %v, want that the shell did not begin", err, ctx.Err())
	}
	eventually(t, func() bool { return programs(t, api, made.ID) == 1 })
}

// replaceShell puts a script in the place of the shell of a container, which is /bin/real then.
func replaceShell(t *testing.T, api *client.Client, container, script string) {
	t.Helper()
	dash, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	for name, content := range map[string][]byte{"real": dash, "sh": []byte(script)} {
		err = errors.Join(err, writer.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}))
		_, failure := writer.Write(content)
		err = errors.Join(err, failure)
	}
	if err := errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := api.CopyToContainer(t.Context(), container, client.CopyToContainerOptions{DestinationPath: "/bin", Content: &archive}); err != nil {
		t.Fatal(err)
	}
}

// TestConsoleOfAPausedMachine is refused: nobody would answer.
func TestConsoleOfAPausedMachine(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	made := run(t, driver, spec)
	if _, err := api.ContainerPause(t.Context(), made.ID, client.ContainerPauseOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := driver.Console(t.Context(), spec.Identity); !errors.Is(err, machine.ErrOff) {
		t.Errorf("Console returned %v, want %v", err, machine.ErrOff)
	}
}
