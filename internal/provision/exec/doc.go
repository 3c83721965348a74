// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package exec provisions clusters by running tools as processes of this machine.
//
// Every run has a supervisor: this program itself, started again as "windlass provision-run", in a session of its own. The supervisor
// starts the tool, writes its output to a bounded and redacted log, ends it when the time is over or when it is told to, and writes
// how it ended. So a run does not depend on whoever started it. A manager that comes back finds it by its files:
//
//	<root>/<UID of the cluster>/       0700
//	  work/                            working directory and HOME of the tool; configuration and state, unless they are the user's
//	  run/lock                         held by the supervisor for as long as it lives
//	  run/request.json                 what the supervisor shall do
//	  run/record.json                  what it does: id, process, start time of the process, boot of the machine
//	  run/result.json                  how it ended
//	  run/log, run/log.1               what the tool printed
//
// The lock is taken before the supervisor is started and handed to it, so there is no moment in which a run has begun and nobody
// holds it, nor one in which two have. The kernel releases it whatever happens to the supervisor; a lock that is free without a
// result means that the run was interrupted.
package exec
