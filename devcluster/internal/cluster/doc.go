// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster is the life of a local cluster: its directory, its ports and certificates, the order in which its
// processes start and stop, and what is done about a cluster that something else has left half alive.
//
// There is no daemon. Every call takes the cluster's lock, looks at what really runs, and brings that to what was asked
// for; so a call after a crash does the same as any other call, and there is no separate repair.
//
// A state directory looks like this:
//
//	lock                      held while ports are given out
//	bin/                      component symlinks, where none lie beside the executable
//	locks/<name>              held while a call works on that cluster
//	clusters/<name>/
//	  cluster.json            the State: ports, kubeconfigs, whether the first start was completed
//	  kubeconfig              the administrator's
//	  pki/                    certificates, keys and the components' kubeconfigs
//	  etcd/                   the data
//	  logs/<component>.log
//	  run/<component>.json    process records; run/<component>/ is that process' working directory
package cluster
