// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// textHandler writes the log for people: a line for each record, in columns. The time, the level, the object that it is about, what
// happened, and the rest as keys and values.
type textHandler struct {
	level  slog.Leveler
	colour bool
	// attrs come from With.
	attrs []slog.Attr

	mu  *sync.Mutex
	out io.Writer
}

func newTextHandler(out io.Writer, level slog.Leveler, colour bool) *textHandler {
	return &textHandler{level: level, colour: colour, mu: &sync.Mutex{}, out: out}
}

// Enabled implements slog.Handler.
func (h *textHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level.Level()
}

// WithAttrs implements slog.Handler.
func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.attrs = append(slices.Clip(h.attrs), attrs...)
	return &with
}

// WithGroup implements slog.Handler. Nothing here uses groups: their keys stay as they are.
func (h *textHandler) WithGroup(string) slog.Handler { return h }

// subjectWidth is that of most objects. A longer one moves its line to the right.
const subjectWidth = 32

// Handle implements slog.Handler.
func (h *textHandler) Handle(_ context.Context, record slog.Record) error {
	attrs := slices.Clone(h.attrs)
	record.Attrs(func(attr slog.Attr) bool {
		attrs = append(attrs, attr)
		return true
	})
	level, style := levelOf(record.Level, attrs)
	about, attrs := subject(attrs)

	var line bytes.Buffer
	at := record.Time.Format(time.RFC3339)
	if h.colour {
		at = record.Time.Format(time.TimeOnly)
	}
	h.paint(&line, dim, at)
	line.WriteByte(' ')
	h.paint(&line, style, fmt.Sprintf("%-5s", level))
	line.WriteByte(' ')
	h.paint(&line, bold, fmt.Sprintf("%-*s", subjectWidth, about))
	line.WriteByte(' ')
	line.WriteString(oneLine(record.Message))
	for _, attr := range attrs {
		line.WriteByte(' ')
		h.paint(&line, dim, attr.Key+"="+value(attr.Value))
	}
	line.WriteByte('\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.out.Write(line.Bytes())
	return err
}

// The colours of a terminal.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	green  = "\x1b[32m"
	reset  = "\x1b[0m"
)

func (h *textHandler) paint(line *bytes.Buffer, style, text string) {
	if !h.colour {
		line.WriteString(text)
		return
	}
	line.WriteString(style + text + reset)
}

// levelOf returns the name of a level and its colour. Events of the type Warning are warnings, which logr has no level for.
func levelOf(level slog.Level, attrs []slog.Attr) (name, style string) {
	switch {
	case level >= slog.LevelError:
		return "ERROR", red
	case level >= slog.LevelWarn || slices.ContainsFunc(attrs, isWarning):
		return "WARN", yellow
	case level < slog.LevelInfo:
		return "DEBUG", dim
	}
	return "INFO", green
}

// The keys of what an event is about, and those that controller-runtime gives every line of a controller.
const (
	keyType   = "type"
	keyKind   = "kind"
	keyObject = "object"
)

const warning = "Warning"

func isWarning(attr slog.Attr) bool { return attr.Key == keyType && attr.Value.String() == warning }

// subject takes the attributes that name an object out of the list, and returns its name: as events give it, or as controller-runtime
// does. Those that say the same again, or identify a single pass, are dropped.
func subject(attrs []slog.Attr) (about string, rest []slog.Attr) {
	named := map[string]string{}
	for _, attr := range attrs {
		switch attr.Key {
		case keyKind, keyObject, "controllerKind", "namespace", "name":
			named[attr.Key] = value(attr.Value)
		case "controller", "controllerGroup", "reconcileID", "logger", keyType:
		default:
			rest = append(rest, attr)
		}
	}
	object := named[keyObject]
	if object == "" {
		object = strings.TrimPrefix(named["namespace"]+"/"+named["name"], "/")
	}
	kind := named[keyKind]
	if kind == "" {
		kind = named["controllerKind"]
	}
	// controller-runtime gives the object once more, under its kind.
	rest = slices.DeleteFunc(rest, func(attr slog.Attr) bool { return kind != "" && attr.Key == kind })
	if about = strings.Trim(kind+" "+object, " /"); about == "" {
		about = "windlass"
	}
	return about, rest
}

// plain replaces what JSON would show as an empty object, or as an address in memory.
func plain(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() != slog.KindAny {
		return attr
	}
	switch held := attr.Value.Any().(type) {
	case error:
		attr.Value = slog.StringValue(held.Error())
	case fmt.Stringer:
		attr.Value = slog.StringValue(text(held))
	}
	return attr
}

// value returns a value as it appears in a line: quoted if it would otherwise not be one word.
func value(v slog.Value) string {
	if _, named := v.Any().(fmt.Stringer); !named { // a reference to an object is a group for programs, and a name for people
		v = v.Resolve()
	}
	plain := text(v.Any())
	if plain == "" || strings.ContainsAny(plain, " \t\n\r\"=") {
		return strconv.Quote(plain)
	}
	return plain
}

// text returns a value for people, and never an address in memory.
func text(held any) string {
	switch held := held.(type) {
	case nil:
		return ""
	case error:
		return held.Error()
	case fmt.Stringer:
		if v := reflect.ValueOf(held); v.Kind() == reflect.Pointer && v.IsNil() {
			return ""
		}
		return held.String()
	}
	v := reflect.ValueOf(held)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return v.Type().String()
	default:
		return fmt.Sprintf("%+v", v.Interface())
	}
}

// oneLine keeps a record on one line.
func oneLine(message string) string { return strings.ReplaceAll(message, "\n", "; ") }
