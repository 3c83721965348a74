// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package commandline

import "github.com/spf13/cobra"

// RefuseUnknownTopics makes the help of root fail for a command that does not exist. By itself it shows all commands, and says that all is well.
func RefuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		return // it is there: cobra has just added it
	}
	help.Args = func(_ *cobra.Command, topic []string) error {
		_, _, err := root.Find(topic)
		return err
	}
}
