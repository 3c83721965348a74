// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package view holds the read models of the HTTP API: objects as items that are encoded once, what a list selects from
// them and in which pages, problems, and apps. It is pure: without client, clock or logger.
package view
