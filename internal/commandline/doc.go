// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package commandline says what is wrong with a command line: in one line, in the words of the command line, and with the word that
// was probably meant. The operator's commands and the kubectl plugin share it.
package commandline
