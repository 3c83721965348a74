// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package restore puts objects of a backup into a cluster. What kubectl cannot do about it: statuses, which hold the records of what was done
// outside of the cluster, and UIDs. An object gets a new UID when it is created, so every reference to another object of the backup is changed to the
// new one, and VirtualMachines note the UID under which their hosts know the machine.
//
// Nothing is overwritten: an object that exists stays as it is. Nothing is restored while a manager runs, because it would make anew what it does not
// find in statuses that are not there yet: a restore first waits until nobody renews the Lease of managers, and then holds it. At its end it notes which
// installation the cluster continues, for the backups of that cluster.
package restore
