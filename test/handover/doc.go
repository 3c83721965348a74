// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package handover lets objects of all kinds pass from one manager to another: to one of another version, to a standby whose leader ends, dies,
// freezes or is cut off, and to one in an empty cluster into which a backup was restored. Nobody makes anything twice, and who does not lead changes
// nothing.
package handover
