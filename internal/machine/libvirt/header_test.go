// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// qcow2Header returns the beginning of a standalone image, and edit may change it.
func qcow2Header(edit func(head []byte)) []byte {
	head := make([]byte, 512)
	copy(head, "QFI\xfb")
	binary.BigEndian.PutUint32(head[4:], 3)
	binary.BigEndian.PutUint32(head[100:], 104)
	edit(head)
	return head
}

func TestFormatOfAnImage(t *testing.T) {
	t.Parallel()
	put32, put64 := binary.BigEndian.PutUint32, binary.BigEndian.PutUint64
	for name, test := range map[string]struct {
		head []byte
		want string
		err  error
	}{
		"nothing is raw":            {want: "raw"},
		"a boot sector is raw":      {head: []byte("\xeb\x63\x90"), want: "raw"},
		"half of a magic is raw":    {head: []byte("QFI"), want: "raw"},
		"a standalone image":        {head: qcow2Header(func([]byte) {}), want: "qcow2"},
		"a standalone old image":    {head: qcow2Header(func(h []byte) { put32(h[4:], 2) }), want: "qcow2"},
		"a magic alone":             {head: []byte("QFI\xfb"), err: machine.ErrInvalid},
		"a header that ends early":  {head: qcow2Header(func([]byte) {})[:90], err: machine.ErrInvalid},
		"an unknown version":        {head: qcow2Header(func(h []byte) { put32(h[4:], 4) }), err: machine.ErrInvalid},
		"a backing file":            {head: qcow2Header(func(h []byte) { put64(h[8:], 200) }), err: machine.ErrInvalid},
		"the length of one":         {head: qcow2Header(func(h []byte) { put32(h[16:], 5) }), err: machine.ErrInvalid},
		"encryption":                {head: qcow2Header(func(h []byte) { put32(h[32:], 2) }), err: machine.ErrInvalid},
		"an external data file":     {head: qcow2Header(func(h []byte) { put64(h[72:], 4) }), err: machine.ErrInvalid},
		"an unknown feature":        {head: qcow2Header(func(h []byte) { put64(h[72:], 32) }), err: machine.ErrInvalid},
		"the name of a data file":   {head: qcow2Header(func(h []byte) { put32(h[104:], 0x44415441) }), err: machine.ErrInvalid},
		"a header of no length":     {head: qcow2Header(func(h []byte) { put32(h[100:], 0) }), err: machine.ErrInvalid},
		"extensions without an end": {head: qcow2Header(func(h []byte) { put32(h[104:], 1); put32(h[108:], 1<<31) }), err: machine.ErrInvalid},
		"a data file after an extension": {head: qcow2Header(func(h []byte) {
			put32(h[104:], 0x6803f857)
			put32(h[108:], 5)
			put32(h[120:], 0x44415441)
		}), err: machine.ErrInvalid},
		"qcow, the first":   {head: []byte("QFI\xfb\x00\x00\x00\x01"), err: machine.ErrInvalid},
		"VMDK, in words":    {head: []byte("# Disk DescriptorFile\n"), err: machine.ErrInvalid},
		"VDI":               {head: append(make([]byte, 64), "\x7f\x10\xda\xbe"...), err: machine.ErrInvalid},
		"an encrypted disk": {head: []byte("LUKS\xba\xbe\x00\x02"), err: machine.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := formatOf(test.head)
			if !errors.Is(err, test.err) || err == nil && got != test.want {
				t.Errorf("got %q, %v, want %q, %v", got, err, test.want, test.err)
			}
		})
	}
}

// FuzzFormatOf: whatever somebody puts into an image, its header is read without harm, and references are never accepted.
func FuzzFormatOf(f *testing.F) {
	f.Add([]byte{})
	f.Add(qcow2Header(func([]byte) {}))
	f.Add(qcow2Header(func(h []byte) { h[15] = 1 }))
	f.Fuzz(func(t *testing.T, head []byte) {
		format, err := formatOf(head)
		if err == nil && format == formatQCOW2 && binary.BigEndian.Uint64(head[8:]) != 0 {
			t.Error("an image with a backing file was accepted")
		}
	})
}
