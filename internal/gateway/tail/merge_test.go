// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package tail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recorder is a sink that keeps what it gets.
type recorder struct {
	lines []string
	// put is called for each line. Default: nil.
	put func(line string) error
}

// Put implements Sink.
func (r *recorder) Put(line *Line) error {
	text := line.Container + ": " + string(line.Text)
	if line.Notice != "" {
		text = line.Container + "! " + line.Notice
	}
	if line.Cut > 0 {
		text = fmt.Sprintf("%s: %d and %d more", line.Container, len(line.Text), line.Cut)
	}
	r.lines = append(r.lines, text)
	if r.put != nil {
		return r.put(text)
	}
	return nil
}

// Flush implements Sink.
func (*recorder) Flush() error { return nil }

// log is a source that has the text and then ends.
func log(name, text string) Source {
	return from(name, func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
}

func from(name string, open func(ctx context.Context) (io.ReadCloser, error)) Source {
	return Source{Key: name, Pod: "pod", Container: name, Open: open}
}

// once is the only set of sources.
func once(sources ...Source) <-chan []Source {
	sets := make(chan []Source, 1)
	sets <- sources
	close(sets)
	return sets
}

// at is a line with its time.
func at(second int, text string) string {
	return time.Unix(int64(second), 5).UTC().Format(time.RFC3339Nano) + " " + text + "\n"
}

func TestMerge(t *testing.T) {
	t.Parallel()
	broken := func(context.Context) (io.ReadCloser, error) { return nil, errors.New("no such container") }
	for name, c := range map[string]struct {
		sources []Source
		options Options
		want    []string
	}{
		"lines are in the order of their times": {
			[]Source{log("a", at(1, "one")+at(4, "four")+at(5, "five")), log("b", at(2, "two")+at(3, "three")+at(6, "six"))},
			Options{Max: 9},
			[]string{"a: one", "b: two", "b: three", "a: four", "a: five", "b: six"},
		},
		"lines of the same time are in the order of the sources": {
			[]Source{log("a", at(1, "x")), log("b", at(1, "x")), log("c", at(1, "x"))}, Options{Max: 9}, []string{"a: x", "b: x", "c: x"},
		},
		"a line without a time stays behind the one before": {
			[]Source{log("a", at(3, "x")+"no time\n"), log("b", at(1, "y")+at(4, "z"))}, Options{Max: 9}, []string{"b: y", "a: x", "a: no time", "b: z"},
		},
		"empty lines, and one without an end": {
			[]Source{log("a", at(1, "")+"\n"+at(2, "x")+strings.TrimSpace(at(3, "y")))}, Options{Max: 9}, []string{"a: ", "a: ", "a: x", "a: y"},
		},
		"a long line is cut": {
			[]Source{log("a", at(1, strings.Repeat("x", 3*maxLine))+at(2, "y"))},
			Options{Max: 9},
			[]string{fmt.Sprintf("a: %d and %d more", maxLine-len(at(1, ""))+1, 2*maxLine+len(at(1, ""))-1), "a: y"},
		},
		"a source that fails says so, and the others go on": {
			[]Source{log("a", at(1, "x")), from("b", broken), log("c", at(2, "y"))}, Options{Max: 9}, []string{"b! cannot be read: no such container", "a: x", "c: y"},
		},
		"sources without room wait for it": {
			[]Source{log("a", at(3, "x")), log("b", at(2, "y")), log("c", at(1, "z"))},
			Options{Max: 1},
			[]string{
				"! 2 containers are not read: at most 1 are at the same time", "a: x",
				"b! has joined", "! 1 containers are not read: at most 1 are at the same time", "b: y",
				"c! has joined", "! 0 containers are not read: at most 1 are at the same time", "c: z",
			},
		},
		"nothing": {nil, Options{Max: 9}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := &recorder{}
			if err := Merge(t.Context(), once(c.sources...), got, c.options); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.lines); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFollow has logs that go on, one that joins, and one that ends.
func TestFollow(t *testing.T) {
	t.Parallel()
	pipe := func() (*io.PipeWriter, func(context.Context) (io.ReadCloser, error)) {
		out, in := io.Pipe()
		return in, func(context.Context) (io.ReadCloser, error) { return out, nil }
	}
	first, openFirst := pipe()
	second, openSecond := pipe()
	seen := make(chan string)
	got := &recorder{put: func(line string) error {
		seen <- line
		return nil
	}}
	sets := make(chan []Source)
	done := make(chan error, 1)
	go func() { done <- Merge(t.Context(), sets, got, Options{Follow: true, Settle: time.Millisecond, Max: 9}) }()
	expect := func(want string) {
		t.Helper()
		if line := <-seen; line != want {
			t.Errorf("the line is %q, want %q", line, want)
		}
	}
	sets <- []Source{from("a", openFirst)}
	for i := range 3 {
		go func() { _, _ = io.WriteString(first, at(9-i, "x")) }()
		expect("a: x")
	}
	sets <- []Source{from("a", openFirst), from("b", openSecond)}
	expect("b! has joined")
	go func() { _, _ = io.WriteString(second, at(1, "y")) }()
	expect("b: y")
	go func() { _ = first.Close() }()
	expect("a! has ended")
	sets <- []Source{from("a", openFirst), from("b", openSecond)} // where the first is not opened again
	go func() { _ = second.CloseWithError(errors.New("reset")) }()
	expect("b! cannot be read: the connection broke")
	close(sets)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestEveryLineArrives has many logs that are written at once.
func TestEveryLineArrives(t *testing.T) {
	t.Parallel()
	const logs, lines = 50, 500
	var sources []Source
	for i := range logs {
		sources = append(sources, from(strconv.Itoa(i), func(context.Context) (io.ReadCloser, error) {
			out, in := io.Pipe()
			go func() {
				for n := range lines {
					_, _ = io.WriteString(in, at(1, fmt.Sprintf("%d of %d", n, i)))
				}
				_ = in.Close()
			}()
			return out, nil
		}))
	}
	got := &recorder{}
	if err := Merge(t.Context(), once(sources...), got, Options{Follow: true, Settle: time.Millisecond, Max: logs}); err != nil {
		t.Fatal(err)
	}
	next := map[string]int{}
	for _, line := range got.lines {
		name, text, _ := strings.Cut(line, ": ")
		if text == "" { // a notice
			continue
		}
		if want := fmt.Sprintf("%d of %s", next[name], name); text != want {
			t.Fatalf("the line is %q, want %q", line, want)
		}
		next[name]++
	}
	for i := range logs {
		if next[strconv.Itoa(i)] != lines {
			t.Errorf("log %d has %d lines", i, next[strconv.Itoa(i)])
		}
	}
}

// endless is a log without an end, which counts what is read of it.
type endless struct{ read atomic.Int64 }

// Read implements io.Reader.
func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "x\n"[i%2]
	}
	e.read.Add(int64(len(p)))
	return len(p), nil
}

// TestAttackAReaderWhoIsSlow holds that nothing is read ahead for a reader who does not read.
func TestAttackAReaderWhoIsSlow(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	logs := make([]endless, 20)
	var sources []Source
	for i := range logs {
		sources = append(sources, from(strconv.Itoa(i), func(context.Context) (io.ReadCloser, error) { return io.NopCloser(&logs[i]), nil }))
	}
	left := 100
	slow := &recorder{put: func(string) error {
		if left--; left == 0 {
			return gone
		}
		return nil
	}}
	if err := Merge(t.Context(), once(sources...), slow, Options{Follow: true, Settle: time.Millisecond, Max: 100}); !errors.Is(err, gone) {
		t.Fatal(err)
	}
	for i := range logs {
		if read := logs[i].read.Load(); read > readAhead {
			t.Errorf("of log %d %d bytes were read", i, read)
		}
	}
}

// TestAttackALineWithoutAnEnd holds that a line that does not end is not kept.
func TestAttackALineWithoutAnEnd(t *testing.T) {
	t.Parallel()
	got := &recorder{}
	source := from("a", func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(io.LimitReader(zeros{}, 1<<30)), nil
	})
	if err := Merge(t.Context(), once(source), got, Options{Max: 1}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{fmt.Sprintf("a: %d and %d more", maxLine, 1<<30-maxLine)}, got.lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// zeros are bytes that end no line.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) { return len(p), nil }
