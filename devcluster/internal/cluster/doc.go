// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster manages local clusters: their directories, ports and certificates, and the order in which their
// processes start and stop. It also repairs a cluster that a crash has left half running.
//
// There is no daemon. Every call takes the cluster's lock, observes which processes run, and reconciles them with the
// request. A call after a crash does the same as any other call, so there is no repair command.
//
// A state directory looks like this:
//
//	lock                      held while ports are allocated
//	bin/                      symlinks to the components, unless they are next to the executable
//	locks/<name>              held while a call works on that cluster
//	clusters/<name>/
//	  cluster.json            the State: ports, kubeconfigs, whether the first start is complete
//	  kubeconfig              of the administrator
//	  pki/                    certificates, keys and the components' kubeconfigs
//	  etcd/                   the data
//	  logs/<component>.log
//	  run/<component>.json    process records; run/<component>/ is the working directory
package cluster
