// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"encoding/json"
	"time"
)

// Bounds of what is published of a run that is under way. With every write the whole text is stored anew.
const (
	// publishEvery is the least time between two writes, and before the first: a shorter run is not published.
	publishEvery = 2 * time.Second
	// publishRate is how much a run has written at most, in bytes a second.
	publishRate = 8 << 10
)

// PublishPause is how long the log of a run that is under way stays as it was published.
func PublishPause(log string) time.Duration {
	return max(publishEvery, time.Duration(len(log))*time.Second/publishRate)
}

// keyRun is the key of the ConfigMap that publishes a run. Its log is under keyLog, while it is under way.
const keyRun = "run"

// EncodeRunning returns the data of the ConfigMap that publishes a run.
func EncodeRunning(run Run) (map[string]string, error) {
	header, err := json.Marshal(EndedOf(run))
	if err != nil {
		return nil, err
	}
	out := map[string]string{keyRun: string(header)}
	if run.Phase == Running {
		out[keyLog] = bounded(run.Log)
	}
	return out, nil
}

// DecodeRunning reads the data of a ConfigMap that publishes a run, and reports whether it has the log of one that is under way. Others can
// write it: what is read is within its bounds, and redacted.
func DecodeRunning(data map[string]string) (run Run, underWay bool) {
	var header Ended
	if json.Unmarshal([]byte(data[keyRun]), &header) != nil || header.Phase != Running || header.ID == "" {
		return Run{}, false
	}
	log := bounded(Redact(bounded(data[keyLog])))
	return Run{ID: header.ID, Action: header.Action, Phase: Running, Log: log}, log != ""
}

// bounded returns the end of a log, at most MaxLog bytes.
func bounded(log string) string { return log[max(0, len(log)-MaxLog):] }
