// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// codeRenderer colours fenced blocks with classes: a style in an element would need a weaker content security policy.
type codeRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (r *codeRenderer) RegisterFuncs(to renderer.NodeRendererFuncRegisterer) {
	to.Register(ast.KindFencedCodeBlock, r.render)
}

func (*codeRenderer) render(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block, ok := n.(*ast.FencedCodeBlock)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	language := string(block.Language(source))
	lexer := chroma.Coalesce(cmp.Or(lexers.Get(language), lexers.Fallback))
	tokens, err := lexer.Tokenise(nil, string(block.Lines().Value(source)))
	if err != nil {
		return ast.WalkStop, fmt.Errorf("cannot read a block of %s: %w", language, err)
	}
	if _, err := fmt.Fprintf(w, "<div class=\"code\" data-language=\"%s\">", template.HTMLEscapeString(language)); err != nil {
		return ast.WalkStop, err
	}
	if err := formatter().Format(w, styles.Fallback, tokens); err != nil {
		return ast.WalkStop, fmt.Errorf("cannot colour a block of %s: %w", language, err)
	}
	_, err = w.WriteString("</div>\n")
	return ast.WalkSkipChildren, err
}

func formatter() *chromahtml.Formatter {
	return chromahtml.New(chromahtml.WithClasses(true), chromahtml.TabWidth(4))
}

// colours returns the style sheet for code, light and dark.
func colours() ([]byte, error) {
	var out bytes.Buffer
	for _, scheme := range []struct{ name, style string }{{"light", "github"}, {"dark", "github-dark"}} {
		fmt.Fprintf(&out, "@media (prefers-color-scheme: %s) {\n", scheme.name)
		if err := formatter().WriteCSS(&out, styles.Get(scheme.style)); err != nil {
			return nil, fmt.Errorf("cannot write the colours of code: %w", err)
		}
		out.WriteString("}\n")
	}
	return out.Bytes(), nil
}
