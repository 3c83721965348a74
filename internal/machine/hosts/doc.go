// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosts reads which hosts are configured: from a hosts file (file.go) or from the variables of the docker command
// (environment.go). Both are validated in check.go. The package connects to nothing and reads no files.
package hosts
