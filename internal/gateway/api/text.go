// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	mediaText = "text/plain"
	// textTimeout is how long a reader may take for one piece of a text.
	textTimeout = 30 * time.Second
)

// text is one that is sent as it comes, such as a log.
type text struct {
	who *access.Caller
	// needs are what it takes to read the text.
	needs []need
	// media is the media type. Default: mediaText.
	media string
	// follow is true for a text that goes on for as long as its reader stays.
	follow bool
	// logs is how many logs the text is made of. Default: one.
	logs int
	// open begins to read the text, until the context ends.
	open func(ctx context.Context) (io.ReadCloser, error)
}

// followable are the routes of texts that can be followed: the kind and the last part of the path.
func followable() map[string]string {
	out := map[string]string{view.PodsPlural: logsPart, view.MachinesPlural: outputPart, view.ClustersPlural: runLogPart}
	for _, plural := range owners() {
		out[plural] = logsPart
	}
	return out
}

// isEndless reports whether a request has an answer that may go on for as long as its reader stays.
func isEndless(r *http.Request) bool {
	if _, isSession := isSession(r.URL.Path); isSession || r.URL.Path == watchPath {
		return true
	}
	follow, err := strconv.ParseBool(r.URL.Query().Get("follow"))
	plural, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	part, known := followable()[plural]
	return err == nil && follow && known && strings.HasSuffix(r.URL.Path, part)
}

// textResponse describes an answer with a text.
func textResponse() map[int]*huma.Response {
	return map[int]*huma.Response{http.StatusOK: {
		Description: "Lines", Content: map[string]*huma.MediaType{mediaText: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}

// sendText answers with a text, which counts as a stream of the caller for every few logs that it is made of: each is a connection.
func (a *API) sendText(ctx context.Context, what *text) (*huma.StreamResponse, error) {
	streams := 1 + (max(what.logs, 1)-1)/logsOfStream
	if err := a.Streams.EnterAs(what.who, streams); err != nil {
		return nil, err
	}
	reading, stop := context.WithCancelCause(ctx)
	lines, err := what.open(reading)
	if err != nil {
		stop(nil)
		a.Streams.LeaveAs(what.who, streams)
		return nil, err
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer a.Streams.LeaveAs(what.who, streams)
		defer stop(nil)
		defer func() { _ = lines.Close() }()
		request, writer := humago.Unwrap(ctx)
		writer.Header().Set("Content-Type", cmp.Or(what.media, mediaText)+"; charset=utf-8")
		writer.Header().Set("X-Accel-Buffering", "no")
		writer.WriteHeader(http.StatusOK)
		if request.Method == http.MethodHead {
			return
		}
		if what.follow {
			control := http.NewResponseController(writer)
			// The deadlines of a request would end the connection.
			_ = control.SetReadDeadline(time.Time{})
			_ = control.SetWriteDeadline(time.Time{})
			_ = control.Flush() // so that the reader of a quiet text knows that it has been opened
			go func() { stop(a.awaitEnd(reading, what.who, what.needs...).cutsOff()) }()
		}
		// What its source has ended is over, and nobody reads what its reader has left. Everything else is cut off, which only a connection that breaks
		// can tell after the status.
		if err := cutOff(reading, a.passOn(writer, lines)); err != nil {
			a.Log.Info("A text was cut off", "request", instance(reading), "path", request.URL.Path, "cause", err.Error())
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

// cutOff returns why the text of the context has ended before its end: nil if it has not, or if nobody reads it any more. A source that was told to stop
// can take that for its end.
func cutOff(reading context.Context, err error) error {
	if cut, ok := errors.AsType[*cutError](context.Cause(reading)); ok {
		return cut
	}
	if errors.Is(reading.Err(), context.Canceled) {
		return nil
	}
	return err
}

// passOn sends lines as they come, and returns nil at their end. A slow reader holds up only the connection that the lines come from.
func (a *API) passOn(to http.ResponseWriter, lines io.Reader) error {
	control := http.NewResponseController(to)
	buffer := make([]byte, 32<<10)
	for {
		n, err := lines.Read(buffer)
		if n > 0 {
			_ = control.SetWriteDeadline(a.Now().Add(textTimeout))
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
			if err := control.Flush(); err != nil {
				return err
			}
			// With HTTP/2 a deadline that passes ends the answer also when there is nothing to write.
			_ = control.SetWriteDeadline(time.Time{})
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
