// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Causes of Jobs.
const (
	// CodeJobFailed is for a Job that has failed, and that nothing starts again.
	CodeJobFailed Code = "JobFailed"
	// CodeJobSuspended is for a Job that is held back.
	CodeJobSuspended Code = "JobSuspended"
	// CodeJobRetries is for a Job whose pods fail, and which tries again after a delay.
	CodeJobRetries Code = "JobRetries"
)

// Job explains why a Job has not completed, or runs fewer pods than it may.
func Job(of *batchv1.Job) *Explanation {
	w := newWalk(ObjectOf(kindJob, of))
	if jobCondition(of, batchv1.JobComplete) != nil {
		w.check(checkJobCompleted, func() *finding { return nil })
		return w.end(fmt.Sprintf("Job %s has completed", of.Name))
	}
	w.check(checkJobNotFailed, func() *finding { return failedJob(of) })
	w.check(checkJobNotSuspended, func() *finding {
		if of.Spec.Suspend == nil || !*of.Spec.Suspend {
			return nil
		}
		return &finding{
			code: CodeJobSuspended, message: "the Job is suspended, and has no pods until it is resumed",
			evidence: []Evidence{fact(kindJob, of, "spec.suspend", "true")},
		}
	})
	w.check(checkAllPodsCreated, func() *finding { return missingPodsOf(of) })
	w.check(checkAllPodsReady, func() *finding {
		if of.Status.Ready == nil || *of.Status.Ready >= of.Status.Active {
			return nil
		}
		return &finding{
			code: CodePodsUnavailable, message: fmt.Sprintf("%d of %d pods are not ready", of.Status.Active-*of.Status.Ready, of.Status.Active),
			evidence: []Evidence{fact(kindJob, of, "status.ready", decimal(*of.Status.Ready))},
		}
	})
	w.check(checkNotDeleted, func() *finding { return leaving(kindJob, of) })
	summary := fmt.Sprintf("Job %s runs: %d of its pods have completed", of.Name, of.Status.Succeeded)
	if failed := of.Status.FailedIndexes; failed != nil && *failed != "" {
		summary += ", and these indexes have failed: " + *failed
	}
	return w.end(summary)
}

// failedJob is the cause if the Job has failed, or is about to: its pods are being ended.
func failedJob(of *batchv1.Job) *finding {
	for _, condition := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobFailureTarget} {
		if c := jobCondition(of, condition); c != nil {
			return &finding{
				code: CodeJobFailed, message: fmt.Sprintf("the Job has failed (%s): %s", c.Reason, c.Message),
				evidence: []Evidence{fact(kindJob, of, fmt.Sprintf("status.conditions[%s]", condition), c.Reason)},
			}
		}
	}
	return nil
}

// missingPodsOf is the cause if fewer pods are active than the Job may have at the same time.
func missingPodsOf(of *batchv1.Job) *finding {
	want := orOne(of.Spec.Parallelism)
	switch {
	case of.Spec.Completions != nil:
		want = min(want, *of.Spec.Completions-of.Status.Succeeded-indexes(of.Status.FailedIndexes)) // an index that has failed is never tried again
	case of.Status.Succeeded > 0:
		return nil // without a number of completions a Job begins no further pods after the first success
	}
	active := fact(kindJob, of, "status.active", decimal(of.Status.Active))
	switch {
	case of.Status.Active >= want:
		return nil
	case of.Status.Failed > 0:
		return &finding{
			code: CodeJobRetries, message: fmt.Sprintf("%d pods have failed, and Kubernetes starts another one after a delay", of.Status.Failed),
			evidence: []Evidence{fact(kindJob, of, "status.failed", decimal(of.Status.Failed)), active},
		}
	}
	return missingOf(kindJob, of, "status.active", of.Status.Active, want)
}

// indexes counts the indexes of a Job in a list of them and of ranges, as in "1,3-5".
func indexes(list *string) int32 {
	if list == nil {
		return 0
	}
	var count int32
	for part := range strings.SplitSeq(*list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.ParseInt(first, 10, 32)
		if err != nil {
			continue
		}
		count++
		if to, err := strconv.ParseInt(last, 10, 32); isRange && err == nil && to > from {
			count += int32(to - from) //nolint:gosec // because both have 32 bits, and the greater one comes first
		}
	}
	return count
}

// jobCondition returns the condition if it is true.
func jobCondition(of *batchv1.Job, wanted batchv1.JobConditionType) *batchv1.JobCondition {
	at := slices.IndexFunc(of.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == wanted && c.Status == corev1.ConditionTrue
	})
	if at < 0 {
		return nil
	}
	return &of.Status.Conditions[at]
}
