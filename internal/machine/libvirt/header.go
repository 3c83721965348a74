// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// maxHeader is how much of an image is read to find out what it is.
const maxHeader = 64 << 10

// The offsets of the fields of a qcow2 header, and its minimal lengths.
const (
	qcow2Version     = 4
	qcow2Backing     = 8
	qcow2BackingSize = 16
	qcow2Encryption  = 32
	qcow2Features    = 72
	qcow2Length      = 100
	qcow2V2Header    = 72
	qcow2V3Header    = 104
)

// Bits of the incompatible features of a qcow2 image.
const (
	qcow2DataFile      = 1 << 2
	qcow2KnownFeatures = 1<<5 - 1
)

// The extensions of a header. Each begins with its type and its length, and is filled up to eight bytes.
const (
	extensionEnd      = 0
	extensionDataFile = 0x44415441
	extensionCrypto   = 0x0537BE77
)

// errBacking refuses an image that is not whole by itself.
var errBacking = fmt.Errorf("%w: it refers to another file as its backing file: convert it to a standalone image", machine.ErrInvalid)

// formatOf returns whether an image is raw or qcow2. It refuses images that refer to other files, are encrypted, or have another format, which could
// contain such references.
func formatOf(head []byte) (string, error) {
	for _, other := range otherFormats() {
		if len(head) >= other.at && bytes.HasPrefix(head[other.at:], []byte(other.text)) {
			return "", fmt.Errorf("%w: it has the format %s, and must be raw or qcow2", machine.ErrInvalid, other.format)
		}
	}
	if !bytes.HasPrefix(head, []byte("QFI\xfb")) {
		return formatRaw, nil
	}
	return formatQCOW2, checkQCOW2(head)
}

// magic is a text by which the images of a format are recognized.
type magic struct {
	format string
	at     int
	text   string
}

// otherFormats returns the formats that QEMU recognizes and that are refused.
func otherFormats() []magic {
	return []magic{
		{"qcow", 0, "QFI\xfb\x00\x00\x00\x01"},
		{"QED", 0, "QED\x00"},
		{"VMDK", 0, "KDMV"},
		{"VMDK", 0, "COWD"},
		{"VMDK", 0, "# Disk DescriptorFile"},
		{"VHD", 0, "conectix"},
		{"VHDX", 0, "vhdxfile"},
		{"VDI", 64, "\x7f\x10\xda\xbe"},
		{"LUKS", 0, "LUKS\xba\xbe"},
		{"Parallels", 0, "WithoutFreeSpace"},
		{"Parallels", 0, "WithouFreSpacExt"},
		{"Bochs", 0, "Bochs Virtual HD Image"},
		{"cloop", 0, "#!/bin/sh\n#V2.0 Format\n"},
	}
}

// checkQCOW2 checks the header of a qcow2 image.
func checkQCOW2(head []byte) error {
	broken := fmt.Errorf("%w: its qcow2 header is broken", machine.ErrInvalid)
	if len(head) < qcow2V2Header {
		return broken
	}
	number := binary.BigEndian
	length, features := uint32(qcow2V2Header), uint64(0)
	switch number.Uint32(head[qcow2Version:]) {
	case 2:
	case 3:
		if len(head) < qcow2V3Header {
			return broken
		}
		length, features = number.Uint32(head[qcow2Length:]), number.Uint64(head[qcow2Features:])
		if length < qcow2V3Header {
			return broken
		}
	default:
		return broken
	}
	switch {
	case number.Uint64(head[qcow2Backing:]) != 0 || number.Uint32(head[qcow2BackingSize:]) != 0:
		return errBacking
	case features&qcow2DataFile != 0:
		return fmt.Errorf("%w: it keeps its data in another file: convert it to a standalone image", machine.ErrInvalid)
	case features&^qcow2KnownFeatures != 0:
		return fmt.Errorf("%w: it uses unknown qcow2 features", machine.ErrInvalid)
	case number.Uint32(head[qcow2Encryption:]) != 0:
		return fmt.Errorf("%w: it is encrypted", machine.ErrInvalid)
	}
	return checkExtensions(head, length)
}

// checkExtensions checks what follows the header, which has to end within what was read.
func checkExtensions(head []byte, from uint32) error {
	for rest := uint64(from); rest+8 <= uint64(len(head)); {
		kind, length := binary.BigEndian.Uint32(head[rest:]), uint64(binary.BigEndian.Uint32(head[rest+4:]))
		switch kind {
		case extensionEnd:
			return nil
		case extensionDataFile:
			return fmt.Errorf("%w: it keeps its data in another file: convert it to a standalone image", machine.ErrInvalid)
		case extensionCrypto:
			return fmt.Errorf("%w: it is encrypted", machine.ErrInvalid)
		}
		rest += 8 + (length+7)&^7
	}
	return fmt.Errorf("%w: its qcow2 header does not end", machine.ErrInvalid)
}
