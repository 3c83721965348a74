// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal with the plugin on it, and what a person sees there.
type terminal struct {
	mu     sync.Mutex
	master *os.File
	ended  chan error

	cells         [][]rune
	row, column   int
	width, height int
	// wrapped and scrolled are true if the plugin ever wrote more than fits.
	wrapped, scrolled bool
	cursorHidden      bool
	clears            int
	raw               strings.Builder
}

// onTerminal starts the plugin on a terminal of its own.
func onTerminal(t *testing.T, width, height int, env []string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("needs pseudo-terminals: %v", err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	slave, err := os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	must(t, unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)}))
	out := &terminal{master: master, ended: make(chan error, 1), width: width, height: height}
	out.clear(0)
	command := exec.CommandContext(t.Context(), os.Args[0], args...)
	command.Env = append([]string{asPlugin + "=1", "TERM=xterm", "LANG=C.UTF-8", "HOME=" + t.TempDir()}, env...)
	command.Stdin, command.Stdout, command.Stderr = slave, slave, slave
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, command.Start())
	must(t, slave.Close())
	go func() {
		out.read() // until the program, which alone has the other side, has ended
		out.ended <- command.Wait()
	}()
	t.Cleanup(func() { _ = master.Close() })
	return out
}

func (s *terminal) read() {
	buffer, rest := make([]byte, 1<<16), ""
	for {
		count, err := s.master.Read(buffer)
		s.mu.Lock()
		s.raw.Write(buffer[:count])
		rest = s.draw(rest + string(buffer[:count]))
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// draw does what a terminal does with a text. It returns the beginning of what is not complete yet.
func (s *terminal) draw(text string) string {
	for text != "" {
		if text == "\x1b" || !utf8.FullRuneInString(text) {
			return text
		}
		if strings.HasPrefix(text, "\x1b[") {
			end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				return text
			}
			s.obey(text[2 : end+3])
			text = text[end+3:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		s.write(r)
		text = text[size:]
	}
	return ""
}

func (s *terminal) obey(sequence string) {
	switch sequence {
	case "H":
		s.row, s.column = 0, 0
	case "2J":
		s.clears++
		s.clear(0)
	case "J":
		s.clearLine()
		s.clear(s.row + 1)
	case "K":
		s.clearLine()
	case "?25l", "?25h":
		s.cursorHidden = sequence == "?25l"
	}
}

func (s *terminal) write(r rune) {
	switch r {
	case '\r':
		s.column = 0
	case '\n':
		if s.row++; s.row == s.height {
			s.row, s.scrolled = s.height-1, true
		}
	default:
		if s.column == s.width {
			s.column, s.wrapped = 0, true
			s.row = min(s.row+1, s.height-1)
		}
		s.cells[s.row][s.column] = r
		s.column++
	}
}

func (s *terminal) clear(from int) {
	if s.cells == nil {
		s.cells = make([][]rune, s.height)
	}
	for i := from; i < s.height; i++ {
		s.cells[i] = []rune(strings.Repeat(" ", s.width))
	}
}

func (s *terminal) clearLine() {
	for i := s.column; i < s.width; i++ {
		s.cells[s.row][i] = ' '
	}
}

// String is what the person sees.
func (s *terminal) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	for _, line := range s.cells {
		out.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// press types a key.
func (s *terminal) press(t *testing.T, key string) {
	t.Helper()
	_, err := s.master.WriteString(key)
	must(t, err)
}
