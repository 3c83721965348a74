// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/diskfs/go-diskfs/backend/file"
	"github.com/diskfs/go-diskfs/filesystem/fat12"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/machine"
)

// seedLabel is the label of the file system that cloud-init looks for.
const seedLabel = "CIDATA"

// The size of a seed, and how much content fits. The API allows far less.
const (
	seedSize = 2 << 20
	maxSeed  = seedSize - 64<<10
)

// seedImage returns the NoCloud seed of a machine: a small FAT file system, made in memory because it may hold secrets.
func seedImage(spec machine.Spec) ([]byte, error) {
	config := spec.CloudInit
	if len(config.UserData)+len(config.NetworkData) > maxSeed {
		return nil, fmt.Errorf("%w: its cloud-init data has more than %d bytes", machine.ErrInvalid, maxSeed)
	}
	meta, err := metaData(spec)
	if err != nil {
		return nil, err
	}
	files := map[string]string{"meta-data": meta, "user-data": config.UserData}
	if config.NetworkData != "" {
		files["network-config"] = config.NetworkData
	}
	memory := newMemoryFile(seedSize)
	volume, err := fat12.Create(file.New(memory, false), seedSize, 0, 0, seedLabel, true)
	if err != nil {
		return nil, fmt.Errorf("cannot make a seed: %w", err)
	}
	for name, content := range files {
		if err := writeSeed(volume, name, content); err != nil {
			return nil, err
		}
	}
	return memory.content, nil
}

// writeSeed writes one file. Its errors never contain the content.
func writeSeed(volume *fat12.FileSystem, name, content string) error {
	out, err := volume.OpenFile("/"+name, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return fmt.Errorf("cannot make %s of a seed: %w", name, err)
	}
	if _, err := io.WriteString(out, content); err != nil {
		return fmt.Errorf("cannot write %s of a seed: %w", name, err)
	}
	return out.Close()
}

// metaData returns the meta data of the guest. cloud-init detects the first boot by the instance ID.
func metaData(spec machine.Spec) (string, error) {
	text, err := yaml.Marshal(map[string]string{"instance-id": spec.UID, "local-hostname": spec.Name})
	if err != nil {
		return "", fmt.Errorf("cannot write meta data: %w", err)
	}
	return string(text), nil
}

// memoryFile is a file of a fixed size in memory.
type memoryFile struct {
	content []byte
	offset  int64
}

func newMemoryFile(size int) *memoryFile { return &memoryFile{content: make([]byte, size)} }

// ReadAt implements io.ReaderAt.
func (m *memoryFile) ReadAt(b []byte, offset int64) (int, error) {
	return bytes.NewReader(m.content).ReadAt(b, offset)
}

// WriteAt implements io.WriterAt.
func (m *memoryFile) WriteAt(b []byte, offset int64) (int, error) {
	if offset < 0 || offset+int64(len(b)) > int64(len(m.content)) {
		return 0, io.ErrShortWrite
	}
	return copy(m.content[offset:], b), nil
}

// Read implements io.Reader.
func (m *memoryFile) Read(b []byte) (int, error) {
	n, err := m.ReadAt(b, m.offset)
	m.offset += int64(n)
	return n, err
}

// Seek implements io.Seeker.
func (m *memoryFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += m.offset
	case io.SeekEnd:
		offset += int64(len(m.content))
	default:
	}
	if offset < 0 {
		return 0, errors.New("cannot seek before the beginning")
	}
	m.offset = offset
	return offset, nil
}

// Close implements io.Closer.
func (m *memoryFile) Close() error { return nil }

// Stat implements fs.File.
func (m *memoryFile) Stat() (fs.FileInfo, error) { return memoryInfo(len(m.content)), nil }

// memoryInfo is the size of a memoryFile.
type memoryInfo int64

// Name implements fs.FileInfo.
func (memoryInfo) Name() string { return "seed" }

// Size implements fs.FileInfo.
func (i memoryInfo) Size() int64 { return int64(i) }

// Mode implements fs.FileInfo.
func (memoryInfo) Mode() fs.FileMode { return 0o600 }

// ModTime implements fs.FileInfo.
func (memoryInfo) ModTime() time.Time { return time.Time{} }

// IsDir implements fs.FileInfo.
func (memoryInfo) IsDir() bool { return false }

// Sys implements fs.FileInfo.
func (memoryInfo) Sys() any { return nil }
