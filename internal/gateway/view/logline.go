// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import "time"

// LogLine is a line of the logs of several pods, or a notice about one of these logs.
type LogLine struct {
	// Pod and Container are where it comes from. Default: empty, for a notice about all of them.
	Pod       string `json:"pod,omitempty" doc:"Pod that the line is from"`
	Container string `json:"container,omitempty" doc:"Container that the line is from"`
	// Time is when the line was written. Default: nil, for a notice.
	Time *time.Time `json:"time,omitempty" doc:"When the container wrote the line"`
	// Line is the text. Default: nil, for a notice.
	Line *string `json:"line,omitempty" doc:"The text of the line. A line has either this or a notice"`
	// Cut is how many bytes of the text are missing.
	Cut int `json:"cut,omitempty" doc:"How many bytes of the line are missing, because it is longer than 64 KiB"`
	// Notice says what has happened to the log.
	Notice string `json:"notice,omitempty" doc:"What has happened to the log: it has joined, it has ended, or it cannot be read"`
}
