// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/test/console/stage"
)

// Two pictures are the same if of their blocks of block by block pixels at most one in mostOther is another one, which is one whose mean grey,
// of 255, differs by more than otherGrey.
const (
	block     = 8
	otherGrey = 16
	mostOther = 1000
)

// accepted has the pictures that were last accepted, as the greys of their blocks, and the fingerprint of what drew them.
const accepted = "testdata/pictures"

// TestPictures takes a picture of every page in both themes, and compares each with the last accepted one. "make accept-pictures" accepts what
// there is now. The pictures themselves are kept in .local/gallery.
//
//nolint:paralleltest // because others would change what is in the pictures
func TestPictures(t *testing.T) {
	chromium := stage.Browser(t)
	h := testkit.New(t)
	w := hang(t, h)
	folder := filepath.Join(testkit.Root(), ".local", "gallery")
	must(t, os.RemoveAll(folder))
	must(t, os.MkdirAll(folder, 0o750))
	folder, err := filepath.Abs(folder)
	must(t, err)
	out := stage.Visit(t, "gallery.mjs", chromium, stage.Serve(t, h), w.Namespace, folder)
	if t.Failed() {
		return
	}
	drawn := regexp.MustCompile(`(?m)^fingerprint: (\S+)$`).FindSubmatch(out)
	if drawn == nil {
		t.Fatalf("the visit does not say what drew the pictures:\n%s", out)
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.png"))
	must(t, err)
	if os.Getenv("WINDLASS_ACCEPT_PICTURES") != "" {
		accept(t, names, drawn[1])
		return
	}
	was, err := os.ReadFile(filepath.Join(accepted, "fingerprint"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("needs accepted pictures: look at .local/gallery, and then make accept-pictures")
	}
	must(t, err)
	if !bytes.Equal(bytes.TrimSpace(was), drawn[1]) {
		t.Skipf("needs the fonts and the browser of the accepted pictures: they are %s, and these are %s", bytes.TrimSpace(was), drawn[1])
	}
	compare(t, names)
}

// compare reports each picture that is not as it was accepted.
func compare(t *testing.T, names []string) {
	t.Helper()
	kept, err := filepath.Glob(filepath.Join(accepted, "*.png"))
	must(t, err)
	if len(kept) != len(names) {
		t.Errorf("there are %d pages, and %d pictures were accepted: make accept-pictures", len(names), len(kept))
	}
	for _, name := range names {
		before, err := os.Open(filepath.Join(accepted, filepath.Base(name)))
		if err != nil {
			t.Errorf("no picture of this page was accepted: %v", err)
			continue
		}
		old, err := png.Decode(before)
		must(t, err)
		must(t, before.Close())
		if difference := differs(old, greys(read(t, name))); difference != "" {
			t.Errorf("%s is not as it was accepted: %s. Look at %s, and if it is right: make accept-pictures", filepath.Base(name), difference, name)
		}
	}
}

// accept makes the pictures the accepted ones.
func accept(t *testing.T, names []string, fingerprint []byte) {
	t.Helper()
	must(t, os.RemoveAll(accepted))
	must(t, os.MkdirAll(accepted, 0o750))
	must(t, os.WriteFile(filepath.Join(accepted, "fingerprint"), append(fingerprint, '\n'), 0o600))
	for _, name := range names {
		var out bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		must(t, encoder.Encode(&out, greys(read(t, name))))
		must(t, os.WriteFile(filepath.Join(accepted, filepath.Base(name)), out.Bytes(), 0o600))
	}
}

// read reads a picture.
func read(t *testing.T, name string) image.Image {
	t.Helper()
	file, err := os.Open(name)
	must(t, err)
	picture, err := png.Decode(file)
	must(t, err)
	must(t, file.Close())
	return picture
}

// greys returns a picture with one pixel for each block, which has its mean grey in steps of eight.
func greys(of image.Image) *image.Gray {
	bounds := of.Bounds()
	out := image.NewGray(image.Rect(0, 0, (bounds.Dx()+block-1)/block, (bounds.Dy()+block-1)/block))
	for y := range out.Bounds().Dy() {
		for x := range out.Bounds().Dx() {
			sum, count := 0, 0
			inside := image.Rect(x*block, y*block, (x+1)*block, (y+1)*block).Add(bounds.Min).Intersect(bounds)
			for v := inside.Min.Y; v < inside.Max.Y; v++ {
				for u := inside.Min.X; u < inside.Max.X; u++ {
					sum += int(color.GrayModel.Convert(of.At(u, v)).(color.Gray).Y) //nolint:forcetypeassert // because this model has no other colour
					count++
				}
			}
			out.SetGray(x, y, color.Gray{Y: uint8(sum/count) &^ 7})
		}
	}
	return out
}

// differs returns in which way a picture is another one, or nothing.
func differs(old image.Image, now *image.Gray) string {
	if old.Bounds() != now.Bounds() {
		return fmt.Sprintf("it has %v blocks and had %v", now.Bounds().Size(), old.Bounds().Size())
	}
	var where []string
	for y := range now.Bounds().Dy() {
		for x := range now.Bounds().Dx() {
			was := int(color.GrayModel.Convert(old.At(x, y)).(color.Gray).Y) //nolint:forcetypeassert // because this model has no other colour
			if gap := was - int(now.GrayAt(x, y).Y); gap > otherGrey || gap < -otherGrey {
				where = append(where, fmt.Sprintf("%d,%d", x*block, y*block))
			}
		}
	}
	all := now.Bounds().Dx() * now.Bounds().Dy()
	if len(where)*mostOther <= all {
		return ""
	}
	return fmt.Sprintf("%d of %d blocks differ, the first at %s", len(where), all, strings.Join(where[:min(len(where), 3)], " and "))
}

// TestDiffers holds the comparison of pictures to its tolerance.
func TestDiffers(t *testing.T) {
	t.Parallel()
	page := func(change func(*image.Gray)) *image.Gray {
		out := image.NewGray(image.Rect(0, 0, 1440, 900))
		for i := range out.Pix {
			out.Pix[i] = 0xf0
		}
		change(out)
		return greys(out)
	}
	fill := func(r image.Rectangle, grey uint8) func(*image.Gray) {
		return func(of *image.Gray) {
			for y := r.Min.Y; y < r.Max.Y; y++ {
				for x := r.Min.X; x < r.Max.X; x++ {
					of.SetGray(x, y, color.Gray{Y: grey})
				}
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*image.Gray)
		other  bool
	}{
		"the same page":                            {func(*image.Gray) {}, false},
		"a word is drawn a little otherwise":       {fill(image.Rect(100, 100, 160, 113), 0xe8), false},
		"a short word is another one":              {fill(image.Rect(100, 100, 140, 113), 0x80), false},
		"a long word is another one":               {fill(image.Rect(100, 100, 180, 113), 0x80), true},
		"a button is gone":                         {fill(image.Rect(96, 96, 240, 128), 0x40), true},
		"a panel is gone":                          {fill(image.Rect(400, 300, 900, 500), 0xc0), true},
		"a panel has a tint that nobody would see": {fill(image.Rect(400, 300, 900, 500), 0xea), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := differs(page(func(*image.Gray) {}), page(c.change)); (got != "") != c.other {
				t.Errorf("it says %q", got)
			}
		})
	}
}
