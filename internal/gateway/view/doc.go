// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package view holds the read models of the HTTP API: objects as items that are encoded once, queries over
// them, problems, kinds, scopes and apps. It is pure: without client, clock or logger.
package view
