// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import "time"

// Runs are the runs of a tool for a cluster that are known, the newest first.
type Runs struct {
	Items []Run `json:"items" nullable:"false" doc:"The runs, the newest first"`
}

// Run is one run of a tool for a cluster.
type Run struct {
	ID        string     `json:"id" doc:"Names the run among those of the cluster"`
	Action    string     `json:"action" enum:"Up,Remove" doc:"What the run was for"`
	Phase     string     `json:"phase" enum:"Running,Succeeded,Failed,Interrupted" doc:"How it stands, or how it ended"`
	StartTime *time.Time `json:"startTime,omitempty" doc:"When it started"`
	EndTime   *time.Time `json:"endTime,omitempty" doc:"When it ended, if that is known"`
	ExitCode  *int32     `json:"exitCode,omitempty" doc:"The exit code of the tool, unless a signal killed it"`
	Reason    string     `json:"reason,omitempty" doc:"The kind of failure"`
}
