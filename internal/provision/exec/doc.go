// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package exec provisions clusters by running tools as processes of this machine.
//
// Every run has a supervisor: this program itself, started again as "windlass provision-run", in a session of its own. The supervisor
// starts the tool, writes its output to a bounded and redacted log, stops it at the timeout or when it is canceled, and writes how it
// ended. So a run does not depend on the process that started it. A manager that restarts finds it by its files:
//
//	<root>/<UID of the cluster>/       0700
//	  work/                            working directory and HOME of the tool; configuration and state, unless they are the user's
//	  run/lock                         held by the supervisor as long as it lives
//	  run/request.json                 what the supervisor has to do
//	  run/record.json                  the run: ID, process, start time of the process, boot of the machine
//	  run/result.json                  how it ended
//	  run/log, run/log.1               what the tool printed
//
// The manager takes the lock before it starts the supervisor, and passes it on. So a run that has started always has exactly one
// holder of its lock. The kernel releases the lock whatever happens to the supervisor; a free lock without a result means that the run
// was interrupted.
//
// The directory of the configuration may be the user's. Everything in it is opened through a workspace, which stays inside of it and of
// --config-root wherever links lead.
package exec
