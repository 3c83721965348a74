// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/go-logr/logr"
	"golang.org/x/term"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-operator/windlass/internal/config"
)

// newLogger returns the logger of the process, and makes the libraries use it too. What it shows can be changed with the verbosity. After
// the call of its second result nothing is written any more.
func newLogger(out io.Writer, conf *config.Config, detail *verbosity) (logr.Logger, func()) {
	until := &untilEnd{out: out}
	var handler slog.Handler = slog.NewJSONHandler(until, &slog.HandlerOptions{Level: detail, ReplaceAttr: plain})
	if conf.LogFormat != config.LogJSON {
		handler = newTextHandler(until, detail, onTerminal(out, os.Getenv))
	}
	logger := logr.FromSlogHandler(handler)
	logger = logger.WithSink(&calm{LogSink: logger.GetSink(), forUser: conf.OnlyGateway && conf.Gateway.Session})
	klog.SetLoggerWithOptions(chatter(logger), klog.ContextualLogger(true))
	ctrl.SetLogger(chatter(logger))
	return logger, until.end
}

// untilEnd drops what is written after its end. An instance that lost the Lease ends while its goroutines still run, and what they say then
// would stand below the sentence that tells why it ended.
type untilEnd struct {
	out   io.Writer
	mu    sync.Mutex
	ended bool
}

// Write implements io.Writer.
func (u *untilEnd) Write(line []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return len(line), nil
	}
	return u.out.Write(line)
}

func (u *untilEnd) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
}

// onTerminal reports whether a person reads the log as it is written: then it has colours. NO_COLOR and CLICOLOR_FORCE say so as for other
// programs, see https://no-color.org and https://bixense.com/clicolors.
func onTerminal(out io.Writer, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" {
		return false
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// chatter returns the logger for libraries: it shows their errors always, and what they do in normal operation only with -v=1. What
// Windlass does is a line for each event.
func chatter(logger logr.Logger) logr.Logger {
	return logger.WithSink(&quieter{LogSink: logger.GetSink()})
}

// quieter lowers everything by one level of detail. logr.Logger.V would do the same, but controller-runtime takes only the sink of the
// logger that it is given.
type quieter struct{ logr.LogSink }

// Enabled implements logr.LogSink.
func (s *quieter) Enabled(level int) bool { return s.LogSink.Enabled(level + 1) }

// Info implements logr.LogSink.
func (s *quieter) Info(level int, message string, keysAndValues ...any) {
	s.LogSink.Info(level+1, message, keysAndValues...)
}

// WithValues implements logr.LogSink.
func (s *quieter) WithValues(keysAndValues ...any) logr.LogSink {
	return &quieter{LogSink: s.LogSink.WithValues(keysAndValues...)}
}

// WithName implements logr.LogSink.
func (s *quieter) WithName(name string) logr.LogSink {
	return &quieter{LogSink: s.LogSink.WithName(name)}
}

// calm shows errors that belong to normal operation only with -v=1.
type calm struct {
	logr.LogSink

	// forUser is true if the process acts as a person, who need not be allowed to list everything: the browser shows what is missing.
	forUser bool
}

// Error implements logr.LogSink.
func (s *calm) Error(err error, message string, keysAndValues ...any) {
	if quiet := ordinary(err) || s.forUser && apierrors.IsForbidden(err); !quiet {
		s.LogSink.Error(err, message, keysAndValues...)
		return
	}
	if s.LogSink.Enabled(1) {
		s.LogSink.Info(1, message, append(keysAndValues, "err", err)...)
	}
}

// ordinary reports whether an error needs no attention: somebody else wrote an object at the same moment, and the pass is repeated; the
// process stops and cancels what it was doing; or controller-runtime says, at every orderly end, that the Lease is lost which it has just
// given up. A Lease that is lost for real ends the process with an error of its own.
func ordinary(err error) bool {
	return err != nil && (apierrors.IsConflict(err) || errors.Is(err, context.Canceled) || err.Error() == lostLeadership)
}

// WithValues implements logr.LogSink.
func (s *calm) WithValues(keysAndValues ...any) logr.LogSink {
	return &calm{LogSink: s.LogSink.WithValues(keysAndValues...), forUser: s.forUser}
}

// WithName implements logr.LogSink.
func (s *calm) WithName(name string) logr.LogSink {
	return &calm{LogSink: s.LogSink.WithName(name), forUser: s.forUser}
}
