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

// chatter returns the logger of libraries: what they do in the ordinary course of things shows with -v=1, their errors always. What
// Windlass does is a line for each event.
func chatter(logger logr.Logger) logr.Logger { return logger.V(1) }

// orderlyEnd drops the one error that controller-runtime logs at every orderly end: having given up the Lease on purpose,
// it is told that the Lease is lost. A Lease that is lost for real ends the process with an error of its own.
type orderlyEnd struct{ logr.LogSink }

// Error implements logr.LogSink.
func (s *orderlyEnd) Error(err error, message string, keysAndValues ...any) {
	if err != nil && err.Error() == lostLeadership {
		return
	}
	sink := s.LogSink
	if deeper, ok := sink.(logr.CallDepthLogSink); ok {
		sink = deeper.WithCallDepth(1) // the line that is shown is that of the caller
	}
	sink.Error(err, message, keysAndValues...)
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
	deeper, ok := s.LogSink.(logr.CallDepthLogSink)
	if !ok {
		return s
	}
	return &orderlyEnd{LogSink: deeper.WithCallDepth(depth)}
}
