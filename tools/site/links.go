// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// tree is the files of a repository, with every text in Markdown read once.
type tree struct {
	root      string
	documents map[string]*document
}

// find reads every text in Markdown of a repository that belongs to it.
func find(root string) (*tree, error) {
	t := &tree{root: root, documents: map[string]*document{}}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && (name == ".git" || name == ".local" || name == "node_modules" || name == "testdata" || below == "bin" || below == "dist"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".md"):
			return nil
		}
		raw, err := os.ReadFile(file) //nolint:gosec // a file of the repository
		if err != nil {
			return err
		}
		t.documents[filepath.ToSlash(below)] = read(raw)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the repository: %w", err)
	}
	return t, nil
}

// check says which links lead nowhere. Nothing is dialled: a link to another host has to have the form of one.
func (t *tree) check() error {
	var errs []error
	for source, d := range t.documents {
		for _, l := range d.links {
			if err := t.follow(source, l.target); err != nil {
				errs = append(errs, fmt.Errorf("%s:%d: %q %w", source, l.line, l.target, err))
			}
		}
	}
	return errors.Join(errs...)
}

// follow goes where a link in a file leads.
func (t *tree) follow(source, target string) error {
	to, err := url.Parse(target)
	if err != nil {
		return fmt.Errorf("is not a link: %w", err)
	}
	switch {
	case to.Scheme == "mailto" && to.Opaque != "":
		return nil
	case to.Scheme == "http" || to.Scheme == "https":
		if to.Hostname() == "" || strings.ContainsAny(target, " <>") {
			return errors.New("is not a link")
		}
		return nil
	case to.Scheme != "" || to.Host != "":
		return errors.New("is of a kind that nobody needs here")
	case strings.HasPrefix(target, "/"):
		return errors.New("begins at the root of a host: use a path from this file")
	}
	file := source
	if to.Path != "" {
		file = path.Join(path.Dir(source), to.Path)
	}
	if strings.HasPrefix(file, "..") {
		return errors.New("leaves the repository")
	}
	if to.Path != "" {
		if _, err := os.Stat(filepath.Join(t.root, filepath.FromSlash(file))); err != nil {
			return errors.New("does not exist")
		}
	}
	if to.Fragment == "" {
		return nil
	}
	d := t.documents[file]
	if d == nil {
		return fmt.Errorf("has an anchor, and %s is not a page", file)
	}
	for _, h := range d.headings {
		if h.Anchor == to.Fragment {
			return nil
		}
	}
	return fmt.Errorf("leads to an anchor that %s does not have", file)
}

// check says which links of the site lead nowhere.
func (s *site) check() error {
	t, err := find(s.root)
	if err != nil {
		return err
	}
	return t.check()
}

// lead makes the links of a page lead to pages of the site, to files that go with it, or else to the forge. It returns these files.
func (s *site) lead(p *page) []string {
	var files []string
	for _, l := range p.document.links {
		to, err := url.Parse(l.target)
		if err != nil || to.Scheme != "" || to.Path == "" {
			continue
		}
		file := path.Join(path.Dir(p.source), to.Path)
		switch target := s.pages[file]; {
		case target != nil:
			to.Path = between(p.url, target.url)
		case accompanies(file):
			files = append(files, file)
			to.Path = between(p.url, strings.TrimPrefix(file, "docs/"))
		default:
			if l.set != nil {
				l.set(s.plan.Forge + file + fragment(to))
			}
			continue
		}
		if l.set != nil {
			l.set(to.String())
		}
	}
	return files
}

func fragment(to *url.URL) string {
	if to.Fragment == "" {
		return ""
	}
	return "#" + to.Fragment
}

// accompanies reports whether a file goes with the site: pictures, and the description of the HTTP API.
func accompanies(file string) bool {
	return strings.HasPrefix(file, "docs/") && (strings.HasSuffix(file, ".png") || strings.HasSuffix(file, ".svg") || strings.HasSuffix(file, ".json"))
}

// between returns the way from one page to another.
func between(from, to string) string {
	up := strings.Repeat("../", strings.Count(from, "/"))
	return up + to
}
