// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// plan is site.yaml.
type plan struct {
	// Forge is where files are that are not part of the site, and ends with a slash.
	Forge     string     `json:"forge"`
	Languages []language `json:"languages"`
}

// language is what the site has in one language.
type language struct {
	// Code is the language of the pages, as HTML writes it.
	Code string `json:"code"`
	// Name is what the language calls itself.
	Name string `json:"name"`
	// Home is the first page.
	Home     string            `json:"home"`
	Words    map[string]string `json:"words"`
	Sections []section         `json:"sections"`
}

// section is a part of the navigation.
type section struct {
	Title string `json:"title"`
	// Weight is how much a find on these pages counts in the search, 1 if it is left out.
	Weight string `json:"weight"`
	// Pages are files, seen from the top folder. A pattern stands for the files that no section names.
	Pages []string `json:"pages"`

	pages []*page
}

// page is a file in Markdown, and the page that becomes of it.
type page struct {
	// source is the file, and url the page, both with slashes and seen from the top.
	source, url string
	language    *language
	document    *document
}

// site is everything that is published.
type site struct {
	root  string
	plan  plan
	pages map[string]*page
}

// load reads site.yaml and every page that it names.
func load(root string) (*site, error) {
	raw, err := os.ReadFile(filepath.Join(root, "tools", "site", "site.yaml")) //nolint:gosec // a file of the repository
	if err != nil {
		return nil, fmt.Errorf("cannot read what the site consists of: %w", err)
	}
	s := &site{root: root, pages: map[string]*page{}}
	if err := yaml.UnmarshalStrict(raw, &s.plan); err != nil {
		return nil, fmt.Errorf("cannot read site.yaml: %w", err)
	}
	named := map[string]bool{}
	for _, l := range s.plan.Languages {
		named[l.Home] = true
		for _, part := range l.Sections {
			for _, name := range part.Pages {
				named[name] = true
			}
		}
	}
	for i := range s.plan.Languages {
		l := &s.plan.Languages[i]
		if _, err := s.add(l, l.Home); err != nil {
			return nil, err
		}
		for j := range l.Sections {
			if err := s.fill(l, &l.Sections[j], named); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// fill reads the pages of a section.
func (s *site) fill(l *language, part *section, named map[string]bool) error {
	for _, pattern := range part.Pages {
		names, err := s.match(pattern, named)
		if err != nil {
			return err
		}
		for _, name := range names {
			p, err := s.add(l, name)
			if err != nil {
				return err
			}
			part.pages = append(part.pages, p)
		}
	}
	return nil
}

// match returns the files that a pattern stands for, or the one file that it names.
func (s *site) match(pattern string, named map[string]bool) ([]string, error) {
	if !strings.Contains(pattern, "*") {
		return []string{pattern}, nil
	}
	found, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(pattern)))
	if err != nil {
		return nil, fmt.Errorf("cannot find %s: %w", pattern, err)
	}
	var names []string
	for _, file := range found {
		below, err := filepath.Rel(s.root, file)
		if err != nil {
			return nil, fmt.Errorf("cannot tell where %s is: %w", file, err)
		}
		if below = filepath.ToSlash(below); !named[below] {
			names = append(names, below)
		}
	}
	return names, nil
}

// add reads a page.
func (s *site) add(l *language, source string) (*page, error) {
	if s.pages[source] != nil {
		return nil, fmt.Errorf("site.yaml names %s twice", source)
	}
	raw, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(source)))
	if err != nil {
		return nil, fmt.Errorf("cannot read a page of the site: %w", err)
	}
	p := &page{source: source, url: address(source), language: l, document: read(raw)}
	if p.document.title == "" {
		return nil, fmt.Errorf("%s does not begin with a heading", source)
	}
	s.pages[source] = p
	return p, nil
}

// address returns the page that a file becomes: docs/guide/x.md is guide/x.html, docs/zh/README.md is zh/index.html, and ARCHITECTURE.md,
// which is not under docs, is project/architecture.html.
func address(source string) string {
	below, found := strings.CutPrefix(source, "docs/")
	if !found {
		below = "project/" + strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(below, "/README.md"), "/", "-"))
	}
	if path.Base(below) == "README.md" {
		return path.Join(path.Dir(below), "index.html")
	}
	return strings.TrimSuffix(below, ".md") + ".html"
}

// sorted returns the pages by file.
func (s *site) sorted() []*page {
	var all []*page
	for _, p := range s.pages {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *page) int { return strings.Compare(a.source, b.source) })
	return all
}

// between returns the pages before and after one, in the order of the navigation.
func (s *site) between(p *page) (before, after *page) {
	all := []*page{s.pages[p.language.Home]}
	for _, part := range p.language.Sections {
		all = append(all, part.pages...)
	}
	at := slices.Index(all, p)
	if at > 0 {
		before = all[at-1]
	}
	if at+1 < len(all) {
		after = all[at+1]
	}
	return before, after
}

// twin returns the same page in another language, or its first page.
func (s *site) twin(p *page, other *language) *page {
	below := func(l *language) string { return path.Dir(l.Home) }
	name := strings.TrimPrefix(p.source, below(p.language)+"/")
	if twin := s.pages[below(other)+"/"+name]; twin != nil && twin.language == other {
		return twin
	}
	return s.pages[other.Home]
}
