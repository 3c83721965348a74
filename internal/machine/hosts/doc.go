// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosts parses which hosts are configured: those of a hosts file (file.go), or else one default host (environment.go).
// Both are validated in check.go. The package neither connects to hosts nor reads files.
package hosts
