// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
)

// upPrefix begins the ID of every run that applies the configuration. A new value of the retry annotation makes it another one, and so
// starts the attempts again.
func upPrefix(cluster *clusterprovisionerv1alpha1.Cluster, digest string) string {
	return "up-" + short(digest, cluster.Annotations[clusterprovisionerv1alpha1.RetryAnnotation]) + "-"
}

// upID is the ID of an attempt to apply the configuration.
func upID(cluster *clusterprovisionerv1alpha1.Cluster, digest string, attempt int32) string {
	return upPrefix(cluster, digest) + strconv.Itoa(int(attempt))
}

// removePrefix begins the ID of every run that removes the cluster, and takes the retry annotation into account as upPrefix does. Without it,
// the ID is that of earlier versions, so that an upgrade repeats no run.
func removePrefix(cluster *clusterprovisionerv1alpha1.Cluster) string {
	of := []string{string(cluster.UID)}
	if asked := cluster.Annotations[clusterprovisionerv1alpha1.RetryAnnotation]; asked != "" {
		of = append(of, asked)
	}
	return "remove-" + short(of...) + "-"
}

// removeID is the ID of an attempt to remove the cluster.
func removeID(cluster *clusterprovisionerv1alpha1.Cluster, attempt int32) string {
	return removePrefix(cluster) + strconv.Itoa(int(attempt))
}

// planID identifies the change from one configuration to another, and with it those that it takes back.
func planID(from, to string, back ...string) string {
	parts := []string{"plan", short(from, to)}
	for _, digest := range back {
		parts = append(parts, short(digest))
	}
	return strings.Join(parts, "-")
}

// approves reports whether the approval of one plan covers another: who has approved a change that takes something back has approved the change, which is
// repeated when nothing is left to take back.
func approves(approval, plan string) bool {
	return approval == plan || strings.HasPrefix(approval, plan+"-")
}

// attemptOf returns the number of the attempt, which ends the ID of a run.
func attemptOf(id string) int32 {
	attempt, err := strconv.ParseInt(id[strings.LastIndexByte(id, '-')+1:], 10, 32)
	if err != nil {
		return 1
	}
	return int32(attempt)
}

// short returns a digest of the texts that fits into a name.
func short(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return hex.EncodeToString(sum[:5])
}
