// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestEveryReasonIsInAGuide(t *testing.T) {
	t.Parallel()
	var reasons []string
	for _, dir := range []string{"api", filepath.Join("internal", "status")} {
		reasons = append(reasons, constants(t, filepath.Join(testkit.Root(), dir))...)
	}
	if len(reasons) < 100 {
		t.Fatalf("found %d reasons only", len(reasons))
	}
	testkit.CheckDocumented(t, reasons...)
}

// constants returns the values of all constants below dir that are called Reason….
func constants(t *testing.T, dir string) []string {
	t.Helper()
	var values []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
				return true
			}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Errorf("cannot read %s in %s: %v", spec.Names[0].Name, path, err)
				}
				values = append(values, value)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}
