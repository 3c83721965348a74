// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// minCompressed is the size of an answer below which it fits into one packet as it is, in bytes.
const minCompressed = 1400

// coding is a content coding; empty for an answer that is sent as it is.
type coding string

// Content codings.
const (
	codingZstd coding = "zstd"
	codingGzip coding = "gzip"
)

// preferredCoding returns the coding that an Accept-Encoding prefers; zstd, which is faster, if it has no preference.
func preferredCoding(accept string) coding {
	quality := map[string]float64{}
	for element := range strings.SplitSeq(accept, ",") {
		name, weight, weighted := strings.Cut(element, ";")
		q := 1.0
		if weighted {
			parsed, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
			if err != nil {
				continue
			}
			q = parsed
		}
		quality[strings.ToLower(strings.TrimSpace(name))] = q
	}
	best, weight := coding(""), quality["identity"]
	for _, one := range []coding{codingGzip, codingZstd} {
		if q := quality[string(one)]; q > 0 && q >= weight {
			best, weight = one, q
		}
	}
	return best
}

// encoders are used again, because each has tables of some hundred kilobytes.
type encoders struct{ gzips, zstds sync.Pool }

func newEncoders() *encoders {
	out := &encoders{}
	out.gzips.New = func() any {
		made, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
		if err != nil {
			return err // only an unknown level is an error
		}
		return made
	}
	out.zstds.New = func() any {
		// A browser refuses windows of more than 8 MiB (RFC 9659), and one thread per answer keeps one caller from taking all.
		made, err := zstd.NewWriter(io.Discard, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return err // only an option that does not exist is an error
		}
		return made
	}
	return out
}

// encoder is what both codings have.
type encoder interface {
	io.WriteCloser
	Reset(to io.Writer)
}

// write writes in the coding.
func (e *encoders) write(to io.Writer, in coding, write func(io.Writer) error) error {
	pool := &e.gzips
	switch in {
	case codingZstd:
		pool = &e.zstds
	case codingGzip:
	default:
		return write(to)
	}
	out, ok := pool.Get().(encoder)
	if !ok {
		return errors.New("cannot make an encoder of " + string(in))
	}
	defer pool.Put(out)
	out.Reset(to)
	defer out.Reset(io.Discard) // so that the pool does not keep the connection
	return errors.Join(write(out), out.Close())
}
