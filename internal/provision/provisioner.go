// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"context"
	"time"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
)

// Provisioner runs tools that provision clusters.
type Provisioner interface { //nolint:interfacebloat // the one caller starts, follows, stops, reads and forgets runs, and needs all of it
	// Start starts a run and returns at once. A run with the ID of the request that is under way or has ended is left as it is. It
	// returns ErrBusy if another run of the cluster, or of another one with the same file, is under way, ErrLimit if the maximum number of
	// runs is, ErrToolMissing, ErrPathRefused if the configuration is not where it may be, and ErrDiskFull. Unless the disk is full,
	// Request.Before was not called then.
	Start(ctx context.Context, request Request) error

	// Observe returns the cluster's run that is under way, or the last one. It returns ErrNoRun if there is none.
	Observe(ctx context.Context, cluster string) (Run, error)

	// Cancel stops the cluster's run, with the grace period for the tool. It does not wait. It succeeds if no run is under way.
	Cancel(ctx context.Context, cluster string) error

	// Collect reads what the tool left behind: its state and the kubeconfig. What does not exist is nil.
	Collect(ctx context.Context, place Place, tool Tool) (Artifacts, error)

	// Forget removes everything that is kept for the cluster. It returns ErrBusy if a run is under way. Files beside a user's own
	// configuration stay.
	Forget(ctx context.Context, cluster string) error

	// Version returns the version that the tool reports, in one line. It returns ErrToolMissing if it is not installed.
	Version(ctx context.Context, tool Tool) (string, error)

	// Changed sends the cluster of a run that has made progress or has ended, and a cluster whose Start returned ErrLimit when there is a
	// slot for it. A slow reader misses repetitions, but no run.
	Changed() <-chan string
}

// Action is what a run is for.
type Action string

// The actions.
const (
	Up     Action = "Up"
	Remove Action = "Remove"
)

// Place is where a cluster's configuration is.
type Place struct {
	// Cluster is the UID of the cluster, and the name of its directory.
	Cluster string
	// Name of the cluster, for people and for tools.
	Name string
	// ConfigPath is the path of the user's own file, which the tool is given as it is. If it is empty, the configuration is in the
	// working directory.
	ConfigPath string
}

// Request asks for a run.
type Request struct {
	Place

	// ID identifies the run, also after a restart.
	ID     string
	Action Action
	Tool   Tool
	// Config is the configuration. It is written to the working directory if ConfigPath is empty, and to ConfigPath if that file is
	// gone or, for a removal, holds another configuration.
	Config []byte
	// State is restored where the tool looks for it, unless it is still there.
	State map[string][]byte
	// Since is when the last run began if that was another manager's, and what is kept here is from before, or no run is; zero otherwise. Then no run of this
	// ID from before counts.
	Since time.Time `json:"-"`
	// StateFrom is when the run began that left State. It is zero if that was here, or is not known. A working directory from before and a state beside a user's
	// file from before do not count; what is newer does, also if it is older than Since: the runs since then may have left nothing.
	StateFrom time.Time `json:"-"`
	// PrivateKey is an SSH key that the tool gets through an agent. It is kept in memory only.
	PrivateKey []byte
	// KnownHosts are the host keys of the machines.
	KnownHosts []byte
	// Secrets are redacted in everything that the tool prints.
	Secrets []string
	// Timeout limits the run. Grace is how long a tool that is stopped has to end by itself.
	Timeout, Grace time.Duration
	// Before is called when nothing stands in the way of the run any more, and before the tool is started; nil for nothing. If it fails, the run
	// does not start, and Start returns its error.
	Before func(ctx context.Context) error `json:"-"`
}

// CallBefore calls Before, if there is one.
func (r Request) CallBefore(ctx context.Context) error {
	if r.Before == nil {
		return nil
	}
	return r.Before(ctx)
}

// Phase of a run.
type Phase string

// The phases of a run.
const (
	Running     Phase = "Running"
	Succeeded   Phase = "Succeeded"
	Failed      Phase = "Failed"
	Interrupted Phase = "Interrupted"
)

// Run is one call of a tool.
type Run struct {
	ID     string
	Action Action
	Phase  Phase
	// Stage is what the tool reports that it is doing, or did last.
	Stage string
	// StartedAt and EndedAt are when it started and ended; EndedAt is zero while it is under way, and if its end is unknown.
	StartedAt, EndedAt time.Time
	// ExitCode is nil while it is under way, and if a signal killed the tool.
	ExitCode *int32
	// Failure is what went wrong; nil if nothing did.
	Failure *Failure
	// Skipped are the machines that the tool continued without, sorted.
	Skipped []string
	// Log is the end of what the tool printed, redacted, at most MaxLog bytes.
	Log string
}

// Predates reports whether a run that has ended is from before the last one of its cluster, which the status tells of: another manager has had
// that. Runs of the same name are told apart by when they began, which is known once the last one is recorded.
func (r *Run) Predates(last *clusterprovisionerv1alpha1.Operation) bool {
	if r.Phase == Running || r.StartedAt.IsZero() || last == nil || last.StartTime == nil {
		return false
	}
	return r.StartedAt.Before(last.StartTime.Time) && (last.ID != r.ID || last.EndTime != nil)
}

// MaxLog bounds Run.Log, in bytes.
const MaxLog = 64 << 10

// MaxState bounds the state of a tool, in bytes, before it is compressed.
const MaxState = 128 << 20

// Artifacts are what a tool left behind.
type Artifacts struct {
	// State holds the tool's state by file name.
	State map[string][]byte
	// Torn names the state files that were not written to their end. Their stored copies are better.
	Torn []string
	// Unread names the files that cannot be kept: they are too large, alone or with those before them, or must not be read.
	Unread []string
	// Kubeconfig is the kubeconfig that the tool wrote.
	Kubeconfig []byte
	// KubeconfigPath is where it is.
	KubeconfigPath string
}
