// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// Report is what a Pod tells about its run.
type Report struct {
	Run provision.Run `json:"run"`
	// Left is what the tool left behind; nil while it runs.
	Left *provision.Artifacts `json:"left,omitempty"`
}

// Bounds, in bytes. A Secret holds 1 MiB, metadata included.
const (
	// maxPacked bounds what a Pod is given and what leaves it, compressed.
	maxPacked = 900 << 10
	// maxUnpacked bounds what that can expand to.
	maxUnpacked = 32 << 20
	// maxText bounds a line of a report.
	maxText = 512
	// maxSkipped is how many machines a report can name.
	maxSkipped = 256
)

// errTooLarge says that something does not fit into a Secret.
var errTooLarge = errors.New("too large for a Secret")

// pack compresses a value, which must then fit into a Secret.
func pack(value any) ([]byte, error) {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	err := errors.Join(json.NewEncoder(writer).Encode(value), writer.Close())
	if err == nil && out.Len() > maxPacked {
		err = fmt.Errorf("%w: compressed it has %d bytes, and at most %d are possible", errTooLarge, out.Len(), maxPacked)
	}
	return out.Bytes(), err
}

func unpack(packed []byte, into any) error {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(reader, maxUnpacked))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// tooLarge is a report whose artifacts do not fit into a Secret. What is stored already stays. Nobody needs what is left of a cluster that was removed.
func tooLarge(told *Report) *Report {
	ended := told.Run
	if ended.Action != provision.Remove || ended.Phase != provision.Succeeded {
		ended.Phase, ended.Failure = provision.Failed, &provision.Failure{
			Reason:  clusterprovisionerv1alpha1.ReasonStateLost,
			Message: fmt.Sprintf("what the tool left is too large: a Secret holds at most %d bytes of state and kubeconfig, compressed", maxPacked),
		}
	}
	return &Report{Run: ended}
}

// reasons are those of failures that a Pod can report.
func reasons() []string {
	return []string{
		clusterprovisionerv1alpha1.ReasonSSHAuth, clusterprovisionerv1alpha1.ReasonSSHTunnel, clusterprovisionerv1alpha1.ReasonUnsupportedDocker,
		clusterprovisionerv1alpha1.ReasonPortInUse, clusterprovisionerv1alpha1.ReasonDiskFull, clusterprovisionerv1alpha1.ReasonEtcdUnhealthy,
		clusterprovisionerv1alpha1.ReasonImagePull, clusterprovisionerv1alpha1.ReasonCertMismatch, clusterprovisionerv1alpha1.ReasonStateLost,
		clusterprovisionerv1alpha1.ReasonTimeout, clusterprovisionerv1alpha1.ReasonInterrupted, clusterprovisionerv1alpha1.ReasonBinaryMissing,
		clusterprovisionerv1alpha1.ReasonConfigRefused,
	}
}

// trim returns what is believed of a report. A tool shares its Pod with what reports, and so could report anything: which run it is, is not
// for the Pod to say, and what it says is bounded and redacted again.
func trim(told *Report, of *run, now time.Time) *Report {
	said := told.Run
	said.ID, said.Action = of.id, of.action
	said.Log = tail(provision.Redact(tail(said.Log, provision.MaxLog)), provision.MaxLog)
	said.Stage = status.Clip(provision.Redact(said.Stage), maxText)
	said.Skipped = hosts(said.Skipped)
	if said.EndedAt.After(now) {
		said.EndedAt = now
	}
	if said.StartedAt.After(now) {
		said.StartedAt = now
	}
	if said.Failure != nil {
		failure := *said.Failure
		failure.Message = status.Clip(provision.Redact(failure.Message), maxText)
		if !slices.Contains(reasons(), failure.Reason) {
			failure.Reason = clusterprovisionerv1alpha1.ReasonUnknown
		}
		said.Failure = &failure
	}
	switch said.Phase {
	case provision.Running:
	case provision.Succeeded:
		said.Failure = nil
	case provision.Interrupted, provision.Failed:
		if said.Failure == nil {
			said.Failure = &provision.Failure{Reason: clusterprovisionerv1alpha1.ReasonUnknown, Retryable: true}
		}
	default:
		return &Report{Run: interrupted(of, "its Pod reported a phase that does not exist")}
	}
	believed := &Report{Run: said}
	if told.Left != nil {
		left := *told.Left
		left.KubeconfigPath = "" // it is in the Pod
		believed.Left = &left
	}
	return believed
}

// hosts returns the machines that a list names, sorted and each once, at most maxSkipped of them.
func hosts(list []string) []string {
	var out []string
	for _, host := range list {
		if host != "" {
			out = append(out, status.Clip(host, maxText))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxSkipped)]
}

// tail returns the end of a text, at most that many bytes.
func tail(text string, limit int) string { return text[max(0, len(text)-limit):] }

// interrupted is a run that ended without a result.
func interrupted(kept *run, why string) provision.Run {
	return provision.Run{
		ID: kept.id, Action: kept.action, Phase: provision.Interrupted,
		Failure: &provision.Failure{
			Reason: clusterprovisionerv1alpha1.ReasonInterrupted, Message: "the run ended without a result: " + strings.TrimSpace(why), Retryable: true,
		},
	}
}
