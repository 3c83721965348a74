// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// MaxRuns is how many runs of a cluster are kept with the end of their logs.
const MaxRuns = 5

// History is the runs of a cluster that have ended and are kept, the newest first.
type History []Ended

// Ended is a run that has ended. Its log is not part of its JSON.
type Ended struct {
	ID        string     `json:"id"`
	Action    Action     `json:"action"`
	Phase     Phase      `json:"phase"`
	StartedAt *time.Time `json:"startedAt,omitempty"`
	EndedAt   *time.Time `json:"endedAt,omitempty"`
	ExitCode  *int32     `json:"exitCode,omitempty"`
	// Reason is the kind of failure; empty if the run succeeded.
	Reason string `json:"reason,omitempty"`
	// Log is the end of what the tool printed, redacted, at most MaxLog bytes.
	Log string `json:"-"`
}

// EndedOf returns what is kept of a run.
func EndedOf(run Run) Ended {
	out := Ended{ID: run.ID, Action: run.Action, Phase: run.Phase, ExitCode: run.ExitCode, Log: run.Log}
	for from, into := range map[time.Time]**time.Time{run.StartedAt: &out.StartedAt, run.EndedAt: &out.EndedAt} {
		if !from.IsZero() {
			*into = new(from.UTC().Truncate(time.Second))
		}
	}
	if run.Failure != nil {
		out.Reason = run.Failure.Reason
	}
	return out
}

// With returns the history with a run that has ended, at most MaxRuns. A run that is in it already is replaced.
func (h History) With(run Run) History {
	out := slices.DeleteFunc(slices.Clone(h), func(kept Ended) bool { return kept.ID == run.ID })
	out = slices.Insert(out, 0, EndedOf(run))
	return out[:min(len(out), MaxRuns)]
}

// The keys of the ConfigMap that keeps a history: the log of the last run, the runs, and the logs of the others.
const (
	keyLog     = "log"
	keyRuns    = "runs"
	prefixLogs = "log."
)

// Encode returns the data of the ConfigMap that keeps the history.
func (h History) Encode() (map[string]string, error) {
	runs, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	out := map[string]string{keyRuns: string(runs)}
	for i, run := range h {
		if key := prefixLogs + run.ID; i > 0 {
			out[key] = run.Log
			continue
		}
		out[keyLog] = run.Log
	}
	return out, nil
}

// DecodeHistory reads the data of a ConfigMap that keeps a history. Others can write it, and earlier versions wrote none: what cannot be
// read is no history, and what is read is within its bounds, so that it can be written again.
func DecodeHistory(data map[string]string) History {
	var out History
	if json.Unmarshal([]byte(data[keyRuns]), &out) != nil {
		return nil
	}
	out = slices.DeleteFunc(out, func(run Ended) bool { return run.ID == "" || len(validation.IsConfigMapKey(prefixLogs+run.ID)) > 0 })
	out = out[:min(len(out), MaxRuns)]
	for i := range out {
		out[i].Log = data[prefixLogs+out[i].ID]
		if i == 0 {
			out[i].Log = data[keyLog]
		}
		out[i].Log = bounded(out[i].Log)
		out[i].Action, out[i].Phase, out[i].Reason = Action(word(string(out[i].Action))), Phase(word(string(out[i].Phase))), word(out[i].Reason)
	}
	return out
}

// maxWord bounds an action, a phase and a reason, in bytes.
const maxWord = 128

// word returns the beginning of a text that Windlass writes as one word.
func word(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxWord)], "") }
