// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// shrink writes the pictures of a folder anew with 256 colours, which is all that a page of text and lines needs: a third of the size.
func shrink(t *testing.T, folder string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.png"))
	must(t, err)
	for _, name := range names {
		file, err := os.Open(name)
		must(t, err)
		picture, err := png.Decode(file)
		must(t, err)
		must(t, file.Close())
		file, err = os.Create(name)
		must(t, err)
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		must(t, encoder.Encode(file, paletted(picture)))
		must(t, file.Close())
	}
}

// renew replaces the pictures of a folder that no longer look like those of the album: a repository keeps every picture that it ever had.
func renew(t *testing.T, album, folder string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(album, "*.png"))
	must(t, err)
	for _, name := range names {
		kept := filepath.Join(folder, filepath.Base(name))
		if _, err := os.Stat(kept); err == nil && differs(greys(read(t, kept)), greys(read(t, name))) == "" {
			t.Logf("%s looks as it did", kept)
			continue
		}
		raw, err := os.ReadFile(name)
		must(t, err)
		must(t, os.WriteFile(kept, raw, 0o600))
		t.Logf("%s is replaced", kept)
	}
}

// paletted draws a picture with the colours that it has most of. Text has thousands of greys at its edges, which few pixels have each.
func paletted(picture image.Image) *image.Paletted {
	bounds := picture.Bounds()
	counts := map[color.RGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[coarse(picture.At(x, y))]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, each := range colours[:min(len(colours), 256)] {
		palette = append(palette, each)
	}
	out := image.NewPaletted(bounds, palette)
	nearest := map[color.RGBA]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			colour := coarse(picture.At(x, y))
			index, known := nearest[colour]
			if !known {
				index = uint8(palette.Index(colour))
				nearest[colour] = index
			}
			out.SetColorIndex(x, y, index)
		}
	}
	return out
}

// coarse puts greys together that nobody can tell apart, and leaves what is nearly white or black as it is: grounds differ by little.
func coarse(of color.Color) color.RGBA {
	r, g, b, _ := of.RGBA()
	step := func(value uint32) uint8 {
		full := uint8(value >> 8)
		if full < 0x38 || full >= 0xe0 {
			return full
		}
		return full &^ 7
	}
	return color.RGBA{R: step(r), G: step(g), B: step(b), A: 0xff}
}
