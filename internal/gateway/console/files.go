// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// filesPath begins the paths of the files, whose names have a hash of their content.
const filesPath = "/assets/"

//go:embed all:dist
var embedded embed.FS

// mediaType returns the media type of a file by its extension. A file of another kind is not served: nobody has said how browsers may
// read it.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return ""
}

// file is one file, compressed.
type file struct {
	media      string
	compressed []byte
}

// read reads the compressed files of the console. Only what is read here has a path: there are no folders to list and no path to escape from.
func (c *Console) read(from fs.FS) error {
	const folder = "dist/app/assets"
	entries, err := fs.ReadDir(from, folder)
	if err != nil {
		return fmt.Errorf("cannot read the files of the console: %w", err)
	}
	for _, entry := range entries {
		name, isCompressed := strings.CutSuffix(entry.Name(), ".gz")
		media := mediaType(name)
		if !isCompressed || media == "" {
			continue
		}
		content, err := fs.ReadFile(from, path.Join(folder, entry.Name()))
		if err != nil {
			return fmt.Errorf("cannot read a file of the console: %w", err)
		}
		c.files[filesPath+name] = &file{media: media, compressed: content}
	}
	return nil
}

// serve answers with the file, which never changes: a changed one has another name.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.media)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Vary", "Accept-Encoding")
	if accepts(r, "Accept-Encoding", "gzip") {
		header.Set("Content-Encoding", "gzip")
		header.Set("Content-Length", strconv.Itoa(len(f.compressed)))
		_, _ = w.Write(f.compressed)
		return
	}
	plain, err := gzip.NewReader(bytes.NewReader(f.compressed))
	if err == nil {
		_, _ = io.Copy(w, plain) //nolint:gosec // because the program itself is where it comes from
	}
}
