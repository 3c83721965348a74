// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"regexp"
	"slices"
	"strings"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Failure is what went wrong with a run.
type Failure struct {
	// Reason is that of the conditions of a Cluster: clusterprovisionerv1alpha1.ReasonSSHAuth and those after it.
	Reason string
	// Message is the line of the log that says so, or the last line.
	Message string
	// Retryable says that the same run may succeed later. Anything else waits for a change.
	Retryable bool
}

// symptom is how a kind of failure shows in a log.
type symptom struct {
	reason    string
	retryable bool
	pattern   *regexp.Regexp
}

// symptoms lists the failures in the order in which a log is searched for them: a cause comes before what follows from it. A refused key,
// for example, is logged beside the tunnel that could not be opened with it.
func symptoms() []symptom {
	return []symptom{
		{clusterprovisionerv1alpha1.ReasonDiskFull, true, regexp.MustCompile(`(?i)no space left on device|disk quota exceeded`)},
		{clusterprovisionerv1alpha1.ReasonSSHAuth, false, regexp.MustCompile(`(?i)unable to authenticate|permission denied \(publickey|error while reading ssh key|` +
			`ssh: no key found|cannot decode encrypted private key|host key mismatch|knownhosts: key`)},
		// In the words of RKE, of devcluster, of k0sctl, and twice of kind.
		{clusterprovisionerv1alpha1.ReasonConfigRefused, false, regexp.MustCompile(`(?i)failed to (parse cluster file|validate cluster:)|cannot use cluster configuration|` +
			`configuration validation failed|unable to decode config:|could not determine kind / apiversion`)},
		{clusterprovisionerv1alpha1.ReasonUnsupportedDocker, false, regexp.MustCompile(`(?i)unsupported docker version|unable to access the docker socket`)},
		{clusterprovisionerv1alpha1.ReasonStateLost, false, regexp.MustCompile(`(?i)(failed|unable) to (load|read|parse|get)[^\n]*state|state file[^\n]*(missing|corrupt|not found)`)},
		{clusterprovisionerv1alpha1.ReasonPortInUse, true, regexp.MustCompile(`(?i)address already in use|port is already allocated|port \d+ is (already )?in use`)},
		{clusterprovisionerv1alpha1.ReasonSSHTunnel, true, regexp.MustCompile(`(?i)set up ssh tunneling|can't establish dialer connection|unable to access node with address|` +
			`failed to dial ssh|failed to connect to the following[^\n]*host|ssh: connect to host|\[ssh\][^\n]*failed to connect`)},
		// Docker's client describes every refused connection like that, and RKE logs it for a machine that it cannot reach at all. It is
		// about Docker only if the log does not mention a tunnel.
		{clusterprovisionerv1alpha1.ReasonUnsupportedDocker, false, regexp.MustCompile(`(?i)cannot connect to the docker daemon`)},
		{clusterprovisionerv1alpha1.ReasonCertMismatch, false, regexp.MustCompile(`(?i)x509: certificate (signed by unknown authority|is valid for|has expired)|tls: bad certificate`)},
		{clusterprovisionerv1alpha1.ReasonImagePull, true, regexp.MustCompile(`(?i)(can't|cannot|failed to|error) pull(ing)?[^\n]*image|pull access denied|manifest[^\n]* unknown`)},
		{clusterprovisionerv1alpha1.ReasonEtcdUnhealthy, true, regexp.MustCompile(`(?i)etcd[^\n]*(unhealthy|not healthy|failed to bring up)|failed to bring up etcd`)},
	}
}

// Classify returns what went wrong, from the log of a failed run.
func Classify(log string) Failure {
	for _, s := range symptoms() {
		if at := s.pattern.FindStringIndex(log); at != nil {
			return Failure{Reason: s.reason, Message: lineAt(log, at[0]), Retryable: s.retryable}
		}
	}
	return Failure{Reason: clusterprovisionerv1alpha1.ReasonUnknown, Message: lastLine(log), Retryable: true}
}

// maxLine bounds a line that is quoted, in bytes.
const maxLine = 512

func lineAt(log string, at int) string {
	line := log[strings.LastIndexByte(log[:at], '\n')+1:]
	line, _, _ = strings.Cut(line, "\n")
	return quote(line)
}

func lastLine(log string) string {
	last := ""
	for line := range strings.Lines(log) {
		if strings.TrimSpace(line) != "" {
			last = line
		}
	}
	return quote(last)
}

// stamp is the time at the beginning of a line. It is not quoted: the message of a failure that repeats must stay the same.
var stamp = regexp.MustCompile(`^(?:time="[^"]*"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*)\s+`)

func quote(line string) string {
	line = strings.TrimSpace(line)
	return status.Clip(stamp.ReplaceAllString(line, ""), maxLine)
}

// The lines by which tools say that they continue without a machine.
var (
	removingHost = regexp.MustCompile(`Removing host \[([^\]\s]+)\] from node lists`)
	noTunnel     = regexp.MustCompile(`Failed to set up SSH tunneling for host \[([^\]\s]+)\]`)
)

// Skipped returns the machines that the tool could not reach and continued without, sorted. A tool can succeed although it skipped one.
func Skipped(log string) []string {
	var hosts []string
	for _, pattern := range []*regexp.Regexp{removingHost, noTunnel} {
		for _, match := range pattern.FindAllStringSubmatch(log, -1) {
			hosts = append(hosts, match[1])
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// The forms of a line that starts a stage: RKE and k0sctl use logrus, kind prints bullets, eksctl and devcluster plain text.
var (
	logrusLine = regexp.MustCompile(`^(?:time="[^"]*" )?(?:level=)?(?:INFO|info)(?:\[[^\]]*\])? (?:msg=)?"?(.*?)"?$`)
	bullet     = regexp.MustCompile(`^\s*[•✓✗]\s+(.*?)[^\w.)]*(?:\.\.\.)?\s*$`)
	stamped    = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* \[[^\]]*\]\s+(.*)$`)
)

// maxStage bounds the name of a stage, in bytes.
const maxStage = 200

// Stage returns what the tool is doing according to its log: the last line that reports progress, without times and decoration. It is
// empty if there is none.
func Stage(log string) string {
	stage := ""
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		for _, form := range []*regexp.Regexp{logrusLine, stamped, bullet} {
			if match := form.FindStringSubmatch(line); len(match) > 1 && strings.TrimSpace(match[1]) != "" {
				stage = strings.TrimSpace(match[1])
				break
			}
		}
		if text, ok := strings.CutPrefix(line, "devcluster: "); ok {
			stage = text
		}
	}
	return status.Clip(stage, maxStage)
}

// Retryable reports whether a run that failed for the reason may succeed if it is repeated.
func Retryable(reason string) bool {
	for _, s := range symptoms() {
		if s.reason == reason {
			return s.retryable
		}
	}
	return reason != clusterprovisionerv1alpha1.ReasonBinaryMissing
}
