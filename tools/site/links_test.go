// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLinks follows every link of every page of the repository, on the site or not. Nothing is dialled.
func TestLinks(t *testing.T) {
	t.Parallel()
	all, err := find(root)
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, d := range all.documents {
		links += len(d.links)
	}
	if links < 300 { // else they are not found any more
		t.Errorf("there are only %d links", links)
	}
	if err := all.check(); err != nil {
		t.Errorf("links lead nowhere:\n%v", err)
	}
}

func TestCheckFindsLinksThatLeadNowhere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ link, want string }{
		"a page":                               {"[a](b.md)", ""},
		"an anchor of another page":            {"[a](b.md#two-words)", ""},
		"an anchor with a number":              {"[a](b.md#two-words-1)", ""},
		"an anchor of this page":               {"[a](#here)", ""},
		"a file that is no page":               {"[a](../Makefile)", ""},
		"a folder":                             {"[a](../docs)", ""},
		"another host":                         {"[a](https://example.com/x#y)", ""},
		"a page that does not exist":           {"[a](c.md)", `docs/a.md:3: "c.md" does not exist`},
		"an anchor that does not exist":        {"[a](b.md#three)", `docs/a.md:3: "b.md#three" leads to an anchor that docs/b.md does not have`},
		"an anchor of this page, which is not": {"[a](#there)", `docs/a.md:3: "#there" leads to an anchor that docs/a.md does not have`},
		"an anchor of a file that is no page":  {"[a](../Makefile#x)", `docs/a.md:3: "../Makefile#x" has an anchor, and Makefile is not a page`},
		"a picture that does not exist":        {"![a](a.png)", `docs/a.md:3: "a.png" does not exist`},
		"a picture in HTML":                    {`<img src="a.png" alt="">`, `docs/a.md:3: "a.png" does not exist`},
		"a host without a name":                {"[a](https:///x)", `docs/a.md:3: "https:///x" is not a link`},
		"a path from the root of a host":       {"[a](/docs/b.md)", `docs/a.md:3: "/docs/b.md" begins at the root of a host: use a path from this file`},
		"a path out of the repository":         {"[a](../../b.md)", `docs/a.md:3: "../../b.md" leaves the repository`},
		"a scheme that runs something":         {"[a](javascript:alert(1))", `docs/a.md:3: "javascript:alert(1)" is of a kind that nobody needs here`},
		"a link in a block of code":            {"```sh\n[a](c.md)\n```", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for file, content := range map[string]string{
				"Makefile": "", "docs/a.md": "# Here\n\n" + test.link + "\n", "docs/b.md": "# B\n\n## Two `words`\n\n## Two words\n",
			} {
				if err := save(folder, file, []byte(content)); err != nil {
					t.Fatal(err)
				}
			}
			all, err := find(folder)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := all.check(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnchorsAreThoseOfTheForge(t *testing.T) {
	t.Parallel()
	var got []string
	for _, h := range read([]byte("# Put a node into *two* pools\n## `spec.disks[]`\n## What happens when …\n## Ready, or not?\n## Ready, or not?\n## 第一个节点池\n## 什么都没有：make run\n## a_b - c\n")).headings {
		got = append(got, h.Anchor)
	}
	want := []string{"put-a-node-into-two-pools", "specdisks", "what-happens-when-", "ready-or-not", "ready-or-not-1", "第一个节点池", "什么都没有make-run", "a_b---c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPages has every text under docs on the site, and the site the same when it is built again.
func TestPages(t *testing.T) {
	t.Parallel()
	all, err := find(root)
	if err != nil {
		t.Fatal(err)
	}
	s, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	for source := range all.documents {
		if strings.HasPrefix(source, "docs/") && s.pages[source] == nil {
			t.Errorf("%s is not on the site: name it in site.yaml", source)
		}
	}
	var built [2]map[string]string
	for i := range built {
		out := filepath.Join(t.TempDir(), "site")
		if err := build(root, out); err != nil {
			t.Fatal(err)
		}
		built[i] = files(t, out)
	}
	if diff := cmp.Diff(built[0], built[1]); diff != "" {
		t.Errorf("the site is another when it is built again:\n%s", diff)
	}
	for name, content := range built[0] {
		for _, outside := range []string{`src="http`, `src="//`, `stylesheet" href="http`, " style=\"", "<script>", "@import", "url(http"} {
			if strings.HasSuffix(name, ".html") && strings.Contains(content, outside) {
				t.Errorf("%s has %s, which the policy of the page refuses", name, outside)
			}
		}
	}
}

// files returns the files of a folder.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, folder)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
