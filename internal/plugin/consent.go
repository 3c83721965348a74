// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 256

// errDeclined ends a command whose question was answered with no.
var errDeclined = errors.New("nothing was changed: the answer was not yes")

// consent asks whether to go on. Nobody is asked in a dry run or with --yes. Where nobody can be asked, --yes is required.
func (p *plugin) consent(ctx context.Context, with *changing, question string) error {
	switch {
	case with.yes || with.dry != dryRunNone:
		return nil
	case !p.Streams.Interactive:
		return misused("this needs a consent, and standard input is no terminal where it could be asked for: look first, then give --yes")
	}
	say(p.Streams.Err, "%s [y/N] ", question)
	answers := make(chan string, 1)
	go func() { // a read from a terminal cannot be interrupted: if the caller leaves, the process ends with it
		line, _ := bufio.NewReader(io.LimitReader(p.Streams.In, maxAnswer)).ReadString('\n') // the end of the input is a no
		answers <- line
	}()
	select {
	case <-ctx.Done():
		return errDeclined
	case answer := <-answers:
		if given := strings.ToLower(strings.TrimSpace(answer)); given == "y" || given == "yes" {
			return nil
		}
		return errDeclined
	}
}
