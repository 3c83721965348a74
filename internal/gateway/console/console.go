// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// links is what programs get at /.
const links = `{"links":{"me":"/v1/me","description":"/openapi.json"}}` + "\n"

// Console is the handler of everything outside of the API.
type Console struct {
	files map[string]*file
	page  string
	built bool
}

// New returns the console that is in the program.
func New() (*Console, error) { return open(embedded) }

// Built reports whether the program has a console, and not only a page that says how to build one.
func (c *Console) Built() bool { return c.built }

// ServeHTTP answers requests that read; others do not come here. A path of the console has the page, whatever object it is about: the page
// shows what the API answers.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if found, ok := c.files[r.URL.Path]; ok {
		found.serve(w, r)
		return
	}
	w.Header().Add("Vary", "Accept")
	switch {
	case strings.HasPrefix(r.URL.Path, filesPath): // a file of an older version, for which a page would be no answer
		notFound(w)
	case accepts(r, "Accept", "text/html"):
		c.servePage(w)
	case r.URL.Path == "/":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(links))
	default:
		notFound(w)
	}
}

// accepts reports whether a header names a value. A wildcard does not: programs send it, and browsers name what they want.
func accepts(r *http.Request, header, value string) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values(header), ","), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), value) && strings.ReplaceAll(quality, " ", "") != "q=0" {
			return true
		}
	}
	return false
}

func notFound(w http.ResponseWriter) {
	problem := view.NewProblem(http.StatusNotFound, "NotFound", "There is nothing at this path.")
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(problem.Status)
	if raw, err := json.Marshal(problem); err == nil {
		_, _ = w.Write(raw) // to a connection that may be gone
	}
}

// open reads the files of a console.
func open(from fs.FS) (*Console, error) {
	c := &Console{files: map[string]*file{}}
	page, err := fs.ReadFile(from, "dist/app/index.html")
	if c.built = err == nil; !c.built {
		if page, err = fs.ReadFile(from, "dist/unbuilt.html"); err != nil {
			return nil, err
		}
		c.page = string(page)
		return c, nil
	}
	c.page = string(page)
	err = c.read(from)
	return c, err
}
