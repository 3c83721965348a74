// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"flag"
	"fmt"
	"io"
	"strconv"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"
)

// newLogger returns a logger in the format of Kubernetes' own components, and makes the libraries use it too.
func newLogger(out io.Writer, verbosity int) (logr.Logger, error) {
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(out), textlogger.Verbosity(verbosity)))
	logger = logger.WithSink(&orderlyEnd{LogSink: logger.GetSink()})

	// client-go asks klog itself how much it may say.
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Set("v", strconv.Itoa(verbosity)); err != nil {
		return logr.Logger{}, fmt.Errorf("cannot set the verbosity of the log: %w", err)
	}
	klog.SetLoggerWithOptions(chatter(logger), klog.ContextualLogger(true))
	ctrl.SetLogger(chatter(logger))
	return logger, nil
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
	deeper(s.LogSink, 1).Info(level+1, message, keysAndValues...)
}

// Error implements logr.LogSink.
func (s *quieter) Error(err error, message string, keysAndValues ...any) {
	deeper(s.LogSink, 1).Error(err, message, keysAndValues...)
}

// WithValues implements logr.LogSink.
func (s *quieter) WithValues(keysAndValues ...any) logr.LogSink {
	return &quieter{LogSink: s.LogSink.WithValues(keysAndValues...)}
}

// WithName implements logr.LogSink.
func (s *quieter) WithName(name string) logr.LogSink {
	return &quieter{LogSink: s.LogSink.WithName(name)}
}

// WithCallDepth implements logr.CallDepthLogSink.
func (s *quieter) WithCallDepth(depth int) logr.LogSink {
	return &quieter{LogSink: deeper(s.LogSink, depth)}
}

// orderlyEnd drops the one error that controller-runtime logs at every orderly end: having given up the Lease on purpose,
// it is told that the Lease is lost. A Lease that is lost for real ends the process with an error of its own.
type orderlyEnd struct{ logr.LogSink }

// Error implements logr.LogSink.
func (s *orderlyEnd) Error(err error, message string, keysAndValues ...any) {
	if err != nil && err.Error() == lostLeadership {
		return
	}
	deeper(s.LogSink, 1).Error(err, message, keysAndValues...)
}

// WithValues implements logr.LogSink.
func (s *orderlyEnd) WithValues(keysAndValues ...any) logr.LogSink {
	return &orderlyEnd{LogSink: s.LogSink.WithValues(keysAndValues...)}
}

// WithName implements logr.LogSink.
func (s *orderlyEnd) WithName(name string) logr.LogSink {
	return &orderlyEnd{LogSink: s.LogSink.WithName(name)}
}

// WithCallDepth implements logr.CallDepthLogSink.
func (s *orderlyEnd) WithCallDepth(depth int) logr.LogSink {
	return &orderlyEnd{LogSink: deeper(s.LogSink, depth)}
}

// deeper returns the sink for a caller that is so many calls further up: the line that is shown is that of the caller.
func deeper(sink logr.LogSink, depth int) logr.LogSink {
	if counting, ok := sink.(logr.CallDepthLogSink); ok {
		return counting.WithCallDepth(depth)
	}
	return sink
}
