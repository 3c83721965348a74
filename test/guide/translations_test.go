// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestTranslationsHaveTheSameBlocks compares what readers of a translation run with what those of the original run, which TestGuides does.
func TestTranslationsHaveTheSameBlocks(t *testing.T) {
	t.Parallel()
	docs := filepath.Join("..", "..", "docs")
	translations, err := filepath.Glob(filepath.Join(docs, "zh", "guide", "*.md"))
	if err != nil || len(translations) < 2 {
		t.Fatalf("only these translations: %v, %v", translations, err)
	}
	for _, path := range translations {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			translation, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			original, err := Read(strings.Replace(path, filepath.Join(docs, "zh"), docs, 1))
			if err != nil {
				t.Fatal(err)
			}
			if len(original.Blocks) == 0 {
				t.Error("the original has no block")
			}
			if diff := cmp.Diff(original.Blocks, translation.Blocks, cmpopts.IgnoreFields(Block{}, "Line")); diff != "" {
				t.Errorf("the blocks of the translation are not those of the original (-want +got):\n%s", diff)
			}
		})
	}
}
