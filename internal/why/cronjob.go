// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
)

const (
	// CodeCronJobSuspended is for a CronJob that creates no further Jobs until somebody resumes it.
	CodeCronJobSuspended Code = "CronJobSuspended"
	// CodeLastJobFailed is for a CronJob whose last Job has failed: the next one may be better.
	CodeLastJobFailed Code = "LastJobFailed"
	// CodeLastJobWaits is for a CronJob whose last Job makes no progress.
	CodeLastJobWaits Code = "LastJobWaits"
)

// CronJob explains a CronJob together with the last of its Jobs, nil if there is none. Unseen says, as a part of a sentence, why its Jobs
// could not be read.
func CronJob(of *batchv1.CronJob, last *batchv1.Job, unseen string) *Explanation {
	w := newWalk(ObjectOf(kindCronJob, of))
	w.check(checkCronJobNotSuspended, func() *finding {
		if of.Spec.Suspend == nil || !*of.Spec.Suspend {
			return nil
		}
		return &finding{
			code: CodeCronJobSuspended, message: "the CronJob is suspended, and creates no Jobs until it is resumed",
			evidence: []Evidence{fact(kindCronJob, of, "spec.suspend", "true")},
		}
	})
	var because *Explanation
	if unseen != "" {
		w.explanation.Unseen(checkLastJobFine, unseen)
	} else {
		w.check(checkLastJobFine, func() *finding {
			if last == nil {
				return nil
			}
			because = Job(last)
			return blameLastJob(last, because)
		})
	}
	w.check(checkNotDeleted, func() *finding { return leaving(kindCronJob, of) })
	out := w.end(restOf(of, last))
	if failure := out.Failure(); failure != nil && (failure.Code == CodeLastJobFailed || failure.Code == CodeLastJobWaits) {
		out.Because = because
	}
	return out
}

// blameLastJob is the cause if something is wrong with the last Job.
func blameLastJob(last *batchv1.Job, of *Explanation) *finding {
	failure := of.Failure()
	switch {
	case failure == nil:
		return nil
	case failure.Code == CodeJobFailed:
		return &finding{code: CodeLastJobFailed, message: fmt.Sprintf("the last Job, %s, has failed", last.Name), evidence: failure.Evidence}
	}
	return &finding{code: CodeLastJobWaits, message: fmt.Sprintf("the last Job, %s, makes no progress", last.Name), evidence: failure.Evidence}
}

// restOf is the sentence about a CronJob with which nothing is wrong.
func restOf(of *batchv1.CronJob, last *batchv1.Job) string {
	switch {
	case of.Status.LastScheduleTime == nil:
		return fmt.Sprintf("CronJob %s has not created a Job yet; its schedule is %q", of.Name, of.Spec.Schedule)
	case last != nil && jobCondition(last, batchv1.JobComplete) == nil:
		return fmt.Sprintf("The last Job of CronJob %s, %s, runs", of.Name, last.Name)
	default:
		return fmt.Sprintf("CronJob %s waits for the next time of its schedule, %q", of.Name, of.Spec.Schedule)
	}
}
