// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
)

//go:embed assets
var assets embed.FS

// view is what the template of a page knows.
type view struct {
	site *site
	page *page

	Title   string
	Body    template.HTML
	Policy  string
	Before  *step
	After   *step
	Inside  []heading
	Current *section
}

// step is a way to another page.
type step struct{ Title, URL string }

// policy lets a page load what comes with it, and nothing else. The search is WebAssembly.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"worker-src 'self'; base-uri 'none'; form-action 'none'"

// write writes the site into a folder.
func (s *site) write(out string) error {
	layout, err := template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return fmt.Errorf("cannot read the template of pages: %w", err)
	}
	for _, p := range s.sorted() {
		for _, file := range s.lead(p) {
			if err := s.copy(file, out); err != nil {
				return err
			}
		}
	}
	for _, p := range s.sorted() {
		v, err := s.view(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
		var page bytes.Buffer
		if err := layout.Execute(&page, v); err != nil {
			return fmt.Errorf("cannot write %s: %w", p.url, err)
		}
		if err := save(out, p.url, page.Bytes()); err != nil {
			return err
		}
	}
	return style(out)
}

// style writes what all pages share.
func style(out string) error {
	for _, name := range []string{"site.css", "search.js"} {
		raw, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", name, err)
		}
		if err := save(out, name, raw); err != nil {
			return err
		}
	}
	code, err := colours()
	if err != nil {
		return err
	}
	return save(out, "code.css", code)
}

// copy copies a file under docs.
func (s *site) copy(file, out string) error {
	raw, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(file)))
	if err != nil {
		return fmt.Errorf("cannot copy a file: %w", err)
	}
	return save(out, strings.TrimPrefix(file, "docs/"), raw)
}

func save(out, name string, content []byte) error {
	file := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a site is for everybody
		return fmt.Errorf("cannot make a folder of the site: %w", err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil { //nolint:gosec // a site is for everybody
		return fmt.Errorf("cannot write the site: %w", err)
	}
	return nil
}

func (s *site) view(p *page) (*view, error) {
	body, err := p.document.html()
	if err != nil {
		return nil, err
	}
	v := &view{site: s, page: p, Title: p.document.title, Body: template.HTML(body), Policy: policy} //nolint:gosec // pages of the repository
	before, after := s.between(p)
	v.Before, v.After = v.step(before), v.step(after)
	for _, h := range p.document.headings {
		if h.Level == 2 || h.Level == 3 {
			v.Inside = append(v.Inside, h)
		}
	}
	for i := range p.language.Sections {
		for _, other := range p.language.Sections[i].pages {
			if other == p {
				v.Current = &p.language.Sections[i]
			}
		}
	}
	return v, nil
}

func (v *view) step(to *page) *step {
	if to == nil {
		return nil
	}
	return &step{Title: to.document.title, URL: between(v.page.url, to.url)}
}

// To returns the way to a file of the site.
func (v *view) To(file string) string { return between(v.page.url, file) }

// Home returns the way to the first page.
func (v *view) Home() string { return v.To(v.site.pages[v.page.language.Home].url) }

// Language returns the code of the page's language.
func (v *view) Language() string { return v.page.language.Code }

// Word returns a word of the page around the text.
func (v *view) Word(name string) (string, error) {
	word := v.page.language.Words[name]
	if word == "" {
		return "", fmt.Errorf("site.yaml has no word for %q in %s", name, v.Language())
	}
	return word, nil
}

// Weight returns how much a find on the page counts.
func (v *view) Weight() string {
	if v.Current == nil {
		return "1"
	}
	return cmp.Or(v.Current.Weight, "1")
}

// Source returns where the text can be changed.
func (v *view) Source() string { return v.site.plan.Forge + v.page.source }

// Other is a language with the way to the same page in it.
type Other struct{ Code, Name, URL string }

// Others returns the other languages.
func (v *view) Others() []Other {
	var all []Other
	for i := range v.site.plan.Languages {
		if l := &v.site.plan.Languages[i]; l != v.page.language {
			all = append(all, Other{l.Code, l.Name, v.To(v.site.twin(v.page, l).url)})
		}
	}
	return all
}

// Chapter is a section of the navigation.
type Chapter struct {
	Title string
	Open  bool
	Pages []Entry
}

// Entry is a page in the navigation.
type Entry struct {
	step

	Current bool
}

// Chapters returns the navigation.
func (v *view) Chapters() []Chapter {
	var all []Chapter
	for i := range v.page.language.Sections {
		part := &v.page.language.Sections[i]
		chapter := Chapter{Title: part.Title, Open: part == v.Current || v.Current == nil && i == 0}
		for _, p := range part.pages {
			chapter.Pages = append(chapter.Pages, Entry{*v.step(p), p == v.page})
		}
		all = append(all, chapter)
	}
	return all
}
