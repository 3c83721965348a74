// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// maxVerbosityAtRunTime is the highest level that a running process takes. From level 8 on, client-go logs the bodies of requests and
// answers, which can be Secrets: the right to change the level must not become the right to read them.
const maxVerbosityAtRunTime = 7

// verbosity is how much the process logs. It implements slog.Leveler.
type verbosity struct {
	mu    sync.Mutex
	level slog.LevelVar
	klog  *flag.FlagSet
}

func newVerbosity(level int) (*verbosity, error) {
	v := &verbosity{klog: flag.NewFlagSet("klog", flag.ContinueOnError)}
	klog.InitFlags(v.klog)
	if err := v.set(level); err != nil {
		return nil, err
	}
	return v, nil
}

// Level implements slog.Leveler: logr's levels of detail are slog's levels below Info.
func (v *verbosity) Level() slog.Level { return v.level.Level() }

func (v *verbosity) get() int { return -int(v.level.Level()) }

// set changes the level, also for client-go, which asks klog itself how much it may say.
func (v *verbosity) set(level int) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.klog.Set("v", strconv.Itoa(level)); err != nil {
		return fmt.Errorf("cannot set the verbosity of the log: %w", err)
	}
	v.level.Set(slog.Level(-level))
	return nil
}

// verbosityHandler reads and changes the verbosity of this process by HTTP, as the components of Kubernetes do: GET answers the level,
// PUT takes one.
type verbosityHandler struct {
	verbosity *verbosity
	log       logr.Logger
}

// ServeHTTP implements http.Handler.
func (h *verbosityHandler) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	switch request.Method {
	case http.MethodGet:
		_, _ = fmt.Fprintln(w, h.verbosity.get())
	case http.MethodPut:
		h.put(w, request)
	default:
		w.Header().Set("Allow", "GET, PUT")
		http.Error(w, "the method is neither GET nor PUT", http.StatusMethodNotAllowed)
	}
}

func (h *verbosityHandler) put(w http.ResponseWriter, request *http.Request) {
	const digits = 16 // more than any level has
	body, err := io.ReadAll(io.LimitReader(request.Body, digits))
	if err != nil {
		http.Error(w, "cannot read the level", http.StatusBadRequest)
		return
	}
	level, err := strconv.Atoi(strings.TrimSpace(string(body)))
	if err != nil || level < 0 || level > maxVerbosityAtRunTime {
		http.Error(w, fmt.Sprintf("the level must be a number from 0 to %d: start the process with -v for more", maxVerbosityAtRunTime), http.StatusBadRequest)
		return
	}
	before := h.verbosity.get()
	if err := h.verbosity.set(level); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h.log.Info("Verbosity of the log changed", "from", before, "to", level)
	_, _ = fmt.Fprintln(w, level)
}
