// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

// stamp is the time at the beginning of a line.
var stamp = regexp.MustCompile(`(?m)^\S+ `)

// written returns what a text log of this verbosity gets, without times.
func written(verbosity int, write func(logger logr.Logger)) string {
	var out bytes.Buffer
	logger := logr.FromSlogHandler(newTextHandler(&out, slog.Level(-verbosity), false))
	write(logger.WithSink(&calm{LogSink: logger.GetSink()}))
	return stamp.ReplaceAllString(out.String(), "")
}

func TestTheLogIsInColumns(t *testing.T) {
	t.Parallel()
	got := written(0, func(logger logr.Logger) {
		logger.Info("Starting", "version", "v1.2.3", "controllers", []string{"nodepool", "podset"})
		logger.Info("4 nodes joined: the pool has 4 nodes", "type", "Normal", "kind", "NodePool", "object", klog.KRef("", "edge"), "reason", "NodesJoined")
		logger.Info("The machine\nstopped", "type", "Warning", "kind", "VirtualMachine", "object", klog.KRef("default", "a"), "reason", "Crashed")
		logger.WithName("controllers").WithValues("controller", "podset", "controllerGroup", "apps.jicki.cn", "controllerKind", "PodSet",
			"PodSet", klog.KRef("default", "web"), "namespace", "default", "name", "web", "reconcileID", "7f").
			Error(errors.New("no route to host"), "Reconciler error")
		logger.Info("A pod", "pod", new("web"), "none", (*corev1.Pod)(nil), "signal", make(chan int))
		logger.V(1).Info("Chatter")
	})
	want := `INFO  windlass                         Starting version=v1.2.3 controllers="[nodepool podset]"
INFO  NodePool edge                    4 nodes joined: the pool has 4 nodes reason=NodesJoined
WARN  VirtualMachine default/a         The machine; stopped reason=Crashed
ERROR PodSet default/web               Reconciler error err="no route to host"
INFO  windlass                         A pod pod=web none="" signal="chan int"
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the log differs (-want +got):\n%s", diff)
	}
}

// TestTheSentenceThatEndsAnInstanceIsTheLastLine: an instance that lost the Lease says so and ends, and controller-runtime, which was still
// stopping its goroutines, wrote below it.
func TestTheSentenceThatEndsAnInstanceIsTheLastLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := &untilEnd{out: &out}
	logger := logr.FromSlogHandler(newTextHandler(log, slog.LevelInfo, false))
	logger.Info("At work")
	log.end()
	logger.Info("Stopping and waiting")
	if got, want := stamp.ReplaceAllString(out.String(), ""), "INFO  windlass                         At work\n"; got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
}

// TestWhatAUserMayNotListIsNoError: "kubectl windlass ui" runs with the rights of a person, and said so again and again on their terminal.
func TestWhatAUserMayNotListIsNoError(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("cannot list nodes: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("no")))
	for forUser, want := range map[bool]int{true: 0, false: 2} {
		var out bytes.Buffer
		logger := logr.FromSlogHandler(newTextHandler(&out, slog.LevelInfo, false))
		logger = logger.WithSink(&calm{LogSink: logger.GetSink(), forUser: forUser})
		logger.Error(err, "Failed to watch")
		logger.WithName("a").WithValues("b", "c").Error(err, "Failed to watch")
		if got := strings.Count(out.String(), "\n"); got != want {
			t.Errorf("for a user %t: %q", forUser, out.String())
		}
		logger.Error(errors.New("no route to host"), "Failed to watch")
		if got := strings.Count(out.String(), "\n"); got != want+1 {
			t.Errorf("for a user %t: another error is not told: %q", forUser, out.String())
		}
	}
}

func TestOnlyATerminalGetsColours(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"a file":                        {nil, false},
		"a file with forced colours":    {map[string]string{"CLICOLOR_FORCE": "1"}, true},
		"colours that are not forced":   {map[string]string{"CLICOLOR_FORCE": "0"}, false},
		"colours are refused by a user": {map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			colour := onTerminal(&out, func(name string) string { return test.env[name] })
			logger := logr.FromSlogHandler(newTextHandler(&out, slog.LevelInfo, colour))
			logger.Info("Starting")
			if got := strings.Contains(out.String(), "\x1b["); got != test.want {
				t.Errorf("colours are %t, want %t: %q", got, test.want, out.String())
			}
		})
	}
}

func TestJSONShowsWhatErrorsSay(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := logr.FromSlogHandler(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: plain}))
	logger.Info("Joined", "object", klog.KRef("default", "web"), "cause", errors.New("odd"))
	if want := `"msg":"Joined","object":{"name":"web","namespace":"default"},"cause":"odd"}`; !strings.HasSuffix(out.String(), want+"\n") {
		t.Errorf("the line is %q, want it to end with %q", out.String(), want)
	}
}

// An orderly end, an ordinary conflict of updates, and a call that was cancelled by the end.
func TestOrdinaryErrorsAreNoErrorsInTheLog(t *testing.T) {
	t.Parallel()
	for verbosity, want := range []string{
		"ERROR windlass                         Something else b=c err=odd\n",
		`DEBUG windlass                         error received after stop sequence was engaged b=c err="leader election lost"
DEBUG windlass                         Reconciler error b=c err="cannot write the status: Operation cannot be fulfilled on nodes \"a\": changed"
DEBUG windlass                         Reconciler error b=c err="cannot list nodes: context canceled"
ERROR windlass                         Something else b=c err=odd
`,
	} {
		got := written(verbosity, func(logger logr.Logger) {
			logger = logger.WithName("a").WithValues("b", "c")
			logger.Error(errors.New(lostLeadership), "error received after stop sequence was engaged")
			conflict := apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, "a", errors.New("changed"))
			logger.Error(fmt.Errorf("cannot write the status: %w", conflict), "Reconciler error")
			logger.Error(fmt.Errorf("cannot list nodes: %w", context.Canceled), "Reconciler error")
			logger.Error(errors.New("odd"), "Something else")
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with -v=%d the log differs (-want +got):\n%s", verbosity, diff)
		}
	}
}

func TestLibrariesAreQuietInTheLog(t *testing.T) {
	t.Parallel()
	for verbosity, want := range []int{1, 3} {
		got := written(verbosity, func(logger logr.Logger) {
			logger = chatter(logger)
			sink := logr.Discard().WithSink(logger.GetSink()) // all that controller-runtime takes of a logger
			logger.Info("Starting EventSource")
			sink.WithName("a").WithValues("b", "c").Info("Serving metrics server")
			sink.Error(errors.New("odd"), "Reconciler error")
		})
		if lines := strings.Count(got, "\n"); lines != want || !strings.HasSuffix(got, "Reconciler error err=odd\n") {
			t.Errorf("with -v=%d the log is %q, want %d lines", verbosity, got, want)
		}
	}
}
