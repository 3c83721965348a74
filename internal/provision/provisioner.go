// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"context"
	"time"
)

// Provisioner runs tools that provision clusters.
type Provisioner interface { //nolint:interfacebloat // a run is started, followed, ended, read and forgotten: nobody needs a part of that
	// Start begins a run and returns at once. A run with the id of the request that is under way or has ended is left as it is.
	// ErrBusy if another run of the cluster is under way, ErrLimit if as many runs are under way as may, ErrToolMissing, and
	// ErrDiskFull if there is no room to begin.
	Start(ctx context.Context, request Request) error

	// Observe returns the cluster's run that is under way, or the last. ErrNoRun if there is none.
	Observe(ctx context.Context, cluster string) (Run, error)

	// Cancel tells the cluster's run to end: the tool gets its grace. It does not wait. Success if none is under way.
	Cancel(ctx context.Context, cluster string) error

	// Collect reads what the tool left behind: its state, and the kubeconfig. What does not exist is nil.
	Collect(ctx context.Context, place Place, tool Tool) (Artifacts, error)

	// Forget removes everything kept for the cluster. ErrBusy if a run is under way. What is beside a configuration of the user's own
	// is not touched.
	Forget(ctx context.Context, cluster string) error

	// Version returns what the tool says of itself, in one line. ErrToolMissing if it is not installed.
	Version(ctx context.Context, tool Tool) (string, error)

	// Changed sends the cluster of a run that has taken a step or has ended. A slow reader misses repetitions, no run.
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
	// ConfigPath is the path of the user's own file, which the tool is given as it is. Empty: the configuration is in the working
	// directory.
	ConfigPath string
}

// Request asks for a run.
type Request struct {
	Place

	// ID tells the run from all others of the cluster, across restarts.
	ID     string
	Action Action
	Tool   Tool
	// Config is the configuration, written to the working directory where ConfigPath is empty, and back to ConfigPath where the file
	// is gone.
	Config []byte
	// State is written back where the tool looks for it, unless it is still there.
	State map[string][]byte
	// PrivateKey is an SSH key that the tool finds in an agent. It is kept in memory only.
	PrivateKey []byte
	// KnownHosts are the host keys of the machines.
	KnownHosts []byte
	// Secrets are replaced in everything that the tool prints.
	Secrets []string
	// Timeout bounds the run. Grace is how long the tool may take to end when it is told to.
	Timeout, Grace time.Duration
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
	// Stage is what the tool says that it does, or did last.
	Stage string
	// StartedAt and EndedAt; the latter is zero while it is under way, and where nobody saw the end.
	StartedAt, EndedAt time.Time
	// ExitCode is nil while it is under way, and where a signal ended it.
	ExitCode *int32
	// Failure is what went wrong, nil where nothing did.
	Failure *Failure
	// Skipped are machines that the tool went on without, sorted.
	Skipped []string
	// Log is the end of what the tool printed, redacted, at most MaxLog bytes.
	Log string
}

// MaxLog bounds the log of a run that is handed out, in bytes.
const MaxLog = 64 << 10

// Artifacts are what a tool left behind.
type Artifacts struct {
	// State holds the tool's state by file name.
	State map[string][]byte
	// Torn names the state files that were not written to their end. What was kept of them before is better.
	Torn []string
	// Kubeconfig is the kubeconfig that the tool wrote.
	Kubeconfig []byte
	// KubeconfigPath is where it is.
	KubeconfigPath string
}
